"""The cost of isolation: starting `true` inside bubblewrap, minus starting it directly."""

import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path

from bench import Figure
from detent.sandbox import Room, Sandbox, choose

ENV = {"PATH": "/usr/bin:/bin"}


def started(sandbox: Sandbox, folder: Path) -> Callable[[], float]:
    def once() -> float:
        begun = time.perf_counter()
        sandbox.run(["true"], folder, ENV, 30, Room(folder, (folder / "absent",)))
        return time.perf_counter() - begun

    return once


def starting(folder: Path) -> Figure:
    """Alternating, so that noise affects both; with one guarded path, as in real use."""
    inside, plain = (started(choose(level, os.environ), folder) for level in ("bubblewrap", "none"))
    pairs = [(inside(), plain()) for _ in range(60)]
    more = statistics.median(a for a, _ in pairs) - statistics.median(b for _, b in pairs)
    return Figure("start `true` inside, less plainly", more, "12 ms", 0.012, 1.0)
