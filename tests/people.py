"""A person at a terminal of their own, for tests: a real terminal, no marks of agents, and no agent among the processes above.

Where the machine has no terminals, files take its place: what people say is tested there too, and only how a terminal shows it is not.
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
)  # what only a person may say, and was not said by one


def at_a_terminal(args: list[str], cwd: Path, env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Run `detent` with a terminal as input and output, cut loose from the processes above this one."""
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
    """Everything that comes, until the other end is closed by all who had it."""
    parts = []
    try:
        while part := os.read(fd, 65536):
            parts.append(part)
    except OSError:  # how a terminal says that nobody has its other end any more
        pass
    os.close(fd)
    return b"".join(parts).decode("utf-8", "replace")
