"""A program of our own that outlives whoever starts it: a driver of a run. What it writes goes to a file; its end is awaited, so that nothing is left of it."""

import os
import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path


def start_detached(argv: Sequence[str], cwd: Path, env: Mapping[str, str], log: Path) -> int:
    """Start it in a session of its own, without input; its process id."""
    log.parent.mkdir(parents=True, exist_ok=True)
    fd = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        child = subprocess.Popen(argv, cwd=cwd, env=dict(env), stdin=subprocess.DEVNULL, stdout=fd, stderr=fd, start_new_session=True)
    finally:
        os.close(fd)
    threading.Thread(target=child.wait, daemon=True).start()
    return child.pid
