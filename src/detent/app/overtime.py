"""Clocks that end an execution early: its time is up, or its inner run has given up. They send the event; the table decides."""

import time
from collections.abc import Iterable
from datetime import UTC, datetime

from detent.app import App
from detent.door import AnyEvent, AnyRun
from detent.drive import DriverClock
from detent.drive.spent import spent_in
from detent.kernel.model import Briefing, Sent

NOT_THE_ITEMS = ("errors", "model")  # causes of a halted inner run that are not the item's fault: a person is needed
SHORT = 60.0  # seconds up to which a driver waits in place


class Parked(Exception):
    """Raised when a usage limit holds the run until a time; a worker frees its slot meanwhile."""

    def __init__(self, until: str) -> None:
        super().__init__(until)
        self.until = until


class ExecutionClock:
    """The clock of an execution, whose timeout covers all its turns: the seconds of earlier drivers by its events, plus those of this process
    without waiting. Uses the monotonic clock, which neither jumps nor runs while the machine sleeps."""

    def __init__(self, app: App, run_id: str, timeout: int, earlier: Iterable[AnyEvent]) -> None:
        self.app, self.run_id, self.timeout = app, run_id, timeout
        self._before, self._begun, self._waited = spent_in(earlier, whole=True).seconds, time.monotonic(), 0.0

    def seconds(self) -> float:
        """Seconds that the run has been at work."""
        return self._before + time.monotonic() - self._begun - self._waited

    def sleep(self, seconds: float) -> None:
        begun = time.monotonic()
        time.sleep(seconds)
        self._waited += time.monotonic() - begun  # on a busy machine that is longer

    def ends(self, briefing: Briefing) -> Sent | None:
        run = self.app.door.load(self.run_id).run
        if briefing.actor != "human" and run.data.started and self.seconds() >= self.timeout:
            message = f"the limit of {self.timeout} s has passed"
            return Sent("outcome", by="system", channel="drive", outcome="out-of-time", output=message)
        return _given_up(self.app, run, briefing)


class ParkingClock:
    """A clock that raises Parked instead of waiting long for a usage limit."""

    def __init__(self, clock: DriverClock) -> None:
        self.clock = clock

    def sleep(self, seconds: float) -> None:
        self.clock.sleep(seconds)

    def ends(self, briefing: Briefing) -> Sent | None:
        if briefing.not_before and seconds_until(briefing.not_before) > SHORT:
            raise Parked(briefing.not_before)
        return self.clock.ends(briefing)


def _given_up(app: App, run: AnyRun, briefing: Briefing) -> Sent | None:
    """The event that fails an execution whose inner run waits for a person: a retry is a new execution with a fresh agent."""
    if briefing.actor != "human" or briefing.run == run.id:
        return None
    inner = app.door.load(briefing.run).run
    if inner.cause in NOT_THE_ITEMS:
        return None
    name, why = inner.id.removeprefix(f"{run.id}."), inner.last_error or inner.cause
    return Sent("child", by="system", channel="drive", child=name, outcome=inner.state, output=why)


def seconds_until(when: str) -> float:
    then = datetime.fromisoformat(when)
    return ((then if then.tzinfo else then.replace(tzinfo=UTC)) - datetime.now(UTC)).total_seconds()
