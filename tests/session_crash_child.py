"""One process that drives a session through the real machine, and can be killed at any point of it.

Called as `python -m tests.session_crash_child FOLDER AGENT full|lean|asked|say [POINT]`. The points are those of drive_crash_child. `asked` has
no policies, so it waits at the first question; `say` is the person who answers it, if it is still open.
"""

import json
import os
import sys
from pathlib import Path

from detent.app import App
from detent.app.crew import crew_of, only_driver
from detent.app.fit import Terms
from detent.app.start_pipeline import start_pipeline
from detent.drive import drive
from detent.gates.human import pending
from detent.kernel.model import Sent
from tests.drive_crash_child import POINTS, fragile
from tests.sessions import REQUEST, YES


def main() -> None:
    folder, agent, mode = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    POINTS.die_at = int(sys.argv[4]) if len(sys.argv) > 4 else 0
    os.chdir(folder)
    app = fragile(folder)
    head = app.current() or app.newest()
    terms = Terms(REQUEST, agent=agent, lean=mode == "lean", policies={} if mode == "asked" else YES)
    run = head.run if head else start_pipeline(app, Sent("start", by="human"), terms)
    if mode == "say":
        say(app, run)
        return
    crew = crew_of(app, run, lambda seen: None)
    with only_driver(app, run):
        briefing = drive(run, crew._replace(ask=POINTS.around(crew.ask)))
        if briefing.actor == "none":
            app.worlds.leave(app.door.load(run).run)
    print(json.dumps({"points": POINTS.passed, "state": app.door.load(run).run.state}))


def say(app: App, run: str) -> None:
    """Answer what is asked; whoever was cut off looks first whether it still is."""
    asked = pending(app.door.load(run).run.data)
    if asked is not None:
        app.door.submit(run, Sent("answer", by="human", channel="terminal", decision=asked.decision_id, value=asked.options[0]))
    print(json.dumps({"points": POINTS.passed, "state": app.door.load(run).run.state}))


if __name__ == "__main__":
    main()
