"""The values of notifications: the message, a way to send it, and the error NotSent."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple


class NotSent(Exception):
    """A message could not be sent."""


class Notification(NamedTuple):
    """A message to people, already redacted."""

    id: str  # the same for the same event, so that duplicates can be recognised
    event: str  # person, paused, budget, over, report
    title: str
    text: str
    project: str
    at: str
    items: tuple[Mapping[str, str], ...] = ()  # the things it is about

    def as_object(self) -> dict[str, object]:
        return {**self._asdict(), "items": [dict(item) for item in self.items]}


class NotifyWay(NamedTuple):
    """One configured way to notify: the target, a working folder, the environment, a lookup of programs, and a redactor."""

    to: str
    root: Path
    env: Mapping[str, str]
    find: Callable[[str], str]
    redact: Callable[[str], str]
