"""Who holds a claim: a process, named so that a later one with the same number is not taken for it. Knows no journal."""

import os
from functools import cache
from pathlib import Path

from detent.kernel.model import Value


class Holder(Value, frozen=True, omit_defaults=False):
    """A process by machine, boot, number and start time."""

    pid: int
    start: str
    boot: str
    host: str
    since: str = ""
    doing: str = ""


@cache
def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except OSError:
        return ""


def _start(pid: int) -> str:
    """When a process started, in the kernel's own count; empty if there is no such process (or no way to know)."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("ascii", "replace")
    except OSError:
        return ""
    fields = stat.rpartition(")")[2].split()
    return "" if fields[0] in "ZX" else fields[19]


def this_process(since: str, doing: str) -> Holder:
    pid = os.getpid()
    return Holder(pid, _start(pid), _boot(), os.uname().nodename, since, doing)


def is_alive(holder: Holder) -> bool:
    """Whether the holder may still be at work. One on another machine counts as alive: only its own machine can tell."""
    if holder.host != os.uname().nodename:
        return True
    if holder.boot != _boot():
        return False
    if Path("/proc/self/stat").exists():
        return bool(holder.start) and _start(holder.pid) == holder.start
    try:
        os.kill(holder.pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
