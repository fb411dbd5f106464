"""A warden: stands between a process that may be killed at any moment and a program, and ends the program's whole tree when that happens.

`python -I -m detent.sandbox.warden PROGRAM [ARGS]`. The kernel tells a process of its parent's death, but not its grandchildren; a
daemon that left its session would live on. The warden is the parent of whatever its descendants leave behind, so it finds them all.
"""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Sequence

from detent.sandbox.process import adopt_orphans, die_with_parent, end_descendants

ENDED = 128  # plus the number of the signal, as shells say it


def command(argv: Sequence[str]) -> list[str]:
    """A program's words, under a warden."""
    return [sys.executable, "-I", "-m", "detent.sandbox.warden", *argv]


def watch(argv: Sequence[str]) -> int:
    """Run the program; its exit code. If our own parent dies, or asks us to end, all of it ends."""

    def end(number: int, frame: object) -> None:
        end_descendants()
        os._exit(ENDED + number)

    signal.signal(signal.SIGTERM, end)
    adopt_orphans()
    parent = os.getppid()
    die_with_parent(signal.SIGTERM)
    if os.getppid() != parent:  # it died before we asked to be told
        return ENDED + signal.SIGTERM
    child = subprocess.Popen(argv, preexec_fn=lambda: die_with_parent(signal.SIGKILL))
    with contextlib.suppress(KeyboardInterrupt):
        child.wait()
    end_descendants()
    code = child.wait()
    return code if code >= 0 else ENDED - code


if __name__ == "__main__":
    sys.exit(watch(sys.argv[1:]))
