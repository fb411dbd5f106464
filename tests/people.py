"""A person at a terminal: a real terminal, no environment marks of agents, and no agent among the parent processes.

Without terminals on the machine, files take their place: then everything is tested except how a terminal shows it.
"""

import os
import re
import subprocess
import tempfile
import tty
from collections.abc import Mapping
from pathlib import Path

from tests import warm
from tests.machine import lacks

REFUSED = re.compile(
    "only a person may do this, but|only a person at a terminal may accept this"
)  # the refusal of what only a person may say


def at_a_terminal(args: list[str], cwd: Path, env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Run `detent` with a terminal as input and output, detached from this process."""
    if lacks("terminals"):
        return warm.run(args, cwd, warm.without_marks(env), terminal=True)
    ours, theirs = os.openpty()
    tty.setraw(theirs)
    with tempfile.TemporaryFile() as errors:
        told = warm.begin(args, cwd, warm.without_marks(env), (theirs, theirs, errors.fileno()))
        os.close(theirs)
        out = _all_of(ours)
        code = warm.ended(told)
        errors.seek(0)
        err = errors.read().decode("utf-8", "replace")
    return subprocess.CompletedProcess(["detent", *args], code, out, err)


def _all_of(fd: int) -> str:
    """Everything until the other end is closed."""
    parts = []
    try:
        while part := os.read(fd, 65536):
            parts.append(part)
    except OSError:  # how a terminal reports that its other end is closed
        pass
    os.close(fd)
    return b"".join(parts).decode("utf-8", "replace")
