"""No isolation by us: the program has the rights of whoever started Detent. Owns nothing; process.py ends what it leaves behind.

As `outer` a person says that the container or machine all of this runs in is the wall. It is run the same way and recorded by that name.
"""

import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from detent.sandbox.process import Ran, run
from detent.sandbox.sandbox_protocol import DEVNULL, Room, always


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
