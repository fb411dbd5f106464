"""One message and how it is sent. Values, and the one kind of trouble there is."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple


class NotSent(Exception):
    """It could not be sent, and why."""


class Notification(NamedTuple):
    """What a person is told. It is redacted before it gets here."""

    id: str  # the same for the same event, so that who gets it twice can tell
    event: str  # person, paused, budget, over, report
    title: str
    text: str
    project: str
    at: str
    items: tuple[Mapping[str, str], ...] = ()  # what it is about, one by one

    def as_object(self) -> dict[str, object]:
        return {**self._asdict(), "items": [dict(item) for item in self.items]}


class NotifyWay(NamedTuple):
    """What a way of sending needs: where to, a folder to run in, the environment, programs, and what takes secrets out of a text."""

    to: str
    root: Path
    env: Mapping[str, str]
    find: Callable[[str], str]
    redact: Callable[[str], str]
