"""What a sandbox is: a room that a program may reach, and one way to run it there. Owns the form only; knows no program that isolates."""

import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from detent.sandbox.process import Ran

DEVNULL = Path(os.devnull)


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
