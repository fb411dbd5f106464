"""No isolation: the program has the rights of whoever started Detent. Owns nothing; process.py ends what it leaves behind."""

import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from detent.sandbox.process import Ran, run
from detent.sandbox.protocol import DEVNULL, Room, always


class Unisolated:
    """Runs programs as they are. `because` says why nothing better was chosen, if something better was asked for."""

    name = "none"

    def __init__(self, because: str = "") -> None:
        self.because = because

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
