"""The budget of the queue (dollars, tokens, hours) and its window of the day. Pauses the queue with the reason, and lets it continue.

A budget counts from the last opening of the window, or from midnight without one. A person's `queue resume` grants
it again.
"""

from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from datetime import datetime, timedelta
from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

from detent.app import App, open_app
from detent.app.executions import is_execution
from detent.app.opened import queue_settings
from detent.app.report_values import BudgetRow, PausedQueue, QueueNow
from detent.app.reporting import stamp
from detent.app.tally import add
from detent.app.times import local_now, local_of, window_of
from detent.app.turns_taken import TakenTurns
from detent.config.settings import QueueSettings
from detent.drive.spent import Spent
from detent.errors import DetentError
from detent.git.place import Place
from detent.queue.queue_protocol import ExecutionEnd, Pause, WorkerTask

if TYPE_CHECKING:
    from detent.queue.engine import DurableQueue

WINDOW, BUDGET = "window", "budget"
KINDS = (WINDOW, BUDGET)
WORDS = {
    "usd": "${most:g} of [queue] usd are used up (${used:.2f})",
    "tokens": "{most:,.0f} [queue] tokens are used up ({used:,.0f})",
    "hours": "{most:g} [queue] hours of agents' work are used up ({used:.1f})",
}


class QueueHold(NamedTuple):
    """Why the queue may start nothing now; an empty reason if it may."""

    reason: str = ""
    kind: str = ""
    until: float = 0.0


def period(queue: QueueSettings, now: datetime, resumed: float) -> datetime:
    """When the current budget began to count, in local time."""
    begun = window_of(queue.window).opened(now) if queue.window else datetime.combine(now.date(), datetime.min.time())
    return max(begun, local_of(resumed)) if resumed else begun


def used_of(app: App, queue: QueueSettings, turns: TakenTurns, since: datetime) -> tuple[BudgetRow, ...]:
    """Each limit that is set, and what executions used of it since then, by the journal."""
    heads = [head for head in app.journal.heads() if is_execution((head.parent or head.run).partition("-")[0])]
    spent = reduce(add, (turn.spent for turn in turns.since(app, heads, stamp(since.astimezone()))), Spent())
    rows = (("usd", spent.usage.usd, queue.usd), ("tokens", spent.usage.tokens, queue.tokens), ("hours", spent.seconds / 3600, queue.hours))
    return tuple(BudgetRow(name, round(used, 4), most) for name, used, most in rows if most)


def hold_of(queue: QueueSettings, rows: tuple[BudgetRow, ...], now: datetime, resumed: float) -> QueueHold:
    """Why the queue may start nothing now, if so. Pure."""
    window = window_of(queue.window) if queue.window else None
    if window and not window.is_open(now) and window.closed(now).timestamp() > resumed:
        return QueueHold(
            f"it is outside of [queue] window {queue.window}; it continues at {_clock(window.opens(now), now)}",
            WINDOW,
            window.opens(now).timestamp(),
        )
    for row in rows:
        if row.used >= row.most:
            again = window.opens(now) if window else datetime.combine(now.date() + timedelta(days=1), datetime.min.time())
            reason = WORDS[row.name].format(used=row.used, most=row.most)
            return QueueHold(f"{reason}; it continues at {_clock(again, now)}, or with `detent queue resume`", BUDGET, again.timestamp())
    return QueueHold()


def _clock(when: datetime, now: datetime) -> str:
    return f"{when:%H:%M}" if when - now < timedelta(hours=24) and when.date() == now.date() else f"{when:%H:%M on %a %d %b}"


def keep_within(app: App, queue: "DurableQueue", settings: QueueSettings, turns: TakenTurns, now: datetime | None = None) -> QueueHold:
    """Pause the queue, or let it continue, as its budget and its window say."""
    here = now or local_now()
    resumed = queue.resumed()
    rows = used_of(app, settings, turns, period(settings, here, resumed)) if settings.usd or settings.tokens or settings.hours else ()
    hold = hold_of(settings, rows, here, resumed)
    if hold.reason:
        before = queue.paused()
        if before.kind and before.kind != hold.kind:
            queue.release(KINDS)
        queue.hold(hold.reason, hold.kind, hold.until)
    else:
        queue.release(KINDS)
    return hold


def within_budget(place: Place, env: Mapping[str, str], queue: "DurableQueue", task: WorkerTask) -> tuple[WorkerTask, Callable[[], None]]:
    """A worker's task that also enforces the budget, regularly and whenever an execution ends; and that check alone.

    It reads the settings each time, so that a raised budget counts at once.
    """
    turns = TakenTurns()

    def look() -> None:
        with suppress(DetentError):
            settings = queue_settings(place, env).queue
            app = open_app(place.root, env=env)  # one of this thread's own
            with closing(app.journal):
                keep_within(app, queue, settings, turns)

    def tend() -> None:
        task.tend()
        look()

    def judge(run: str, code: int | None, last: str) -> ExecutionEnd:
        outcome = task.judge(run, code, last)
        look()
        return outcome

    return task._replace(tend=tend, judge=judge), look


# -- the queue now ---------------------------------------------------------------------------------------------------------------


def queue_now(app: App, queue: "DurableQueue") -> QueueNow:
    """The state of the queue now, with its budget."""
    settings, counts, now = queue_settings(app.place, app.world.outer).queue, queue.counts(), local_now()
    since = period(settings, now, queue.resumed())
    limited = settings.usd or settings.tokens or settings.hours
    return QueueNow(
        waiting=counts["waiting"],
        ready=counts["ready"],
        running=counts["running"],
        workers=sum(worker.left >= 0 for worker in queue.workers()),
        paused=held_of(queue.paused()),
        budget=used_of(app, settings, TakenTurns(), since) if limited else (),
        budget_since=stamp(since.astimezone()) if limited else "",
        notify_fault=queue.notices.fault(),
    )


def held_of(pause: Pause) -> PausedQueue | None:
    if not pause.reason:
        return None
    since, until = (stamp(local_of(each).astimezone()) if each else "" for each in (pause.since, pause.until))
    return PausedQueue(pause.reason, pause.by, since, until)
