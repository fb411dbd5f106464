"""Sums over a run's events: cost, time, and the path through its table. Cached, so that each event is read once. Decides nothing."""

from collections import Counter
from collections.abc import Collection, Iterable
from functools import reduce
from pathlib import Path
from typing import NamedTuple

import msgspec

from detent.agents import Usage
from detent.agents.kept import SPENT, kept_spent
from detent.app import App
from detent.config import Settings
from detent.door import AnyEvent, AnyRun
from detent.drive.spent import Spent, spent_in
from detent.journal.journal import Head
from detent.journal.journal_rows import from_entry

PAGE = 500
GRANTS = ("resume", "guided")  # events of a person that grant the budget again


class Sum(NamedTuple):
    """The sums over a run's events up to `seq`."""

    seq: int = 0
    started: str = ""
    whole: Spent = Spent()
    granted: Spent = Spent()  # since a person last granted the budget again
    path: Counter[tuple[str, str]] = Counter()
    turns: dict[str, int] = {}  # turns by transcript, with the number of the event that ended each; never changed in place


class BudgetUse(NamedTuple):
    """A limit of a run, and how much of it is used."""

    name: str
    used: float
    most: float


def add(one: Spent, other: Spent) -> Spent:
    return Spent(one.usage + other.usage, one.seconds + other.seconds, one.turns + other.turns)


class UsageTally:
    """The cached sums of runs. Safe to share between threads: at worst an event is read twice."""

    def __init__(self) -> None:
        self._kept: dict[str, Sum] = {}

    def of(self, app: App, run: str, newest: int) -> Sum:
        found = self._kept.get(run, Sum(path=Counter()))
        while found.seq < newest and (further := self._further(app, run, found)).seq > found.seq:
            self._kept[run] = found = further
        lost = Spent(_usage_except(app.place.common_dir, run, {*found.turns, f"{run}.{newest}"}))
        return found._replace(whole=add(found.whole, lost), granted=add(found.granted, lost)) if lost.usage.tokens else found

    def _further(self, app: App, run: str, sum: Sum) -> Sum:
        path, turns = Counter(sum.path), dict(sum.turns)
        for entry in app.journal.events(run, sum.seq, PAGE):
            event = from_entry(app.door.tables[entry.workflow], entry)
            spent = spent_in([event], whole=True)
            granted = Spent() if event.on in GRANTS and event.status == "SUCCESS" else sum.granted
            if event.was and event.was != event.run.state:
                path[(event.was, event.run.state)] += 1
            if turn := turn_of(event):
                turns[turn] = entry.seq
            sum = Sum(entry.seq, sum.started or entry.at, add(sum.whole, spent), add(granted, spent), path, turns)
        return sum


def unrecorded_usage(app: App, run: str) -> Usage:
    """The usage of turns that no event records, because a person moved the run while the agent was at work."""
    events = list(app.worlds.runs.history(run))
    return _usage_except(app.place.common_dir, run, {f"{run}.{events[-1].run.seq}", *map(turn_of, events)})


def _usage_except(common: Path, run: str, turns: Collection[str]) -> Usage:
    kept = (common / "detent" / "transcripts" / run).glob(f"*{SPENT}")
    lost = [file for file in kept if file.name.removesuffix(SPENT) not in turns]
    return sum((kept_spent(file.with_name(file.name.removesuffix(SPENT) + ".jsonl")) for file in lost), Usage())


def turn_of(event: AnyEvent) -> str:
    """The name of the turn that an event ended, from its transcript."""
    return event.sent.facts.get("transcript", "").rpartition("/")[2].removesuffix(".jsonl")


def budget_of(app: App, tally: UsageTally, run: AnyRun, family: Iterable[Head]) -> tuple[BudgetUse, ...]:
    """Each limit that is set, and what the run and its children used of it since a person last granted it again."""
    limits = msgspec.json.decode(run.data.setup.settings or b"{}", type=Settings).limits
    spent = reduce(add, (tally.of(app, h.run, h.seq).granted for h in family))
    rows = (
        ("usd", spent.usage.usd, limits.usd),
        ("tokens", spent.usage.tokens, limits.tokens),
        ("minutes", spent.seconds / 60, limits.minutes),
        ("turns", spent.turns, limits.turns),
        ("files", _changed(app, run) if limits.files else 0, limits.files),
    )
    return tuple(BudgetUse(name, round(used, 4), most) for name, used, most in rows if most)


def _changed(app: App, run: AnyRun) -> int:
    """The number of files that differ between a run's base and its newest good tree."""
    base, good = getattr(run.data, "base", ""), getattr(run.data, "good_tree", "")
    return len(app.world.git.run("diff", "--name-only", "-z", base, good, "--").raw.split(b"\0")) - 1 if base and good else 0
