"""Judging: runs the gates of one row over one look. First what is asked, then what must be proved; CannotTell is neither yes nor no."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from detent.errors import CannotTell
from detent.evidence.look import CommandLook, Look
from detent.gates.tests import red_tests_pass
from detent.gates.tree import toolchain_kept
from detent.kernel.model import PROVED, Flag, Found, OwnGate
from detent.kernel.table import Gate, GateResult, Row

if TYPE_CHECKING:
    from detent.evidence.outcomes.card import Card


def judge(row: Row[Any], look: Look[Any]) -> Found:
    """Run a row's gates. A refusal lists every fault of the call; a failed proof, only the first."""
    try:
        refused = tuple(line for gate in row.gates if isinstance(result := gate(look), str) for line in result.splitlines())
        if refused:
            return Found(refused=refused, tree=look.tree)
        prove = (*row.prove, *map(own_gate, look.own_gates(*steps_of(row)))) if row.prove else ()
        failed, flagged, gate = _proved((toolchain_kept, *prove) if prove else (), look)
    except CannotTell as e:
        return Found(
            unclear=str(e),
            away=getattr(e, "thing", ""),
            tree=look.tree,
            output=look.output(),
            evidence=look.evidence(),
            record=look.record(),
        )
    return Found(
        failed=failed,
        gate=gate,
        flagged=flagged,
        held=tuple(name_of(g) for g in (*row.gates, *prove)) if not failed else (),
        late=look.late(),
        fixed=look.fixed() if not failed else (),
        output=look.output(),
        tree=look.tree,
        evidence=look.evidence(),
        record=look.record(),
        documents=look.documents(),
        heard=len(look.run.steers),
    )


def steps_of(row: Row[Any]) -> tuple[str, ...]:
    """The names by which a project's own gates can refer to a row: its state, its event, and "proved" if all tests must pass there."""
    return (row.at, row.on, *((PROVED,) if red_tests_pass in row.prove else ()))


def own_gate(gate: OwnGate) -> Gate:
    """A gate from the project's configuration, as a gate of the row."""

    def passes(look: CommandLook[Any]) -> GateResult:
        return look.own_gate(gate)

    passes.__name__ = gate.known_as
    return passes


def _proved(gates: tuple[Gate, ...], look: Look[Any]) -> tuple[tuple[str, ...], tuple[Flag, ...], str]:
    """The first failure, the flags raised before it, and the name of the gate that failed."""
    flagged: list[Flag] = []
    for gate in gates:
        result = gate(look)
        if isinstance(result, str) and result:
            return (result,), tuple(flagged), name_of(gate)
        judged = [flag for each in flags_in(result) if (flag := weighed(each, look.setting)) is not None]
        if bad := [flag for flag in judged if flag.level == "fail"]:
            return tuple(f"{flag.sentence} ({flag.kind})" for flag in bad), tuple(flagged), name_of(gate)
        flagged += judged
    return (), tuple(flagged), ""


def flags_in(result: GateResult) -> tuple[Flag, ...]:
    """The flags that a gate raised."""
    return (result,) if isinstance(result, Flag) else result if isinstance(result, tuple) else ()


def weighed(flag: Flag, setting: Callable[[str], str]) -> Flag | None:
    """A flag with the level that `[flags] KIND` configures; None if that kind is allowed."""
    level = setting(f"flags.{flag.kind}") or flag.level
    if level == "allow":
        return None
    assert level in ("note", "ask", "fail"), f"[flags] {flag.kind} is checked when it is read"
    return msgspec.structs.replace(flag, level=level)


def name_of(gate: Gate) -> str:
    return str(getattr(gate, "__name__", gate))


def weighed_card(card: "Card", settings: Mapping[str, str]) -> "Card":
    """The card with its flags at their configured levels: allowed ones are dropped, failing ones become failures."""
    flags = [flag for each in card.flags if (flag := weighed(each, lambda name: settings.get(name, ""))) is not None]
    failed = tuple(_failing(flag) for flag in flags if flag.level == "fail")
    return msgspec.structs.replace(card, flags=tuple(flag for flag in flags if flag.level != "fail"), failed=(*card.failed, *failed))


def _failing(flag: Flag) -> str:
    """A flag worded as a failure, which begins with its place."""
    return f"{'' if flag.place in flag.sentence else f'{flag.place}: '}{flag.sentence} ({flag.kind})"
