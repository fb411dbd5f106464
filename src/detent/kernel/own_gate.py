"""A gate that a project configures itself: a command, judged by its exit code. Values only."""

from typing import Literal

import msgspec

from detent.kernel.model import Value

PROVED, LAND, CHECK = (
    "proved",
    "land",
    "check",
)  # steps besides states and events: where all tests must pass, where a branch lands, in `check`
DEFAULT = (PROVED, LAND, CHECK)


class OwnGate(Value, frozen=True):
    """One row of [[gate]]."""

    name: str
    command: str  # as a shell reads it
    at: tuple[str, ...] = DEFAULT
    then: Literal["fail", "flag"] = msgspec.field(default="fail", name="as")  # what it is when the command fails
    says: str = ""  # a sentence for whoever is refused
    timeout: int = 0  # seconds; unset: test.timeout

    @property
    def known_as(self) -> str:
        """What it is called among the gates that held, and among what failed before the work began."""
        return f"gate {self.name}"

    def is_at(self, *steps: str) -> bool:
        return not set(self.at).isdisjoint(steps)


def gates_at(gates: tuple[OwnGate, ...], *steps: str) -> tuple[OwnGate, ...]:
    return tuple(gate for gate in gates if gate.is_at(*steps))


def commands_of(gates: tuple[OwnGate, ...]) -> tuple[str, ...]:
    return tuple(gate.command for gate in gates)
