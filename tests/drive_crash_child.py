"""One process that drives a feature of several cycles through the real machine, and can be killed at any point.

Called as `python -m tests.drive_crash_child FOLDER AGENT REQUEST [POINT]`: starts the run, or continues it. There is a point before and after
every journal write, effect, job, git call, agent turn and test run; at POINT the process kills itself. Without POINT it runs to the end
and prints how many points it passed.
"""

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from detent.app import App, open_app
from detent.app.driver_lock import only_driver
from detent.app.run_driver import driver
from detent.blocks.terms import Terms
from detent.door import AnyRun
from detent.git.repo import Git, Out
from detent.kernel.model import Sent
from detent.workflows.tdd.tdd_start import start_tdd
from detent.world.work_tree import RepoWorld
from tests.real_crash_child import Fragile, Points

POINTS = Points(0)


class FragileGit(Git):
    """git with a point before and after each call."""

    def call(
        self, *args: str, stdin: bytes = b"", index: Path | None = None, also: Mapping[str, str] | None = None, timeout: float = 300
    ) -> Out:
        POINTS()
        out = super().call(*args, stdin=stdin, index=index, also=also, timeout=timeout)
        POINTS()
        return out


def fragile(folder: Path) -> App:
    """The real app, with points around everything it does to the world."""
    app = open_app(folder, create=True)
    worlds: Any = app.worlds
    of = worlds.of
    app.world.git = worlds.git = FragileGit(app.place, os.environ)

    def world_of(run: AnyRun) -> RepoWorld:
        POINTS()
        world: RepoWorld = of(run)
        if not isinstance(world.git, FragileGit):
            world.git = FragileGit(world.place, os.environ)
        POINTS()
        return world

    worlds.of = world_of
    journal = Fragile(app.journal, ("append", "settled", "claim", "release"), POINTS)
    app.door.journal, app.door.world = journal, Fragile(worlds, ("settle", "perform"), POINTS)
    app.door.judge = Fragile(worlds, ("judge",), POINTS)
    return app


def main() -> None:
    folder, agent, request = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    POINTS.die_at = int(sys.argv[4]) if len(sys.argv) > 4 else 0
    os.chdir(folder)
    app = fragile(folder)
    head = app.current() or app.newest()
    run = head.run if head else start_tdd(app, Sent("start", by="human"), Terms(request, agent=agent))
    made = driver(app, run, lambda seen: None)
    made.turns.ask = POINTS.around(made.turns.ask)  # type: ignore[method-assign]  # the process can be killed around every call
    with only_driver(app, run):
        briefing = made.drive(run)
        if briefing.actor == "none":
            app.worlds.leave(app.door.load(run).run)
    print(json.dumps({"points": POINTS.passed, "state": app.door.load(run).run.state}))


if __name__ == "__main__":
    main()
