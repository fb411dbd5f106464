"""System features that not every machine has: bubblewrap, /proc, control groups, openat2, prctl. `WEAKER` says what is weaker without each.

Tests can hide them: DETENT_TEST_WITHOUT=linux, or names from this table. Only a checkout of Detent obeys that variable, an installed one
does not; the search for an agent among the parent processes never does (app/speaker.py).
"""

import os
import sys
from functools import cache
from pathlib import Path

SWITCH = "DETENT_TEST_WITHOUT"
WEAKER = {  # what is weaker on a machine without it
    "bubblewrap": "no bubblewrap: agents that Detent drives need another sandbox, and tests of your own agent's work run unisolated",
    "proc": "no /proc: what a program leaves running in a session of its own is not found, and an agent's shell is known by its variables alone",
    "cgroups": "no control groups: limits on memory and processes are not enforced",
    "openat2": "no openat2: a path is opened folder by folder, which is slower and as safe",
    "prctl": "no prctl: programs are not ended by the kernel when Detent is killed, and its memory is not closed to other programs of yours",
}


@cache
def has(name: str) -> bool:
    """Whether this machine has a feature, and it is not hidden."""
    return name not in hidden() and THERE[name]()


@cache
def hidden() -> frozenset[str]:
    """The features that Detent's own tests hide."""
    words = frozenset(os.environ.get(SWITCH, "").replace(",", " ").split())
    if not words or not (Path(__file__).resolve().parents[3] / "tests" / "test_house.py").is_file():
        return frozenset()
    return frozenset(WEAKER) if "linux" in words else words & frozenset(WEAKER)


def lacking() -> tuple[str, ...]:
    """What is weaker on this machine, one sentence each."""
    return tuple(sentence for name, sentence in WEAKER.items() if not has(name))


def path_of(fd: int) -> str:
    """The current path of an open file, symlinks resolved; empty if the system does not say."""
    if has("proc"):
        return os.path.realpath(f"/proc/self/fd/{fd}")
    import fcntl

    where = getattr(fcntl, "F_GETPATH", 0)  # macOS
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
