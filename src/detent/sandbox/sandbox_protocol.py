"""The protocol of sandboxes: a room that a program may reach, and one way to run it there; and the sandbox that isolates nothing.

It is named `none`, where a program has all permissions of whoever started Detent, or `outer`, where a person vouches that the surrounding
container or machine isolates. process.py kills what a program leaves behind in either case.
"""

import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from detent.sandbox.process import Ran, run

DEVNULL = Path(os.devnull)
UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


def always() -> bool:
    return True


class Room(NamedTuple):
    """What a program may reach."""

    workspace: Path  # read and write unless sealed; the only project files it sees
    guarded: tuple[Path, ...] = ()  # read-only paths in the workspace; those that do not exist cannot be created
    writable: tuple[Path, ...] = ()  # further writable folders (reports, caches)
    readable: tuple[Path, ...] = ()  # further readable folders (configured mounts, a virtual environment, toolchains)
    network: bool = False
    sealed: bool = False  # the workspace is read-only except for the `writable` parts
    instead: tuple[tuple[Path, Path], ...] = ()  # (folder, path at which it is seen), read-only


class ProcessLimits(NamedTuple):
    """The most that one command, with everything it starts, may use."""

    memory: int = 8 << 30  # bytes
    cpus: int = 4
    processes: int = 2048  # threads count as well


def size(text: str) -> int:
    """The bytes of a size such as 512m or 8g."""
    unit = text[-1:].lower() if text[-1:].isalpha() else ""
    return int(text.removesuffix(text[-1:]) if unit else text) * UNITS[unit]


class Sandbox(Protocol):
    """A way to run programs in a room."""

    @property
    def name(self) -> str:
        """bubblewrap, podman, docker, outer or none; recorded in every verdict."""
        ...

    def run(
        self,
        argv: Sequence[str],
        cwd: Path,
        env: Mapping[str, str],
        timeout: float,
        room: Room,
        wanted: Callable[[], bool] = always,
        stdin: Path = DEVNULL,
        stderr: int = subprocess.STDOUT,
        watch: Callable[[bytes], None] | None = None,
    ) -> Ran:
        """Run a program to its end. OSError: it cannot be started. CannotTell: the isolation could not be made or did not hold."""
        ...


class Unisolated:
    """Runs programs without isolation. `because` says why, if isolation was asked for."""

    def __init__(self, because: str = "", name: str = "none") -> None:
        self.because, self.name = because, name

    def run(
        self,
        argv: Sequence[str],
        cwd: Path,
        env: Mapping[str, str],
        timeout: float,
        room: Room,
        wanted: Callable[[], bool] = always,
        stdin: Path = DEVNULL,
        stderr: int = subprocess.STDOUT,
        watch: Callable[[bytes], None] | None = None,
    ) -> Ran:
        """Run a program; the room is not enforced."""
        return run(argv, cwd, env, timeout, wanted, stdin, stderr, watch)
