"""What a replay found, as tables of Markdown and as JSON. Pure."""

from collections import Counter
from collections.abc import Sequence
from statistics import median
from typing import Any, NamedTuple

from bench.history import Commit, Replayed, as_json
from bench.history.causes import cause_of

END = ("review", "after review", "squash", "after squash", "mark", "merge")


class Findings(NamedTuple):
    """One clone: who was looked at, and how those in the corpus fared."""

    name: str
    tip: str
    commits: Sequence[Commit]
    replays: Sequence[Replayed]

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
    """The median over those that came to these phases."""
    mine = [each.suites(*names) for each in replays if any(phase.name in names for phase in each.phases)]
    return f"{median(mine):.1f}" if mine else "–"


def _line(name: str, found: Sequence[Replayed], looked_at: int) -> tuple[str, ...]:
    phases = (("start",), ("RED",), ("GREEN",), END, ("check",))
    return (
        name, str(looked_at), str(len(found)), *(_share(found, how) for how in ("taken", "flagged", "refused")), *(_cost(found, *each) for each in phases),
    )  # fmt: skip


def overview(found: Sequence[Findings]) -> list[str]:
    """A line per clone and their sum."""
    head = ("clone", "looked at", "corpus", "taken", "flagged", "refused", "start", "RED", "GREEN", "end", "check")
    lines = [_line(each.name, each.replays, len(each.commits)) for each in found]
    everything = [replay for each in found for replay in each.replays]
    total = _line("all", everything, sum(len(each.commits) for each in found))
    return [*_rows([head, *lines, total]), "", "Costs are medians, in runs of the plain suite (CPU time of all processes)."]


def by_cause(replays: Sequence[Replayed]) -> list[str]:
    """What was refused and flagged, by cause, the commonest first."""
    refused = Counter((each.refused_at, cause_of(each.cause)) for each in replays if each.refused_at)
    flagged = Counter(key for each in replays for key in {(flag.kind, cause_of(flag.sentence)) for flag in each.flags})
    asked = sum(bool(each.asked) for each in replays)
    tables = []
    for title, counts in (("refused at", refused), ("flag", flagged)):
        if counts:
            cells = [(title, "commits", "cause"), *((at, str(n), cause.replace("|", "\\|")) for (at, cause), n in counts.most_common())]
            tables += [*_rows(cells), ""]
    return [*tables, *([f"A person was asked in the end: {asked} commits.", ""] if asked else [])]


def text(found: Sequence[Findings]) -> str:
    lines = overview(found)
    for each in found:
        lines += ["", f"## {each.name} ({each.tip[:10]})", "", *by_cause(each.replays)]
        lines += [f"- {r.hash[:10]} {r.outcome}{' at ' + r.refused_at if r.refused_at else ''}: {r.title}" for r in each.replays]
        lines += [f"- {c.hash[:10]} not in the corpus ({c.why_not.splitlines()[0][:160]}): {c.title}" for c in each.left_out]
    if len(found) > 1:
        lines += ["", "## All", "", *by_cause([replay for each in found for replay in each.replays])]
    return "\n".join(lines).rstrip()


def in_json(found: Sequence[Findings], workflow: str, version: str) -> dict[str, Any]:
    clones = [
        {
            "clone": each.name,
            "tip": each.tip,
            "commits": as_json(list(each.commits)),
            "replays": [
                {**as_json(r), "outcome": r.outcome, "suites": r.suites(), "cause_blanked": cause_of(r.cause)} for r in each.replays
            ],
        }
        for each in found
    ]
    every = [replay for each in found for replay in each.replays]
    totals = {how: sum(each.outcome == how for each in every) for how in ("taken", "flagged", "refused")}
    return {"workflow": workflow, "version": version, "totals": {"corpus": len(every), **totals}, "clones": clones}
