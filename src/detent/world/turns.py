"""The turn that is going on: a lock that its driver holds while an agent works, so that others can wait until it has ended. Knows no agent."""

import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from detent.errors import DetentError

PATIENCE = 60.0  # seconds; a driver looks about once a second whether its turn is still wanted
LOOK = 0.05


def _file(common: Path, run: str) -> Path:
    return common / "detent" / f"turn-{run}.lock"


@contextmanager
def turn(common: Path, run: str) -> Iterator[None]:
    """Hold the turn. It goes with the process, as the agent does."""
    with _file(common, run).open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def wait_for_end(common: Path, run: str) -> None:
    """Wait until no agent works for a run any more. DetentError if its driver does not hear."""
    file, end = _file(common, run), time.monotonic() + PATIENCE
    if not file.exists():
        return
    with file.open("a") as lock:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                if time.monotonic() > end:
                    raise DetentError(
                        f"the agent of {run} is still at work", "its driver stops it as soon as it can; check again"
                    ) from None
                time.sleep(LOOK)
