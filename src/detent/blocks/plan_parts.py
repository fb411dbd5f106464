"""How far a plan has come, in one shape for all workflows. Values only."""

from typing import NamedTuple


class Step(NamedTuple):
    """One step of a plan."""

    kind: str
    text: str
    status: str  # done, now, open
    proof: int = 0  # the number of the event that proved it


class Part(NamedTuple):
    """One task of a plan, with its steps where it has some."""

    name: str
    title: str
    status: str  # done, now, open, blocked
    steps: tuple[Step, ...] = ()
    needs: tuple[str, ...] = ()
