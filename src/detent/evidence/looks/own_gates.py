"""Gates that a project configures itself with [[gate]]: each command runs in a clean checkout in the sandbox. A pass on the same tree is not repeated.

Owns what the result of such a command means; must not know states. A missing program is CannotTell, never a pass.
"""

from collections.abc import Iterator
from copy import copy
from typing import NamedTuple

import msgspec

from detent.errors import CannotTell, Disturbed
from detent.evidence.outcomes.card import Card, Trial
from detent.evidence.running.checks import CommandEnded, check_one
from detent.evidence.running.collect import Collector, Wanted
from detent.kernel.model import LAND, Flag, OwnGate, gates_at
from detent.kernel.table import GateResult

LAST_WORDS = 300  # characters of a command's output quoted in a sentence


class OwnGateResult(NamedTuple):
    """The result of one gate."""

    result: GateResult = None
    output: str = ""
    fixed: tuple[str, ...] = ()  # the gate's name, if it failed before the work began and passes now


class GatedTree(NamedTuple):
    """The judged tree and the tree before the work, with what is needed to run gates on them."""

    gates: tuple[OwnGate, ...]
    collect: Collector
    tree: str
    before: str  # empty: none
    wanted: Wanted

    def at(self, gate: OwnGate) -> CommandEnded:
        """Run a gate on the judged tree. If its program is missing but existed before the work, that counts as a failure of the change."""
        ended = self._ended(gate, self.tree)
        if ended.not_there and (not self.before or self._ended(gate, self.before).not_there):
            raise CannotTell(f"{gate.known_as} could not be run: {_last(ended.output)}")
        return ended

    def judged(self, gate: OwnGate, known: bool) -> OwnGateResult:
        """Judge a step by a gate. One that failed before the work began (`known`) does not count until it has passed once."""
        try:
            ended = self.at(gate)
        except CannotTell as e:
            if known and not isinstance(e, Disturbed):
                return OwnGateResult()
            raise
        if ended.passed or known:
            return OwnGateResult(fixed=(gate.known_as,) if ended.passed and known else ())
        return OwnGateResult(flag_of(gate, ended) if gate.then == "flag" else sentence(gate, ended), ended.output)

    def failed_before(self, gate: OwnGate) -> bool:
        """Whether a gate failed on the tree before the work. One that could not be run there did not."""
        if not self.before:
            return False
        ended = self._ended(gate, self.before)
        return not ended.passed and not ended.not_there

    def _ended(self, gate: OwnGate, tree: str) -> CommandEnded:
        collect = self.collect.of(tree)
        if gate.timeout:
            collect = copy(collect)
            collect.suite = collect.suite._replace(timeout=float(gate.timeout))
        try:
            return check_one(collect, tree, gate.command, self.wanted)
        except Disturbed:
            raise
        except CannotTell as e:
            raise CannotTell(f"{gate.known_as}: {e}") from e


def sentence(gate: OwnGate, ended: CommandEnded) -> str:
    """What is wrong, with the end of the output and the project's own advice."""
    failure = f"{gate.known_as} fails: `{gate.command}`: {_last(ended.output)}"
    return f"{failure}. {gate.says}" if gate.says else failure


def flag_of(gate: OwnGate, ended: CommandEnded) -> Flag:
    """The flag of a gate. It stays if the look at the whole branch will not run the gate again."""
    return Flag("gate", sentence(gate, ended), gate.name, stays=not gate.is_at(LAND))


def gate_fault(over: GatedTree, step: str) -> str:
    """The sentence and output of the first gate that fails the work and did not fail before it; empty if there is none."""
    for gate in gates_at(over.gates, step):
        if gate.then == "fail" and not (ended := over.at(gate)).passed and not over.failed_before(gate):
            return f"{sentence(gate, ended)}\n{ended.output}"
    return ""


def red_gates(over: GatedTree) -> Iterator[OwnGate]:
    """The gates that fail on a tree."""
    return (gate for gate in over.gates if not over.at(gate).passed)


def on_card(card: Card, over: GatedTree, step: str) -> Card:
    """Add the gates' results to a card: a gate that fails only with the change is a failure or a flag; one that failed before is a note."""
    failed, flags, tried, unclear = list(card.failed), list(card.flags), list(card.tried), [card.unclear] if card.unclear else []
    for gate in gates_at(over.gates, step):
        try:
            if (ended := over.at(gate)).passed:
                continue
            known = over.failed_before(gate)
        except Disturbed:
            raise
        except CannotTell as e:
            unclear.append(str(e))
            continue
        tried.append(Trial((gate.known_as,), f"{gate.known_as} was run on the change", _last(ended.output), command=gate.command))
        if known:
            message = f"{gate.known_as} fails, and failed before the change, so it does not count: `{gate.command}`"
            flags.append(Flag("gate", message, gate.name, level="note"))
        elif gate.then == "flag":
            flags.append(flag_of(gate, ended))
        else:
            failed.append(f"{sentence(gate, ended)} (gate)")
    return msgspec.structs.replace(card, failed=tuple(failed), flags=tuple(flags), tried=tuple(tried), unclear="; ".join(unclear))


def _last(output: str) -> str:
    """The end of an output, on one line."""
    words = " ".join(output.split())
    return words if len(words) <= LAST_WORDS else f"… {words[-LAST_WORDS:]}"
