"""Trackers: where work items come from. A new one: a file, a line in TRACKERS, a row in the docs, and it passes the conformance tests."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from detent.tracker.protocol import STATUSES, Change, Item, NewItem, Status, Tracker, TrackerError, UnknownItem, open_of

__all__ = [
    "STATUSES",
    "TRACKERS",
    "Change",
    "Item",
    "Means",
    "NewItem",
    "Said",
    "Status",
    "Tracker",
    "TrackerError",
    "UnknownItem",
    "open_of",
]


class Said(NamedTuple):
    """What a program said and how it ended."""

    code: int | None
    out: str
    err: str


class Means(NamedTuple):
    """What a tracker may need of the machine, handed in."""

    root: Path  # the checkout whose items these are
    store: Path  # a folder that all checkouts of the repository share
    clock: Callable[[], str]
    call: Callable[[Sequence[str], Mapping[str, str]], Said]  # run a program in the checkout, with these variables too


def _builtin(means: Means) -> Tracker:
    from detent.tracker.builtin import Builtin

    return Builtin(means.store / "items.db", means.clock)


TRACKERS: dict[str, Callable[[Means], Tracker]] = {"builtin": _builtin}
