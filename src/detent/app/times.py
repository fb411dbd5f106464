"""Parses times that people write (2h, 22:00, a date) and windows of the day such as 22:00-07:00. Pure except `local_now`."""

import re
import time as clock
from datetime import datetime, time, timedelta
from typing import NamedTuple

from detent.errors import DetentError

SPANS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
AGO = re.compile(r"(\d{1,6})\s*([mhdw])")
CLOCK = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)")
EXAMPLES = "for example: 8h, 2d, 22:00, yesterday, 2026-03-01 or 2026-03-01T22:00"


def time_of(text: str, now: datetime) -> datetime:
    """The time that a text means, with the time zone of `now` and never in the future."""
    words = text.strip().lower()
    if found := AGO.fullmatch(words):
        return now - timedelta(**{SPANS[found[2]]: int(found[1])})
    if words in ("today", "yesterday"):
        midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
        return midnight - timedelta(days=words == "yesterday")
    if found := CLOCK.fullmatch(words):
        then = now.replace(hour=int(found[1]), minute=int(found[2]), second=0, microsecond=0)
        return then if then <= now else then - timedelta(days=1)
    try:
        then = datetime.fromisoformat(text.strip())
    except ValueError:
        raise DetentError(f"'{text}' is not a time", EXAMPLES) from None
    then = then if then.tzinfo else then.replace(tzinfo=now.tzinfo)
    if then > now:
        raise DetentError(f"{text} is in the future", EXAMPLES)
    return then


class TimeWindow(NamedTuple):
    """A part of each day; one that ends before it begins spans midnight."""

    begins: time
    ends: time

    def opened(self, now: datetime) -> datetime:
        """When it opened last."""
        return _before(self.begins, now)

    def closed(self, now: datetime) -> datetime:
        """When it closed last."""
        return _before(self.ends, now)

    def opens(self, now: datetime) -> datetime:
        """When it opens next."""
        return self.opened(now) + timedelta(days=1)

    def is_open(self, now: datetime) -> bool:
        return self.opened(now) > self.closed(now)


def local_of(seconds: float) -> datetime:
    """A moment as local time without a zone: windows are about the time of day, regardless of summer time."""
    return datetime.fromtimestamp(seconds)  # noqa: DTZ006 - a zone is what is not wanted here


def local_now() -> datetime:
    return local_of(clock.time())


def window_of(text: str) -> TimeWindow:
    """The window of a setting, whose form was checked."""
    begins, _, ends = text.partition("-")
    return TimeWindow(_clock(begins), _clock(ends))


def _clock(text: str) -> time:
    hour, _, minute = text.strip().partition(":")
    return time(int(hour), int(minute))


def _before(clock: time, now: datetime) -> datetime:
    then = datetime.combine(now.date(), clock)
    return then if then <= now else then - timedelta(days=1)
