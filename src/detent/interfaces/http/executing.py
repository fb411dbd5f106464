"""The API calls on items, executions and the queue. Uses the same functions of app/ as the command line."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec

from detent.app import App
from detent.app.driver_lock import locks_held
from detent.app.people import allowed
from detent.app.person_calls import spoken
from detent.app.policy import user
from detent.app.push import fit_for_push, recorded_agent
from detent.app.run_rows import as_row, when
from detent.errors import DetentError
from detent.interfaces.http import shapes_execute as shapes
from detent.interfaces.http.heads import NotFound
from detent.interfaces.http.runs_board import MOST, RunsBoard, stamp_of
from detent.interfaces.http.shape import SAFE
from detent.interfaces.http.shapes import TokenUse
from detent.interfaces.http.speaking import CHANNEL, drive_on
from detent.interfaces.http.stream import News, Pulse, StreamPosition
from detent.kernel.model import Sent

if TYPE_CHECKING:
    from detent.app.report_values import Report
    from detent.queue.engine import DurableQueue
    from detent.queue.queue_protocol import Execution

EVERY = 0.3  # seconds between polls of growing output
PIECES = 50  # pieces of output in one step of a stream
AFRESH = 5.0  # seconds between reconciliations of the queue


class Desk:
    """The queue of the repository, opened lazily and shared by threads."""

    def __init__(self, board: RunsBoard, afresh: float = AFRESH) -> None:
        self.board, self.afresh = board, afresh
        self._lock = threading.Lock()
        self._queue: DurableQueue | None = None
        self._looked = float("-inf")

    def there(self, app: App) -> bool:
        """Whether a queue exists; asking does not create one."""
        from detent.app.opened import shared_url

        return (
            self._queue is not None
            or (app.place.common_dir / "detent" / "queue.db").exists()
            or bool(shared_url(app.place, app.world.outer))
        )

    def queue(self, app: App) -> "DurableQueue":
        from detent.app.queueing import open_queue

        with self._lock:
            if self._queue is None:
                self._queue = open_queue(app.place, app.world.outer)
            return self._queue

    def current(self, app: App, at_once: bool = False) -> "DurableQueue":
        """The queue, reconciled with journal and tracker: now if `at_once`, else if that was not done recently."""
        from detent.app.queueing import reconcile

        queue = self.queue(app)
        if at_once or time.monotonic() - self._looked >= self.afresh:
            self._looked = time.monotonic()
            with suppress(DetentError):  # retried at the next reconciliation
                reconcile(app, queue)
        return queue

    def close(self) -> None:
        if self._queue is not None:
            self._queue.close()


def sent_by_person(verb: str, note: str = "") -> Sent:
    return Sent(verb, by="human", channel=CHANNEL, note=note, facts={"who": user()})


def executions(app: App, desk: Desk, asked: shapes.ExecutionsAsked) -> shapes.Executions:
    """A page of executions, with counts, workers, and why the queue is paused."""
    from detent.queue.queue_protocol import LIVE

    if not desk.there(app):
        return shapes.Executions(
            executions=(), counts=dict.fromkeys(LIVE, 0), next=None, slots=0, workers=0, paused="", paused_by="", paused_until=None
        )
    queue = desk.current(app)
    end = asked.offset + min(asked.limit, MOST)
    states = (asked.state,) if asked.state else () if asked.all else LIVE
    found = queue.all(states, min(end + 1, SAFE), asked.q.split())
    workers, pause = [w for w in queue.workers() if w.left >= 0], queue.paused()
    return shapes.Executions(
        executions=tuple(rows(app, desk, found[asked.offset : end])),
        counts=queue.counts(),
        next=end if len(found) > end else None,
        slots=queue.slots(),
        workers=len(workers),
        paused=pause.reason,
        paused_by=pause.by,
        paused_until=when(pause.until) if pause.until else None,
        away=tuple(f"{each.thing}: {each.said}" for each in queue.away()),
    )


def rows(app: App, desk: Desk, found: "Sequence[Execution]") -> Iterator[shapes.ExecutionRow]:
    """Executions as rows, with the state of their runs from the journal."""
    held = locks_held()
    for each in found:
        fields, heads = as_row(each), app.journal.heads(each.id)
        run = desk.board.row(app, stamp_of(app, heads[0], held)) if heads else None
        state, branch, url, usage = (run.state, run.branch, run.pull_request, run.usage) if run else ("", "", "", TokenUse())
        fields |= {"waits_for": each.waits_for, "worker": each.worker, "reason": each.reason}
        yield shapes.ExecutionRow(**fields, run_state=state, branch=branch, pull_request=url, usage=usage)


def row(app: App, desk: Desk, found: "Execution") -> shapes.ExecutionRow:
    return next(rows(app, desk, (found,)))


def report(app: App, desk: Desk, since: str) -> "Report":
    """The report since a time."""
    from detent.app.reporting import report_of
    from detent.app.times import time_of

    until = datetime.now(UTC)
    begun = time_of(since, until.astimezone())
    if not desk.there(app):
        return report_of(app, (), None, begun, until)
    from detent.app.notifying import report_since

    return report_since(app, desk.current(app), begun)


def found(app: App, desk: Desk, id: str) -> "Execution":
    """The execution with an id; NotFound if there is none."""
    from detent.queue.queue_protocol import UnknownExecution

    try:
        return desk.queue(app).one(id)
    except UnknownExecution as e:
        raise NotFound(e.message, "GET /api/executions?all=true lists them") from e


def one(app: App, desk: Desk, id: str) -> shapes.ExecutionRow:
    return row(app, desk, found(app, desk, id))


def start(app: App, desk: Desk, asked: shapes.ExecuteAsked) -> shapes.Executions:
    """Queue items."""
    from detent.app.queueing import QueueRequest, add
    from detent.blocks.terms import Terms

    if not asked.items and not asked.ready:
        raise DetentError("there is nothing to queue", "name items, or set ready")
    if asked.again:
        allowed(app, CHANNEL)
    terms = Terms("", agent=recorded_agent(asked.agent), context=asked.context, again=asked.again)
    add(app, desk.queue(app), asked.items, asked.ready, QueueRequest(terms, sent_by_person("start"), asked.priority))
    return executions(app, desk, shapes.ExecutionsAsked())


def cancel(app: App, desk: Desk, id: str, reason: str) -> shapes.ExecutionRow:
    from detent.app.queueing import cancel as cancel_one

    run = found(app, desk, id).id
    allowed(app, CHANNEL, run)
    return row(app, desk, cancel_one(app, desk.queue(app), run, reason, sent_by_person("cancel", reason)))


def retry(app: App, desk: Desk, id: str, start: str = "") -> shapes.ExecutionRow:
    from detent.app.queueing import retry as retry_one

    run = found(app, desk, id).id
    allowed(app, CHANNEL, run)
    return row(app, desk, retry_one(app, desk.queue(app), run, sent_by_person("start"), start))


def hold(app: App, desk: Desk, asked: shapes.PauseAsked) -> shapes.Executions:
    """Pause the queue, or let it continue."""
    allowed(app, CHANNEL)
    queue = desk.queue(app)
    if asked.paused:
        queue.pause(asked.reason or "a person paused it", user())
    else:
        queue.resume()
    return executions(app, desk, shapes.ExecutionsAsked())


def logs(app: App, desk: Desk, id: str, asked: shapes.LogsAsked) -> shapes.Logs:
    """A page of an execution's output."""
    run, queue, most = found(app, desk, id).id, desk.queue(app), min(asked.limit, MOST)
    pieces = queue.logs(run, asked.after, most + 1)
    more, pieces = len(pieces) > most, pieces[:most]
    rows, after = tuple(shapes.PieceRow(**p._asdict()) for p in pieces), pieces[-1].seq if pieces else asked.after
    return shapes.Logs(pieces=rows, after=after, next=after if more else None, dropped=queue.dropped(run))


