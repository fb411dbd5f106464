"""Measures Detent against what it stands on, never against a number remembered from another machine. `./x bench` runs all."""

from typing import NamedTuple


class Figure(NamedTuple):
    """Two medians that were taken in turn, in one run, on one machine; what is compared is their ratio."""

    what: str
    ours: float  # seconds, or the unit below
    against: str
    theirs: float
    goal: float  # the ratio is to be at most this; inf: it is only shown
    unit: str = "seconds"

    @property
    def ratio(self) -> float:
        return self.ours / self.theirs

    @property
    def holds(self) -> bool:
        return self.ratio <= self.goal
