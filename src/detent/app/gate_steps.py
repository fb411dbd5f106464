"""A project's own gates ([[gate]]) before a run begins and in `check`: whether the steps they name exist, and which fail already."""

from typing import TYPE_CHECKING

from detent.app.registry import all_tables
from detent.config import Settings
from detent.config.values import unknown
from detent.errors import CannotTell, DetentError
from detent.kernel.model import CHECK, DEFAULT, OwnGate

if TYPE_CHECKING:
    from detent.evidence.looks.own_gates import GatedTree


def steps_are_known(settings: Settings) -> None:
    """Refuse a gate that names a step at which no workflow proves anything."""
    if all(set(gate.at) <= set(DEFAULT) for gate in settings.gate):
        return  # without loading any workflow
    known = (*DEFAULT, *sorted(proving_steps()))
    for gate in settings.gate:
        for step in gate.at:
            if step not in known:
                raise unknown(f"[[gate]] {gate.name}: there is no step {step} at which work is judged", step, known)


def proving_steps() -> set[str]:
    """The states and events of all workflows at which a failed proof leads somewhere."""
    tables = all_tables().values()
    rows = [row for table in tables for row in table.rows if row.prove and row.fail and not table.states[row.at].bare]
    return {name for row in rows for name in (row.at, row.on)}


def red_at_start(over: "GatedTree") -> tuple[OwnGate, ...]:
    """The own gates that fail on the commit that a run starts from. One that cannot be run there is an error: it would block every step."""
    from detent.evidence.looks.own_gates import red_gates

    here = over._replace(gates=tuple(gate for gate in over.gates if set(gate.at) != {CHECK}))
    try:
        return tuple(red_gates(here))
    except CannotTell as e:
        raise DetentError(str(e), "install what it needs, or take the gate out of detent.toml") from e
