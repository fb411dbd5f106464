"""Benches that compare Detent with a baseline measured in the same run, never with a number from another machine. `./x bench` runs all."""

from typing import NamedTuple


class Figure(NamedTuple):
    """Two medians, measured alternately in one run on one machine; their ratio is what counts."""

    what: str
    ours: float  # in seconds, or in `unit`
    against: str
    theirs: float
    goal: float  # the largest acceptable ratio; inf: only shown
    unit: str = "seconds"

    @property
    def ratio(self) -> float:
        return self.ours / self.theirs

    @property
    def holds(self) -> bool:
        return self.ratio <= self.goal