def of_execution(pulse: Pulse, desk: Desk, id: str, place: StreamPosition, name: Callable[[], str]) -> News:
    """The stream of an execution's output, piece by piece, after a note on how much was dropped."""
    run, queue = found(pulse.app, desk, id).id, desk.queue(pulse.app)
    dropped = [queue.dropped(run)] if place.after <= 0 else [0]
    place.after = max(0, place.after)

    def news() -> list[bytes]:
        frames = [pulse.wire.frame("dropped", {"characters": dropped.pop()})] if any(dropped) else []
        for piece in queue.logs(run, place.after, PIECES):
            place.after = piece.seq
            frames.append(pulse.wire.frame("output", shapes.PieceRow(**piece._asdict()), name()))
        return frames

    return news


def is_over(app: App, desk: Desk, id: str) -> bool:
    """Whether an execution has ended and left its worker, so that no more output comes."""
    from detent.queue.queue_protocol import ENDS

    now = found(app, desk, id)
    return now.state in ENDS and not now.worker


# -- items and reviews ---------------------------------------------------------------------------------------------------------


def items(app: App, asked: shapes.ItemsAsked) -> shapes.ItemList:
    from detent.app.project import items_of

    every = items_of(app).items()
    closed = {item.id for item in every if item.status == "closed"}
    found = sorted((i for i in every if asked.all or i.status != "closed"), key=lambda i: i.priority)
    waits = {i.id: [need for need in i.depends_on if need not in closed] for i in found}
    end = asked.offset + min(asked.limit, MOST)
    rows = tuple(shapes.ItemRow(**msgspec.structs.asdict(i), waits_for=tuple(waits[i.id])) for i in found[asked.offset : end])
    return shapes.ItemList(items=rows, next=end if end < len(found) else None)


