"""The time that probes are given, as an idle machine would count it: what other programs take of the cores is not counted against them.

Without it a verdict would depend on what else is running: on a machine with ten other programs a probe would give up after a tenth of its tries.
"""

import os
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, TypeVar

MOST = 10.0  # times the seconds, however busy: somebody waits
STAT = Path("/proc/stat")
IDLE, WAITING = 4, 5  # fields of its first line: ticks in which cores had nothing to do


class MayBeLate(Protocol):
    """A run that may not have ended by itself."""

    @property
    def late(self) -> bool: ...


R = TypeVar("R", bound=MayBeLate)


def _load() -> float:
    """Programs that want a core, for each core there is: over the last minute, our own among them."""
    try:
        return os.getloadavg()[0] / (os.cpu_count() or 1)
    except OSError:  # this system does not say
        return 1.0


def _cores() -> tuple[float, int]:
    """The seconds in which cores had nothing to do since the machine began, all together, and how many cores there are."""
    with STAT.open() as file:
        fields = file.readline().split()
    return (int(fields[IDLE]) + int(fields[WAITING])) / os.sysconf("SC_CLK_TCK"), os.cpu_count() or 1


def _ours() -> float:
    """The seconds that this process and those it waited for had a core."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


def idle_clock(
    wall: Callable[[], float] = time.monotonic, cores: Callable[[], tuple[float, int]] = _cores, ours: Callable[[], float] = _ours
) -> float:
    """A clock that goes as fast as ours where a core is free or ours, and slower by what others take; at a tenth of the speed at least."""
    try:
        free, count = cores()
    except (OSError, ValueError, IndexError):  # not Linux
        return wall()
    return wall() / MOST + (1 - 1 / MOST) * (free + ours()) / count


def patient(seconds: float, load: Callable[[], float] = _load) -> float:
    """As many seconds as it takes here, now, to do what an idle machine does in these: the limit of a single run."""
    return seconds * min(MOST, max(1.0, load()))


def in_time(seconds: float, run: Callable[[float], R], clock: Callable[[], float] = idle_clock) -> R:
    """One run within these seconds of an idle machine. One that did not end since other programs had the cores is made again, for as long as it takes."""
    begun, first = clock(), run(patient(seconds))
    return first if not first.late or clock() - begun >= seconds else run(MOST * seconds)
