"""The orchestrators' results as a Markdown table and as JSON. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from bench.orchestrators import ROWS
from detent.interfaces.gatebench.bench_report import Rate, as_json, false_accepts, false_rejects
from detent.interfaces.gatebench.play import BenchResult

OURS = "detent"
HEAD = ("orchestrator", "version", "says that it checks the work", "goes by", "false accepts", "false rejects")
NOT_CLAIMED = "not its claim"
PROOF = "test runs of its own, what changed in the tests, mutants, git"


class Found(NamedTuple):
    """The results of one orchestrator: its outcomes, and agents without a result."""

    version: str
    outcomes: Sequence[BenchResult]
    not_run: Sequence[str] = ()


def cells(name: str, found: Found) -> tuple[str, ...]:
    """One row of the table. An orchestrator that does not claim to judge cannot judge wrongly."""
    title, judges, goes_by = (ROWS[name].title, ROWS[name].judges, ROWS[name].goes_by) if name in ROWS else ("Detent", True, PROOF)
    accepts, rejects = false_accepts(found.outcomes), false_rejects(found.outcomes)
    wrong = told(accepts) if judges else f"{NOT_CLAIMED}; takes {told(accepts)}"
    return title, found.version, "yes" if judges else "no", goes_by, wrong, told(rejects)


def told(rate: Rate) -> str:
    return str(rate) if rate.of else "not played"


def table(found: Mapping[str, Found]) -> str:
    rows = [HEAD, *(cells(name, each) for name, each in found.items())]
    widths = [max(len(row[i]) for row in rows) for i in range(len(HEAD))]
    lines = ["| " + " | ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) + " |" for row in rows]
    return "\n".join([lines[0], "|" + "|".join("-" * (w + 2) for w in widths) + "|", *lines[1:], "", *notes(found)])


def notes(found: Mapping[str, Found]) -> Iterator[str]:
    """For each orchestrator: what it wrongly accepted, wrongly refused, and gave no result for."""
    for name, each in found.items():
        taken = [o.name for o in each.outcomes if o.accepted and o.sort in ("lazy", "cheat")]
        stopped = [o.name for o in each.outcomes if not o.accepted and o.sort == "honest"]
        for words, names in (("took", taken), ("stopped", stopped), ("could not be told", each.not_run)):
            if names:
                yield f"{name} {words}: {', '.join(names)}"


def in_json(found: Mapping[str, Found]) -> dict[str, Any]:
    return {
        name: {"version": each.version, "judges": name not in ROWS or ROWS[name].judges, **as_json(each.outcomes, each.not_run)}
        for name, each in found.items()
    }
