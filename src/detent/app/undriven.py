"""Runs that the machine drives and that no process drives now: they wait for somebody to continue them. Reads journal, locks and output; changes nothing."""

from datetime import UTC, datetime

from detent.app import App
from detent.app.executions import is_execution
from detent.app.live_log import driver_log, why_stopped
from detent.app.push import is_pushed
from detent.app.run_driver import driver_of
from detent.journal.journal import Head

SETTLES = 10.0  # seconds in which a process may still be starting: after an event, or after the page started one
ENDED = "The process that drove it has ended."


def nobody_drives(app: App, head: Head, held: frozenset[str] | None = None) -> str:
    """Why a run stands still that the machine is to drive; empty if somebody drives it, a person is asked, or it is a worker's to drive."""
    if head.ended or head.parent or is_execution(head.workflow) or driver_of(app, head.run, held):
        return ""
    if not is_pushed(app.door.load(head.run).run):
        return ""
    acting = app.door.acting(head.run)
    if app.door.tables[acting.workflow].states[acting.state].actor not in ("agent", "system"):
        return ""
    now = datetime.now(UTC)
    if (now - _started(app, head.run)).total_seconds() < SETTLES:
        return ""
    return why_stopped(app, head.run) or (ENDED if (now - datetime.fromisoformat(head.at)).total_seconds() >= SETTLES else "")


def _started(app: App, run: str) -> datetime:
    """When the page last started a process for a run; long ago if it never did."""
    try:
        return datetime.fromtimestamp(driver_log(app, run).stat().st_mtime, UTC)
    except OSError:
        return datetime.fromtimestamp(0, UTC)
