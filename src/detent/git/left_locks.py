"""Locks that a killed git left behind. Git never removes them, so what they lock would stay locked forever.

A lock is removed only if nobody can hold it: it is old enough, and no git of that age is running in this repository. Where processes cannot
be inspected, it stays.
"""

import fcntl
import os
import re
import time
from pathlib import Path

from detent.git.place import Place
from detent.storage.machine import has

LOCK_EXISTS = re.compile(r"Unable to create '([^'\n]+\.lock)': File exists")
OLD = 3.0  # seconds; an older lock is held only by a git that is visible, or by none
SLACK = 1.0  # seconds by which two clocks may differ
PATIENCE = 10.0  # seconds to wait for a lock that is held
PROCESSES = Path("/proc")


def freed(place: Place, message: str) -> bool:
    """Whether the lock that git complained about is gone now: released by its holder, or removed as abandoned."""
    match = LOCK_EXISTS.search(message)
    lock = Path(match[1]) if match else None
    if lock is None or not any(lock.is_relative_to(folder) for folder in (place.git_dir, place.common_dir)):
        return False
    end = time.monotonic() + PATIENCE
    while lock.exists():
        if _take_away(place, lock):
            return True
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


def _take_away(place: Place, lock: Path) -> bool:
    """Remove an abandoned lock; one process at a time, so that none removes a lock that was just created."""
    folder = place.common_dir / "detent"
    folder.mkdir(exist_ok=True)
    with (folder / "left.lock").open("w") as ours:
        fcntl.flock(ours, fcntl.LOCK_EX)
        try:
            age = time.time() - lock.lstat().st_mtime
        except OSError:
            return True
        if age < OLD or _is_held(place, age):
            return False
        lock.unlink(missing_ok=True)
        return True


def _is_held(place: Place, age: float) -> bool:
    """Whether a git as old as the lock may be running in this repository. A process that cannot be inspected counts as one."""
    if (Path("/proc") == PROCESSES and not has("proc")) or not (PROCESSES / "uptime").exists():
        return True
    up = float((PROCESSES / "uptime").read_text().split()[0])
    return any(_is_at_work(process, place, up - age + SLACK) for process in PROCESSES.glob("[0-9]*"))


def _is_at_work(process: Path, place: Place, before: float) -> bool:
    """Whether a process is a git in this repository that started before `before`, in seconds since boot."""
    try:
        name, _, rest = (process / "stat").read_text().rpartition(") ")
        state, began = rest.split()[0], int(rest.split()[19]) / os.sysconf("SC_CLK_TCK")
        if not name.partition("(")[2].startswith("git") or state == "Z" or began > before:
            return False
        where = Path(os.readlink(process / "cwd"))
        git_dirs = [os.fsdecode(v[8:]) for v in (process / "environ").read_bytes().split(b"\0") if v.startswith(b"GIT_DIR=")]
    except (FileNotFoundError, ProcessLookupError):
        return False  # it has ended
    except OSError:
        return True
    folders = (place.root.resolve(), place.git_dir.resolve(), place.common_dir.resolve())
    return any((where / each).resolve().is_relative_to(folder) for each in (".", *git_dirs) for folder in folders)
