"""Judging: the gates of one row over one look. First what is asked, then what must be proved; CannotTell is neither yes nor no."""

from typing import Any

from detent.errors import CannotTell
from detent.evidence.look import Look
from detent.kernel.model import Found
from detent.kernel.rows import Flag, Gate, Row


def judge(row: Row[Any], look: Look[Any]) -> Found:
    """What the gates say. Every fault of the call is named, a line each; of the proof, the first that fails."""
    try:
        refused = tuple(line for gate in row.gates if (said := gate(look)) for line in said.splitlines())
        if refused:
            return Found(refused=refused, tree=look.tree)
        failed, flagged = _proved(row.prove, look)
    except CannotTell as e:
        return Found(unclear=str(e), tree=look.tree, output=look.output(), evidence=look.evidence(), record=look.record())
    return Found(
        failed=failed,
        flagged=flagged,
        held=tuple(name_of(g) for g in (*row.gates, *row.prove)) if not failed else (),
        late=look.late(),
        output=look.output(),
        tree=look.tree,
        evidence=look.evidence(),
        record=look.record(),
        documents=look.documents(),
        heard=len(look.run.steers),
    )


def _proved(gates: tuple[Gate, ...], look: Look[Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What is wrong, by the first gate that says so, and what was flagged until then."""
    flagged: list[str] = []
    for gate in gates:
        said = gate(look)
        if isinstance(said, Flag):
            flagged.append(str(said))
        elif said:
            return (said,), tuple(flagged)
    return (), tuple(flagged)


def name_of(gate: Gate) -> str:
    return str(getattr(gate, "__name__", gate))
