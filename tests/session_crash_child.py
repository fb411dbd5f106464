"""One process that drives a session through the real machine, and can be killed at any point.

Called as `python -m tests.session_crash_child FOLDER AGENT full|lean|rough|rough-lean|asked|say [POINT]`. The points are those of
drive_crash_child; in a `rough` session, where a person answers and resumes whatever comes up, they are its events and agent turns.
`asked` has no policies, so it waits at the first question; `say` answers it as a person, if it is still open.
"""

import json
import os
import sys
from pathlib import Path

from detent.app import App, open_app
from detent.app.driver_lock import only_driver
from detent.app.run_driver import driver
from detent.blocks.terms import Terms
from detent.gates.human import pending
from detent.kernel.model import Sent
from detent.workflows.pipeline.pipeline_start import start_pipeline
from tests.drive_crash_child import POINTS, fragile
from tests.real_crash_child import Fragile
from tests.sessions import REQUEST, YES


def main() -> None:
    folder, agent, mode = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    POINTS.die_at = int(sys.argv[4]) if len(sys.argv) > 4 else 0
    os.chdir(folder)
    app = at_events(folder) if mode.startswith("rough") else fragile(folder)
    head = app.current() or app.newest()
    terms = Terms(REQUEST, agent=agent, lean=mode.endswith("lean"), policies=YES if mode in ("full", "lean") else {})
    run = head.run if head else start_pipeline(app, Sent("start", by="human"), terms)
    if mode == "say":
        say(app, run)
        return
    made = driver(app, run, lambda seen: None)
    made.turns.ask = POINTS.around(made.turns.ask)  # type: ignore[method-assign]  # the process can be killed around every call
    with only_driver(app, run):
        while (briefing := made.drive(run)).actor == "human" and mode.startswith("rough"):
            attend(app, run)
        if briefing.actor == "none":
            app.worlds.leave(app.door.load(run).run)
    print(json.dumps({"points": POINTS.passed, "state": app.door.load(run).run.state}))


def at_events(folder: Path) -> App:
    """The real app, with a point before and after every event."""
    app = open_app(folder, create=True)
    app.door.journal = Fragile(app.journal, ("append",), POINTS)
    return app


def attend(app: App, run: str) -> None:
    """A person who answers the current question: the first design is sent back once, and a blocked run is resumed."""
    acting = app.door.acting(run)
    asked = pending(acting.data)
    if acting.state == "BLOCKED" or asked is None:
        app.door.submit(acting.id, Sent("resume", by="human", channel="terminal"))
        return
    to, value = "", {"approval": "approved", "strategy": "per-batch", "notes": "accept"}.get(asked.kind, "in cents")
    if asked.kind == "approval" and acting.data.correction == "none":
        to, value = "architecture", "changes-requested: name the risks"
    app.door.submit(acting.id, Sent("answer", by="human", channel="terminal", decision=asked.decision_id, value=value, to=to))


def say(app: App, run: str) -> None:
    """Answer the open question, unless an earlier, killed process did."""
    asked = pending(app.door.load(run).run.data)
    if asked is not None:
        app.door.submit(run, Sent("answer", by="human", channel="terminal", decision=asked.decision_id, value=asked.options[0]))
    print(json.dumps({"points": POINTS.passed, "state": app.door.load(run).run.state}))


if __name__ == "__main__":
    main()
