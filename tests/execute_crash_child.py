"""One process that drives an execution through the real machine, and can be killed at any point.

Called as `python -m tests.execute_crash_child FOLDER AGENT ITEM [POINT]`. The points are those of drive_crash_child, and every tracker call.
"""

import json
import os
import sys
from pathlib import Path

from detent.app.driver_lock import only_driver
from detent.app.run_driver import driver
from detent.blocks.terms import Terms
from detent.door import AnyRun
from detent.kernel.model import Sent
from detent.workflows.execute.execute_start import starter
from detent.world.known_runs import RunConfig
from tests.drive_crash_child import POINTS, fragile
from tests.real_crash_child import Fragile


def main() -> None:
    folder, agent, item = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    POINTS.die_at = int(sys.argv[4]) if len(sys.argv) > 4 else 0
    os.chdir(folder)
    app = fragile(folder)
    config_of = app.world.config_of

    def fragile_kit(run: AnyRun) -> RunConfig:
        config: RunConfig = config_of(run)
        return config._replace(tracker=lambda: Fragile(config.tracker(), ("items", "add", "claim", "change", "sync"), POINTS))

    app.world.config_of = fragile_kit
    known = app.journal.heads("execute-it-1-1")
    run = known[0].run if known else starter(app, Sent("start", by="human"), Terms(agent=agent))(item)
    made = driver(app, run, lambda seen: None)
    made.turns.ask = POINTS.around(made.turns.ask)  # type: ignore[method-assign]  # the process can be killed around every call
    with only_driver(app, run):
        briefing = made.drive(run)
        if briefing.actor == "none":
            app.worlds.leave(app.door.load(run).run)
    print(json.dumps({"points": POINTS.passed, "state": app.door.load(run).run.state}))


if __name__ == "__main__":
    main()
