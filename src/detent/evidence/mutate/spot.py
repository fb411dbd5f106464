"""What a language says of a file: places where it can be changed a little, and functions that can answer something else. Values only."""

from collections.abc import Callable
from typing import NamedTuple


class Spot(NamedTuple):
    """A place where a file can be changed; what the file is then is made when it is asked for."""

    line: int
    make: Callable[[], str]


class FunctionBody(NamedTuple):
    """A function, from its first line to its last, and the file in which it only answers something that nobody expects."""

    name: str
    first: int
    last: int
    make: Callable[[], str]
