"""Who holds a claim: a process, named so that a later one with the same number is not taken for it. Knows no journal."""

import os
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path

from detent.kernel.model import Value
from detent.storage.machine import has


class Holder(Value, frozen=True, omit_defaults=False):
    """A process by machine, boot, number and start time. A host's name alone names no machine: containers and copies of one share it."""

    pid: int
    start: str
    boot: str
    host: str
    since: str = ""
    doing: str = ""
    machine: str = ""  # empty where it is not known, as in rows that were written before it was kept
    space: str = ""  # which processes are numbered together: a container numbers its own


@cache
def boot_id() -> str:
    """What names the time since this machine was started; empty where the system does not say."""
    return _told(Path("/proc/sys/kernel/random/boot_id").read_text)


@cache
def _machine() -> str:
    return _told(Path("/etc/machine-id").read_text) or _told(Path("/var/lib/dbus/machine-id").read_text)


def _space() -> str:
    return _told(lambda: os.readlink("/proc/self/ns/pid"))


def _told(ask: Callable[[], str]) -> str:
    """What the system says of itself; empty where it does not, or not in text."""
    try:
        return ask().strip()
    except (OSError, ValueError):
        return ""


def _start(pid: int) -> str:
    """When a process started, in the kernel's own count; empty if there is no such process (or no way to know)."""
    if not has("proc"):
        return ""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("ascii", "replace")
    except OSError:
        return ""
    fields = stat.rpartition(")")[2].split()
    return "" if fields[0] in "ZX" else fields[19]


def this_process(since: str, doing: str) -> Holder:
    pid = os.getpid()
    return Holder(pid, _start(pid), boot_id(), os.uname().nodename, since, doing, _machine(), _space())


def is_here(holder: Holder) -> bool:
    """Whether the holder's process would be seen from here: on this machine since it started last, and numbered as ours are."""
    return _same_machine(holder) and holder.boot == boot_id()


def _same_machine(holder: Holder) -> bool:
    same = holder.machine in ("", _machine()) and holder.space in ("", _space())
    return holder.host == os.uname().nodename and same


def is_alive(holder: Holder) -> bool:
    """Whether the holder may still be at work. One on another machine counts as alive: only its own machine can tell."""
    if not _same_machine(holder):
        return True
    if holder.boot != boot_id():
        return False
    if has("proc"):
        return bool(holder.start) and _start(holder.pid) == holder.start
    try:
        with suppress(PermissionError):  # it is there, and another user's
            os.kill(holder.pid, 0)
    except ProcessLookupError:
        return False
    return True
