"""What a sandbox is: a room that a program may reach, and one way to run it there; and the plainest one, which isolates nothing.

As `none` a program has the rights of whoever started Detent; process.py ends what it leaves behind. As `outer` a person says that the
container or machine all of this runs in is the wall: it is run the same way, and recorded by that name.
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

    workspace: Path  # read and write, unless it is sealed; also the only project files it sees
    guarded: tuple[Path, ...] = ()  # inside the workspace, read-only, whether they exist or not: absence is protected too
    writable: tuple[Path, ...] = ()  # further folders it may write (a report folder, a cache)
    readable: tuple[Path, ...] = ()  # further folders it may read (configured mounts, a virtual environment, toolchains)
    network: bool = False
    sealed: bool = False  # the workspace is read-only, but for what of it is named as writable
    instead: tuple[tuple[Path, Path], ...] = ()  # further folders it may read, each seen at the place of another one


class ProcessLimits(NamedTuple):
    """The most that one command may use, with everything it starts."""

    memory: int = 8 << 30  # bytes
    cpus: int = 4
    processes: int = 2048  # threads count as well


def size(text: str) -> int:
    """Bytes of a size such as 512m or 8g."""
    unit = text[-1:].lower() if text[-1:].isalpha() else ""
    return int(text.removesuffix(text[-1:]) if unit else text) * UNITS[unit]


class Sandbox(Protocol):
    """A way to run programs in a room."""

    @property
    def name(self) -> str:
        """bubblewrap, podman, docker, outer or none: recorded in every verdict."""
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
        """Run a program to its end. OSError: it cannot be started. CannotTell: the isolation did not hold or could not be made."""
        ...


class Unisolated:
    """Runs programs as they are. `because` says why nothing better was chosen, if something better was asked for."""

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
