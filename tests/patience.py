"""How long tests wait for something. Only a fault waits that long: on a busy machine everything takes many times as long."""

import os
import time
from collections.abc import Callable
from pathlib import Path

BUSY = min(max(os.getloadavg()[0] / (os.cpu_count() or 1), 1.0), 2.0)  # runnable programs per core when the tests begin
LONG = 240.0 * BUSY  # seconds; pytest's own limit, for what hangs, is longer


def until(holds: Callable[[], object], what: str = "it never came about", seconds: float = LONG) -> None:
    """Wait until something holds; fail with `what` if it never does."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, what
        time.sleep(0.02)


def lives(pid: int) -> bool:
    """Whether a process runs and is no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False
