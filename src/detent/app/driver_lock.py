"""The lock of a run's driver: who holds it drives the run, and only one process can. Knows nothing of driving.

A process that is about to be started inherits the lock as its standard input, so that the run has a driver from before that process exists.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from detent.app import App, now
from detent.errors import Busy
from detent.storage.machine import has


def lock_file(app: App, run: str) -> Path:
    return app.place.common_dir / "detent" / f"drive-{run}.lock"


def locks_held() -> frozenset[str]:
    """The flock-ed files of this machine, as /proc/locks names them."""
    if not has("proc"):
        return frozenset()
    try:
        lines = [line.split() for line in Path("/proc/locks").read_text().splitlines()]
    except OSError:
        return frozenset()
    return frozenset(words[5] for words in lines if len(words) > 5 and words[1] == "FLOCK")


def driver_of(app: App, run: str, held: frozenset[str] | None = None) -> str:
    """Which process drives a run, and since when; empty if none. Reads the kernel's list of locks, and never takes the lock.

    Without /proc, the process whose id is in the lock file, if it exists.
    """
    file = lock_file(app, run)
    try:
        if not has("proc"):
            return holder if _is_there((holder := file.read_text()).partition(" ")[0]) else ""
        seen = file.stat()
        name = f"{os.major(seen.st_dev):02x}:{os.minor(seen.st_dev):02x}:{seen.st_ino}"
        return (file.read_text() or "?") if name in (locks_held() if held is None else held) else ""
    except OSError:
        return ""


def _is_there(number: str) -> bool:
    try:
        os.kill(int(number), 0)
    except (ValueError, ProcessLookupError):
        return False
    except PermissionError:
        pass  # of another user
    return True


def was_driven(app: App, run: str) -> bool:
    """Whether a process has ever held the lock."""
    return lock_file(app, run).exists()


@contextmanager
def only_driver(app: App, run: str) -> Iterator[None]:
    """Hold the driver lock of a run, which the kernel releases with the process. Its file stays: a removed one could be held twice."""
    with _inherited(lock_file(app, run)) or _opened(lock_file(app, run)) as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as e:
            lock.seek(0)
            raise Busy(f"run {run} is being driven by process {lock.read().strip() or '?'}", "wait for it, or stop it first") from e
        _sign(lock, os.getpid())
        try:
            yield
        finally:
            lock.truncate(0)  # without /proc, a process id in the file would mean a driver


@contextmanager
def held_for_another(app: App, run: str) -> Iterator[TextIO | None]:
    """Hold the driver lock for a process that is started next; None if the run is driven already. See `hand_over`."""
    with _opened(lock_file(app, run)) as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield None
            return
        _sign(lock, os.getpid())
        try:
            yield lock
        finally:
            if _signed(lock) == str(os.getpid()):  # nobody was started
                lock.truncate(0)


def hand_over(lock: TextIO, process: int) -> None:
    """Sign the lock for the process that inherited it, unless it has done so itself or is gone."""
    if _signed(lock) == str(os.getpid()):
        _sign(lock, process)


def _opened(file: Path) -> TextIO:
    file.parent.mkdir(exist_ok=True)  # may be missing where the journal is in a database
    return file.open("a+")


def _inherited(file: Path) -> TextIO | None:
    """The lock that this process got as its standard input, which is empty from then on; None if it got none."""
    with suppress(OSError):
        if os.path.samestat(os.fstat(0), file.stat()):
            lock = os.fdopen(os.dup(0), "a+")  # a duplicate is not inherited by what this process starts
            with open(os.devnull) as nothing:
                os.dup2(nothing.fileno(), 0)
            return lock
    return None


def _sign(lock: TextIO, process: int) -> None:
    lock.truncate(0)
    lock.write(f"{process} since {now()}")
    lock.flush()


def _signed(lock: TextIO) -> str:
    lock.seek(0)
    return lock.read().partition(" ")[0]
