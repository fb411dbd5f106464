"""The turns of agents, read from the journal: role, model and cost of each. Decides nothing."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec

from detent.app import App
from detent.app.registry import usable
from detent.config import Settings
from detent.door import AnyEvent
from detent.drive.spent import Spent, spent_in
from detent.journal.journal import Head
from detent.journal.journal_rows import from_entry

PAGE = 500
REVIEWER = "reviewer"  # the role that the machine asks in a system state
BY_DEFAULT = ("anthropic", "claude", "openai")  # backends that use [agents] model when their spec names no model
LONGEST = 60  # characters of a model's name


class TurnTaken(NamedTuple):
    """One turn of an agent, from its event."""

    run: str
    root: str  # the top-level run
    at: str
    role: str
    model: str
    spent: Spent


class TakenTurns:
    """The cached turns of runs; each event is read once."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[int, tuple[TurnTaken, ...]]] = {}

    def of(self, app: App, head: Head) -> tuple[TurnTaken, ...]:
        """Every turn of one run, without its children."""
        seq, found = self._kept.get(head.run, (0, ()))
        while seq < head.seq:
            events = [from_entry(app.door.tables[e.workflow], e) for e in app.journal.events(head.run, seq, PAGE)]
            if not events:
                break
            found += tuple(turn for event in events for turn in _turn(event, head))
            seq = events[-1].run.seq
            self._kept[head.run] = seq, found
        return found

    def since(self, app: App, heads: Iterable[Head], since: str) -> Iterator[TurnTaken]:
        """The turns that ended after a time."""
        for head in heads:
            if head.at >= since and usable(head.workflow) is not None:
                yield from (turn for turn in self.of(app, head) if turn.at >= since)


def _turn(event: AnyEvent, head: Head) -> Iterator[TurnTaken]:
    if "usage" not in event.sent.facts:
        return
    flow = usable(event.run.workflow)
    state = flow.table.states.get(event.was) if flow else None
    role = (state.role if state else "") or REVIEWER
    asked = event.sent.facts.get("asked", "")
    yield TurnTaken(head.run, head.parent or head.run, event.at, role.lower(), model_of(asked, event), spent_in([event], whole=True))


def model_of(asked: str, event: AnyEvent) -> str:
    """The model that an agent's spec names or defaults to; the spec itself if neither is known."""
    backend, _, rest = asked.partition(":")
    if backend in BY_DEFAULT and not rest.strip():
        settings = getattr(event.run.data.setup, "settings", b"") or b"{}"
        rest = msgspec.json.decode(settings, type=Settings).agents.model
    name = rest if backend in (*BY_DEFAULT, "codex") and rest else asked
    return (name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…") or "?"
