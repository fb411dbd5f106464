"""The findings of a replay as Markdown tables and as JSON. Pure."""

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any, NamedTuple

from bench.history import Commit, Replayed, as_json
from bench.history.causes import cause_of
from bench.history.twins import KINDS, Fate

COSTS = {"start": ("start",), "RED": ("RED",), "GREEN": ("GREEN",), "end": ("review", "after review", "squash", "after squash", "mark", "merge"), "check": ("check",)}  # fmt: skip
ANSWERS = ("failed", "flagged", "clean", "could not verify")
NONE = "no such twin"
HEAD = ("twin", "made", "failed", "flagged", "by", "of these only as the true one", "clean: slipped through", "could not verify", NONE)


class Findings(NamedTuple):
    """The findings for one clone: the commits examined, and the results of those in the corpus."""

    name: str
    tip: str
    commits: Sequence[Commit]
    replays: Sequence[Replayed]
    twins: Sequence[Fate] = ()

    @property
    def left_out(self) -> list[Commit]:
        return [each for each in self.commits if each.why_not]


def _rows(cells: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[i]) for row in cells) for i in range(len(cells[0]))]
    lines = ["| " + " | ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) + " |" for row in cells]
    return [lines[0], "|" + "|".join("-" * (w + 2) for w in widths) + "|", *lines[1:]]


def _share(replays: Sequence[Replayed], outcome: str) -> str:
    count = sum(each.outcome == outcome for each in replays)
    return f"{count} ({100 * count / len(replays):.0f} %)" if replays else "0"


def _cost(replays: Sequence[Replayed], *names: str) -> str:
    """The median cost of these phases, over the replays that reached one of them."""
    mine = [each.suites(*names) for each in replays if any(phase.name in names for phase in each.phases)]
    return f"{median(mine):.1f}" if mine else "–"


def _line(name: str, found: Sequence[Replayed], looked_at: int, costs: Sequence[str]) -> tuple[str, ...]:
    shares = (_share(found, how) for how in ("taken", "flagged", "refused"))
    return (name, str(looked_at), str(len(found)), *shares, *(_cost(found, *COSTS[each]) for each in costs))


def overview(found: Sequence[Findings]) -> list[str]:
    """A line for each clone, and the total."""
    everything = [replay for each in found for replay in each.replays]
    names = {phase.name for replay in everything for phase in replay.phases}
    costs = [cost for cost, phases in COSTS.items() if names & set(phases)]
    head = ("clone", "looked at", "corpus", "taken", "flagged", "refused", *costs)
    lines = [_line(each.name, each.replays, len(each.commits), costs) for each in found]
    total = _line("all", everything, sum(len(each.commits) for each in found), costs)
    return [*_rows([head, *lines, total]), "", "Costs are medians, in runs of the plain suite (CPU time of all processes)."]


def by_cause(replays: Sequence[Replayed]) -> list[str]:
    """Refusals and flags by cause, most frequent first."""
    refused = Counter((each.refused_at, cause_of(each.cause)) for each in replays if each.refused_at)
    flagged = Counter(
        key for each in replays if each.outcome == "flagged" for key in {(flag.kind, cause_of(flag.sentence)) for flag in each.flags}
    )
    asked = sum(bool(each.asked) for each in replays)
    tables = []
    for title, counts in (("refused at", refused), ("flag", flagged)):
        if counts:
            cells = [(title, "commits", "cause"), *((at, str(n), cause.replace("|", "\\|")) for (at, cause), n in counts.most_common())]
            tables += [*_rows(cells), ""]
    return [*tables, *([f"A person was asked in the end: {asked} commits.", ""] if asked else [])]


def by_twin(found: Sequence[Findings]) -> list[str]:
    """What became of the twins by kind; those with no flag of their own; and why some could not be made."""
    fates, true = [fate for each in found for fate in each.twins], {each.hash: each for one in found for each in one.replays}
    if not fates:
        return []
    rows: list[tuple[str, ...]] = [HEAD]
    asked = {each.twin.kind for each in fates}
    for kind in (each for each in KINDS if each in asked):
        mine = [each for each in fates if each.twin.kind == kind]
        seen = Counter(map(answer_of, mine))
        by = ", ".join(f"{flag} {n}" for flag, n in Counter(flag for each in mine for flag in _kinds(each.replay)).most_common())
        made, same = len(mine) - seen[NONE], sum(is_as_true(each, true.get(each.twin.of)) for each in mine)
        rest = (str(seen[how]) for how in (*ANSWERS[2:], NONE))
        rows.append((kind, str(made), str(seen["failed"]), str(seen["flagged"]), by or "–", str(same), *rest))
    return [*_rows(rows), "", *_twins_by_name(fates, true)]


def answer_of(fate: Fate) -> str:
    return fate.replay.answer if fate.replay else NONE


def _kinds(replay: Replayed | None) -> set[str]:
    return {flag.kind for flag in replay.flags} if replay and replay.answer == "flagged" else set()


def is_as_true(fate: Fate, true: Replayed | None) -> bool:
    """Whether a twin raised only flags that the true commit raises too, so nobody noticed what was spoiled."""
    return bool(kinds := _kinds(fate.replay)) and kinds <= _kinds(true)


def _twins_by_name(fates: Sequence[Fate], true: Mapping[str, Replayed]) -> list[str]:
    lists = (
        ("Slipped through", [each for each in fates if answer_of(each) == "clean"]),
        ("Flagged, but only as the true commit is", [each for each in fates if is_as_true(each, true.get(each.twin.of))]),
        ("Could not be verified", [each for each in fates if answer_of(each) == "could not verify"]),
    )
    lines = [line for title, mine in lists if mine for line in (f"{title}:", "", *map(_twin, mine), "")]
    reasons = Counter((each.twin.kind, each.twin.why_not) for each in fates if each.twin.why_not)
    rows = [(NONE, "commits", "reason"), *((kind, str(n), why) for (kind, why), n in reasons.most_common())]
    return [*lines, *(_rows(rows) if reasons else []), ""]


def _twin(fate: Fate) -> str:
    twin, replay = fate.twin, fate.replay
    assert twin.commit is not None
    said = "; ".join(filter(None, (twin.note, replay.cause if replay else "")))
    return f"- {twin.of[:10]} {twin.kind} ({twin.commit.hash[:10]}{f': {said}' if said else ''}): {twin.commit.title}"


def text(found: Sequence[Findings]) -> str:
    lines = overview(found)
    for each in found:
        lines += ["", f"## {each.name} ({each.tip[:10]})", "", *by_cause(each.replays)]
        lines += [f"- {r.hash[:10]} {r.outcome}{' at ' + r.refused_at if r.refused_at else ''}: {r.title}" for r in each.replays]
        lines += [f"- {c.hash[:10]} not in the corpus ({c.why_not.splitlines()[0][:160]}): {c.title}" for c in each.left_out]
        lines += ["", *by_twin([each])]
    if len(found) > 1:
        lines += ["", "## All", "", *by_cause([replay for each in found for replay in each.replays])]
        lines += by_twin(found)
    return "\n".join(lines).rstrip()


def in_json(found: Sequence[Findings], workflow: str, version: str) -> dict[str, Any]:
    clones = [
        {
            "clone": each.name,
            "tip": each.tip,
            "commits": as_json(list(each.commits)),
            "replays": [
                {**as_json(r), "outcome": r.outcome, "answer": r.answer, "suites": r.suites(), "cause_blanked": cause_of(r.cause)}
                for r in each.replays
            ],
            "twins": [
                {
                    **as_json(fate),
                    "answer": answer_of(fate),
                    "as_the_true_one": is_as_true(fate, {r.hash: r for r in each.replays}.get(fate.twin.of)),
                }
                for fate in each.twins
            ],
        }
        for each in found
    ]
    every = [replay for each in found for replay in each.replays]
    totals = {how: sum(each.outcome == how for each in every) for how in ("taken", "flagged", "refused")}
    fates = Counter((fate.twin.kind, answer_of(fate)) for each in found for fate in each.twins)
    twins = {kind: {how: fates[kind, how] for how in (*ANSWERS, NONE)} for kind in KINDS} if fates else {}
    return {"workflow": workflow, "version": version, "totals": {"corpus": len(every), **totals}, "twins": twins, "clones": clones}
