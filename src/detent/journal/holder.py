"""The holder of a claim: a process, identified so that a later one with the same pid is not mistaken for it. Knows no journal."""

import os
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path

from detent.kernel.model import Value
from detent.storage.machine import has


class Holder(Value, frozen=True, omit_defaults=False):
    """A process by machine, boot, pid and start time. The host name alone is not enough: containers and cloned machines share it."""

    pid: int
    start: str
    boot: str
    host: str
    since: str = ""
    doing: str = ""
    machine: str = ""  # empty if unknown, or in rows written before this field existed
    space: str = ""  # the pid namespace: a container numbers its own processes


@cache
def boot_id() -> str:
    """The id of the machine's current boot; empty if the system has none."""
    return _read_or_empty(Path("/proc/sys/kernel/random/boot_id").read_text)


@cache
def _machine() -> str:
    return _read_or_empty(Path("/etc/machine-id").read_text) or _read_or_empty(Path("/var/lib/dbus/machine-id").read_text)


def _space() -> str:
    return _read_or_empty(lambda: os.readlink("/proc/self/ns/pid"))


def _read_or_empty(ask: Callable[[], str]) -> str:
    """What the system reports; empty if it reports nothing, or no text."""
    try:
        return ask().strip()
    except (OSError, ValueError):
        return ""


def _start(pid: int) -> str:
    """When a process started, in clock ticks since boot; empty if it is gone or this is unknown."""
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
    """Whether the holder's process would be visible from here: same machine, same boot, same pid namespace."""
    return _same_machine(holder) and holder.boot == boot_id()


def _same_machine(holder: Holder) -> bool:
    same = holder.machine in ("", _machine()) and holder.space in ("", _space())
    return holder.host == os.uname().nodename and same


def is_alive(holder: Holder) -> bool:
    """Whether the holder may still be working. One on another machine counts as alive, since only that machine can tell."""
    if not _same_machine(holder):
        return True
    if holder.boot != boot_id():
        return False
    if has("proc"):
        return bool(holder.start) and _start(holder.pid) == holder.start
    try:
        with suppress(PermissionError):  # it exists, but belongs to another user
            os.kill(holder.pid, 0)
    except ProcessLookupError:
        return False
    return True
