"""What only some systems have, asked in one place: bubblewrap, /proc, control groups, openat2, prctl. What lacks one does without, and `WEAKER`
says what is weaker then.

For tests all of it can be hidden: DETENT_TEST_WITHOUT=linux, or names of this table. Only a checkout of Detent itself listens to that; an
installed one does not, and whoever looks for an agent above a process never does (app/speaker.py).
"""

import os
import sys
from functools import cache
from pathlib import Path

SWITCH = "DETENT_TEST_WITHOUT"
WEAKER = {  # what is weaker on a machine that has it not
    "bubblewrap": "no bubblewrap: agents that Detent drives need another sandbox, and tests of your own agent's work run unisolated",
    "proc": "no /proc: what a program leaves running in a session of its own is not found, and an agent's shell is known by its variables alone",
    "cgroups": "no control groups: limits on memory and processes are not enforced",
    "openat2": "no openat2: a path is opened folder by folder, which is slower and as safe",
    "prctl": "no prctl: programs are not ended by the kernel when Detent is killed, and its memory is not closed to other programs of yours",
}


@cache
def has(name: str) -> bool:
    """Whether this machine has something of the table, and it is not hidden."""
    return name not in hidden() and THERE[name]()


@cache
def hidden() -> frozenset[str]:
    """What a run of Detent's own tests hides."""
    words = frozenset(os.environ.get(SWITCH, "").replace(",", " ").split())
    if not words or not (Path(__file__).resolve().parents[3] / "tests" / "test_house.py").is_file():
        return frozenset()
    return frozenset(WEAKER) if "linux" in words else words & frozenset(WEAKER)


def lacking() -> tuple[str, ...]:
    """What is weaker on this machine, a sentence each."""
    return tuple(sentence for name, sentence in WEAKER.items() if not has(name))


def path_of(fd: int) -> str:
    """Where an open file lies now, links resolved; empty where the system does not say."""
    if has("proc"):
        return os.path.realpath(f"/proc/self/fd/{fd}")
    import fcntl

    where = getattr(fcntl, "F_GETPATH", 0)  # of macOS
    if not where:
        return ""
    return os.fsdecode(fcntl.fcntl(fd, where, b"\0" * 1024).rstrip(b"\0"))


def _linux() -> bool:
    return sys.platform == "linux"


def _bubblewrap() -> bool:
    return _linux() and any(os.access(f"{folder}/bwrap", os.X_OK) for folder in ("/usr/bin", "/bin", "/usr/local/bin", "/run/wrappers/bin"))


THERE = {
    "bubblewrap": _bubblewrap,
    "proc": lambda: os.path.exists("/proc/self/stat"),
    "cgroups": lambda: os.path.isdir("/sys/fs/cgroup") and os.path.exists("/proc/self/cgroup"),
    "openat2": _linux,
    "prctl": _linux,
}
