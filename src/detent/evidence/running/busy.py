"""The time limits of probes, measured as on an idle machine: time that other programs take from the cores does not count.

Otherwise a verdict would depend on what else runs: beside ten other programs a probe would stop after a tenth of its tries.
"""

import os
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, TypeVar

MOST = 10.0  # the longest wait, as a multiple of the limit, since somebody waits
STAT = Path("/proc/stat")
IDLE, WAITING = 4, 5  # fields of its first line: idle ticks


class MayBeLate(Protocol):
    """A run that may have hit its timeout."""

    @property
    def late(self) -> bool: ...


R = TypeVar("R", bound=MayBeLate)


def _load() -> float:
    """Runnable programs per core over the last minute, ours included."""
    try:
        return os.getloadavg()[0] / (os.cpu_count() or 1)
    except OSError:  # not available on this system
        return 1.0


def _cores() -> tuple[float, int]:
    """Idle seconds of all cores since boot, and the number of cores."""
    with STAT.open() as file:
        fields = file.readline().split()
    return (int(fields[IDLE]) + int(fields[WAITING])) / os.sysconf("SC_CLK_TCK"), os.cpu_count() or 1


def _ours() -> float:
    """CPU seconds of this process and the children it waited for."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


def idle_clock(
    wall: Callable[[], float] = time.monotonic, cores: Callable[[], tuple[float, int]] = _cores, ours: Callable[[], float] = _ours
) -> float:
    """A clock that runs at full speed while a core is idle or ours, and slower while others use the cores; at least at a tenth."""
    try:
        free, count = cores()
    except (OSError, ValueError, IndexError):  # not Linux
        return wall()
    return wall() / MOST + (1 - 1 / MOST) * (free + ours()) / count


def patient(seconds: float, load: Callable[[], float] = _load) -> float:
    """The wall-clock limit of one run: the seconds, scaled by the current load."""
    return seconds * min(MOST, max(1.0, load()))


def run_within(seconds: float, run: Callable[[float], R], clock: Callable[[], float] = idle_clock) -> R:
    """Run within these seconds of an idle machine. If it timed out because other programs had the cores, run it again with the longest limit."""
    begun, first = clock(), run(patient(seconds))
    return first if not first.late or clock() - begun >= seconds else run(MOST * seconds)
