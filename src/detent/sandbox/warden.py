"""A warden between a program and a parent that may be killed at any moment: it then kills the program's whole process tree.

`python -I -m detent.sandbox.warden PROGRAM [ARGS]`. The kernel signals a process when its parent dies, but not the grandchildren, and a
daemon that left its session would live on. As a subreaper the warden adopts such orphans and finds them all.
"""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Sequence

from detent.sandbox.process import adopt_orphans, die_with_parent, end_descendants

ENDED = 128  # plus the signal's number, as in shells


def command(argv: Sequence[str]) -> list[str]:
    """The command that runs a program under a warden."""
    return [sys.executable, "-I", "-m", "detent.sandbox.warden", *argv]


def watch(argv: Sequence[str]) -> int:
    """Run the program and return its exit code. If our parent dies or we get SIGTERM, kill all of it."""

    def end(number: int, frame: object) -> None:
        end_descendants()
        os._exit(ENDED + number)

    signal.signal(signal.SIGTERM, end)
    adopt_orphans()
    parent = os.getppid()
    die_with_parent(signal.SIGTERM)
    if os.getppid() != parent:  # it died before we registered for its death
        return ENDED + signal.SIGTERM
    child = subprocess.Popen(argv, preexec_fn=lambda: die_with_parent(signal.SIGKILL))
    with contextlib.suppress(KeyboardInterrupt):
        child.wait()
    end_descendants()
    code = child.wait()
    return code if code >= 0 else ENDED - code


if __name__ == "__main__":
    sys.exit(watch(sys.argv[1:]))
