"""A window of the day, such as 22:00-07:00: when it is open, when it opened last, when it opens again. Times are local ones."""

import time as clock
from datetime import datetime, time, timedelta
from typing import NamedTuple


class TimeWindow(NamedTuple):
    """A part of each day; one that ends before it begins goes over midnight."""

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
    """A moment in the local time of this machine, without a zone: the time of day is what a window is about, whatever summer time does."""
    return datetime.fromtimestamp(seconds)  # noqa: DTZ006 - a zone is what is not wanted here


def local_now() -> datetime:
    return local_of(clock.time())


def window_of(text: str) -> TimeWindow:
    """The window that a setting names; its form was checked."""
    begins, _, ends = text.partition("-")
    return TimeWindow(_clock(begins), _clock(ends))


def _clock(text: str) -> time:
    hour, _, minute = text.strip().partition(":")
    return time(int(hour), int(minute))


def _before(clock: time, now: datetime) -> datetime:
    then = datetime.combine(now.date(), clock)
    return then if then <= now else then - timedelta(days=1)
