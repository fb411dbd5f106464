"""How long tests wait for what must come about. Only a fault waits that long: on a busy machine everything takes many times as long."""

import os
import time
from collections.abc import Callable
from pathlib import Path

BUSY = min(max(os.getloadavg()[0] / (os.cpu_count() or 1), 1.0), 2.0)  # programs that want each core, as the tests begin
LONG = 240.0 * BUSY  # for another process to do something; pytest's own limit, for what hangs, is longer


def until(holds: Callable[[], object], what: str = "it never came about", seconds: float = LONG) -> None:
    """Wait until something holds; a test that waits in vain fails, saying what for."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, what
        time.sleep(0.02)


def lives(pid: int) -> bool:
    """Whether a process runs: one that has ended and was not waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False
