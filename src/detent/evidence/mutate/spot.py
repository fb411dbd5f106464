"""What every language's mutator yields: spots that can be mutated, and functions that can return something else. Values only."""

from collections.abc import Callable
from typing import NamedTuple


class Spot(NamedTuple):
    """A line that can be mutated; `make` builds the mutant's text on demand."""

    line: int
    make: Callable[[], str]


class FunctionBody(NamedTuple):
    """A function by its first and last line; `make` builds the file in which it returns something that nobody expects."""

    name: str
    first: int
    last: int
    make: Callable[[], str]
