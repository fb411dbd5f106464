"""When an execution is over before its agent says so: its time is up, or its inner run has given up. Says it; the table decides."""

from collections.abc import Callable
from datetime import UTC, datetime

from detent.app import App
from detent.config import Settings
from detent.door import AnyRun
from detent.kernel.model import Briefing, Sent

NOT_THE_ITEMS = ("errors", "model")  # why an inner run waits, where that says nothing about the item: a person is needed


def seconds_left(run: AnyRun, settings: Settings) -> float:
    """The seconds that are left for an execution, by the time at which it began; for any other run, what one turn may take."""
    if run.workflow != "execute" or not run.data.started:
        return float(settings.queue.timeout)
    gone = (datetime.now(UTC) - datetime.fromisoformat(run.data.started)).total_seconds()
    return settings.queue.timeout - max(0.0, gone)


def ends_of(app: App, run_id: str, settings: Settings) -> Callable[[Briefing], Sent | None]:
    """What the machine has to say to an execution before anyone goes on with it."""

    def ends(briefing: Briefing) -> Sent | None:
        run = app.door.load(run_id).run
        if briefing.actor != "human" and run.data.started and seconds_left(run, settings) <= 0:
            said = f"the limit of {settings.queue.timeout} s has passed"
            return Sent("outcome", by="system", channel="drive", outcome="out-of-time", output=said)
        return _given_up(app, run, briefing)

    return ends


def _given_up(app: App, run: AnyRun, briefing: Briefing) -> Sent | None:
    """An inner run that waits for a person fails the execution: a new attempt is a new execution with a fresh agent."""
    if briefing.actor != "human" or briefing.run == run.id:
        return None
    inner = app.door.load(briefing.run).run
    if inner.cause in NOT_THE_ITEMS:
        return None
    name, why = inner.id.removeprefix(f"{run.id}."), inner.last_error or inner.cause
    return Sent("child", by="system", channel="drive", child=name, outcome=inner.state, output=why)
