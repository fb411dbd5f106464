"""Locks that a killed git left behind. Git never removes them, so whatever they lock would stay locked for good.

A lock is taken away only if nobody can be holding it: it has lain there for a while, and no git that is as old is at work in this repository.
Where the system does not tell who is at work, it stays.
"""

import fcntl
import os
import re
import time
from pathlib import Path

from detent.git.place import Place
from detent.storage.machine import has

TOLD = re.compile(r"Unable to create '([^'\n]+\.lock)': File exists")
OLD = 3.0  # seconds; whoever has a lock has it for less, unless it was killed or is a git that can be seen
SLACK = 1.0  # seconds by which two clocks may differ
PATIENCE = 10.0  # seconds to wait for one that is held
PROCESSES = Path("/proc")


def freed(place: Place, said: str) -> bool:
    """Whether the lock that git complained about is out of the way: let go by who had it, or taken away."""
    told = TOLD.search(said)
    lock = Path(told[1]) if told else None
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
    """One at a time, so that nobody takes away what another has just made in its stead."""
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
    """Whether a git that is as old as the lock may be at work in this repository. One that cannot be looked at may be."""
    if (Path("/proc") == PROCESSES and not has("proc")) or not (PROCESSES / "uptime").exists():
        return True
    up = float((PROCESSES / "uptime").read_text().split()[0])
    return any(_is_at_work(process, place, up - age + SLACK) for process in PROCESSES.glob("[0-9]*"))


def _is_at_work(process: Path, place: Place, before: float) -> bool:
    """Whether a process is a git in this repository that began before a time, in seconds since the machine started."""
    try:
        name, _, rest = (process / "stat").read_text().rpartition(") ")
        state, began = rest.split()[0], int(rest.split()[19]) / os.sysconf("SC_CLK_TCK")
        if not name.partition("(")[2].startswith("git") or state == "Z" or began > before:
            return False
        where = Path(os.readlink(process / "cwd"))
        told = [os.fsdecode(v[8:]) for v in (process / "environ").read_bytes().split(b"\0") if v.startswith(b"GIT_DIR=")]
    except (FileNotFoundError, ProcessLookupError):
        return False  # it has ended
    except OSError:
        return True
    folders = (place.root.resolve(), place.git_dir.resolve(), place.common_dir.resolve())
    return any((where / each).resolve().is_relative_to(folder) for each in (".", *told) for folder in folders)
