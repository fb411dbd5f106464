"""Limits on a program's processes, memory and CPU. Owns control groups and their removal; knows nothing of rooms.

A group is made below our own, or below the nearest parent that delegates controllers and that we may write. Without any, only memory is
limited, per process; `unheld` says so.
"""

import contextlib
import os
import resource
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import NamedTuple

from detent.sandbox.sandbox_protocol import ProcessLimits
from detent.storage.machine import has

GROUPS = Path("/sys/fs/cgroup")
PERIOD = 100_000  # microseconds, the kernel's default
_numbers = count(1)


class GroupPlace(NamedTuple):
    """A folder where groups can be made, and the controllers available there."""

    folder: Path
    controllers: frozenset[str]
    unified: bool


def find_places(root: Path = GROUPS, membership: Path = Path("/proc/self/cgroup")) -> tuple[GroupPlace, ...]:
    """Where groups can be made on this machine: at most one place per hierarchy that limits processes."""
    if root == GROUPS and not has("cgroups"):
        return ()
    try:
        lines = [line.split(":", 2) for line in membership.read_text().splitlines()]
    except OSError:
        return ()
    found = []
    for _, names, path in lines:
        if not names and (root / "cgroup.controllers").exists():
            found += _unified(root, path.lstrip("/"))
        elif "pids" in names.split(",") and _may_write(folder := root / names / path.lstrip("/")):
            found.append(GroupPlace(folder, frozenset({"pids"}), False))
    return tuple(found)


def _unified(root: Path, path: str) -> list[GroupPlace]:
    own = root / path
    for folder in (own, *own.parents):
        if not folder.is_relative_to(root):
            break
        with contextlib.suppress(OSError):
            passed_on = frozenset((folder / "cgroup.subtree_control").read_text().split())
            if "pids" in passed_on and _may_write(folder):
                return [GroupPlace(folder, passed_on, True)]
    return []


def _may_write(folder: Path) -> bool:
    return os.access(folder, os.W_OK) and os.access(folder / "cgroup.procs", os.W_OK)


def unheld(limits: ProcessLimits, places: tuple[GroupPlace, ...]) -> tuple[str, ...]:
    """The limits that cannot be enforced on this machine, one sentence each."""
    known = frozenset(name for place in places for name in place.controllers)
    table = (
        ("pids", "the number of processes is not limited: no control group can be made here"),
        ("memory", f"memory is limited to {limits.memory} bytes for each process, not for all of them together"),
        ("cpu", "the use of processors is not limited: no control group can be made here"),
    )
    return tuple(sentence for name, sentence in table if name not in known)


class ControlGroup:
    """The control groups of one run. The program joins before it starts, so whatever it starts is in them too."""

    def __init__(self, limits: ProcessLimits, places: tuple[GroupPlace, ...]) -> None:
        self.memory = None if any("memory" in place.controllers for place in places) else limits.memory
        self.folders = [_make(place, limits) for place in places]
        # Moving a single thread (`tasks`) avoids briefly blocking forks on the whole machine, about 10 ms; only old hierarchies allow it.
        names = ["cgroup.procs" if place.unified else "tasks" for place in places]
        self.doors = [os.open(folder / name, os.O_WRONLY | os.O_CLOEXEC) for folder, name in zip(self.folders, names, strict=True)]

    def join(self) -> None:
        """Called in the child before it becomes the program."""
        for door in self.doors:
            os.write(door, b"0")
        if self.memory is not None:
            hard = resource.getrlimit(resource.RLIMIT_DATA)[1]  # a lower hard limit of the machine stays, since it can only be lowered
            most = self.memory if hard == resource.RLIM_INFINITY else min(self.memory, hard)
            resource.setrlimit(resource.RLIMIT_DATA, (most, most))

    def hit(self) -> str:
        """The limit that was hit: "memory", "processes" or ""."""
        seen = {name: number for folder in self.folders for name, number in _events(folder)}
        return "memory" if seen.get("oom_kill") else "processes" if seen.get("max") else ""

    def close(self) -> None:
        for door in self.doors:
            os.close(door)
        for folder in self.folders:
            with contextlib.suppress(OSError):  # the next run removes what is left
                folder.rmdir()


def _make(place: GroupPlace, limits: ProcessLimits) -> Path:
    ours = f"detent-{os.stat('/proc/self/ns/pid').st_ino}"  # containers may share control groups but number their own processes
    for old in place.folder.glob(f"{ours}-*"):
        if not Path(f"/proc/{old.name.split('-')[2]}").exists():
            with contextlib.suppress(OSError):
                old.rmdir()
    folder = place.folder / f"{ours}-{os.getpid()}-{next(_numbers)}"
    folder.mkdir()
    for name, value in _values(place, limits):
        (folder / name).write_text(value)
    return folder


def _values(place: GroupPlace, limits: ProcessLimits) -> Iterator[tuple[str, str]]:
    yield "pids.max", str(limits.processes)
    if "memory" in place.controllers:
        yield "memory.max", str(limits.memory)
        yield "memory.oom.group", "1"
    if "cpu" in place.controllers:
        yield "cpu.max", f"{limits.cpus * PERIOD} {PERIOD}"


def _events(folder: Path) -> Iterator[tuple[str, int]]:
    """Counted events: refused forks, and processes killed for lack of memory."""
    for file, name in (("pids.events", "max"), ("memory.events", "oom_kill")):
        with contextlib.suppress(OSError):
            for line in (folder / file).read_text().splitlines():
                if line.startswith(name + " "):
                    yield name, int(line.split()[1])