def tried(app: App, id: str) -> shapes.Attempts:
    """Every attempt at an item."""
    from detent.app.executions import attempts

    return shapes.Attempts(attempts=tuple(shapes.AttemptRow(**each._asdict()) for each in attempts(app, id)))


def add_item(app: App, asked: shapes.ItemAsked) -> shapes.ItemRow:
    from detent.app.project import items_of
    from detent.tracker import NewItem

    if not asked.title.strip():
        raise DetentError("an item needs a title", "say in a line what is to be done")
    new = NewItem(asked.title.strip(), asked.description, asked.priority, asked.type, asked.labels, asked.depends_on)
    made = items_of(app).add(new)
    return shapes.ItemRow(**msgspec.structs.asdict(made))


def close_item(app: App, desk: Desk, id: str, reason: str) -> shapes.ItemRow:
    """Close an item, and reconcile the queue, so that items that waited for it can run."""
    from detent.app.project import items_of
    from detent.tracker import TrackerChange, UnknownItem

    allowed(app, CHANNEL)
    try:
        closed = items_of(app).change(id, TrackerChange("closed", note=reason))
    except UnknownItem as e:
        raise NotFound(e.message, "GET /api/items?all=true lists them") from e
    if desk.there(app):
        desk.current(app, at_once=True)
    return shapes.ItemRow(**msgspec.structs.asdict(closed))


def review(app: App, asked: shapes.ReviewAsked) -> shapes.Review:
    """Have a branch reviewed. If an execution waits for that review, it is repeated there, and the execution continues if ready."""
    from detent.app.executions import review as review_branch
    from detent.app.executions import waiting_for

    fit_for_push(app, asked.agent)
    if (waits := waiting_for(app, asked.branch)) is not None and not asked.agent:
        spoken(app, CHANNEL, "review", waits.id)
        drive_on(app, waits.id)
        return shapes.Review(branch=asked.branch, run=waits.id, summary="The execution that waits for it is reviewed again.")
    return msgspec.convert(review_branch(app, asked.branch, recorded_agent(asked.agent), asked.again), shapes.Review)
