"""A person at a terminal of their own, for tests: a real terminal, no marks of agents, and no agent among the processes above."""

import os
import re
import subprocess
import tempfile
import tty
from collections.abc import Mapping
from pathlib import Path

from detent.app.speaker import marked
from tests.machine import need

REFUSED = re.compile("is for a person to say, and|to accept this is for a person")  # what only a person may say, and was not said by one


def without_marks(env: Mapping[str, str]) -> dict[str, str]:
    """An environment in which no client says that its shell belongs to an agent."""
    left = dict(env)
    while mark := marked(left):
        del left[mark]
    return left


def at_a_terminal(argv: list[str], cwd: Path, env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a program with a terminal as input and output, cut loose from the processes above this one."""
    need("terminals")
    ours, theirs = os.openpty()
    tty.setraw(theirs)
    told, tells = os.pipe()
    with tempfile.TemporaryFile() as errors:
        words = ["setsid", "--fork", "sh", "-c", f'"$@"; echo $? >/proc/self/fd/{tells}', "sh", *argv]
        subprocess.run(words, cwd=cwd, env=without_marks(env), stdin=theirs, stdout=theirs, stderr=errors, pass_fds=(tells,), check=True)
        os.close(tells)
        os.close(theirs)
        out = _all_of(ours)
        code = int(_all_of(told))
        errors.seek(0)
        err = errors.read().decode("utf-8", "replace")
    return subprocess.CompletedProcess(argv, code, out, err)


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
