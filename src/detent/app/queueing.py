"""The queue wired to journal and tracker: where it is stored, adding, retrying and cancelling items, and the task of a worker.

Adding creates the run in the journal before its job in the queue: a crash in between leaves a run that can be added again.
"""

import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from msgspec import structs

from detent import installation
from detent.app import App, open_app
from detent.app.away import back, room
from detent.app.opened import queue_settings, shared_url
from detent.app.policy import policies_of
from detent.app.queue_ends import TROUBLE, end_of, read_end
from detent.app.registry import workflow_of
from detent.blocks.terms import Terms
from detent.config import Settings
from detent.errors import CannotTell, DetentError, Unreached
from detent.git.place import Place
from detent.kernel.model import Sent
from detent.queue.queue_protocol import AGAIN, LIVE, Execution, ExecutionEnd, ExecutionProcess, QueueJob, WorkerTask

if TYPE_CHECKING:
    from detent.queue.engine import DurableQueue
    from detent.tracker import Item, Tracker

GRACE = 600.0  # seconds beyond the run's own timeout before its process is killed
LETS_GO = 20.0  # seconds to wait until a cancelled execution has left its worker


class QueueRequest(NamedTuple):
    """The options of adding items to the queue."""

    terms: Terms
    sent: Sent
    priority: int | None = None


def open_queue(place: Place, env: Mapping[str, str]) -> "DurableQueue":
    """The queue of this repository: beside its journal, or where [queue] url says."""
    try:
        from detent.queue.database import open_database
        from detent.queue.engine import DurableQueue
    except ModuleNotFoundError as e:
        raise DetentError(f"the queue needs the package {e.name}", f"install it: {installation.extra('queue')}") from e
    return DurableQueue(open_database(queue_settings(place, env).queue.url, queue_file(place)))


def queue_file(place: Place) -> Path:
    """Where the embedded queue is."""
    return place.common_dir / "detent" / "queue.db"


# -- people ------------------------------------------------------------------------------------------------------------------


def add(app: App, queue: "DurableQueue", ids: Sequence[str], ready: bool, asked: QueueRequest) -> list[Execution]:
    """Queue items. Each gets a run in the journal, and waits for the items it depends on."""
    from detent.app.executions import the_items
    from detent.app.project import items_of
    from detent.tracker import open_of

    tracker = items_of(app)
    items = tracker.items(*ids) if ids else []
    items += [item for item in _ready(tracker, queue) if item.id not in ids] if ready else []
    needs = {item.id: tuple(open_of(tracker, item.depends_on)) for item in items}
    _can_be_met(queue, needs)
    begin = the_items().starter(app, asked.sent, asked.terms)
    jobs = [
        QueueJob(begin(item.id), item.id, item.title, item.priority if asked.priority is None else asked.priority, needs[item.id])
        for item in items
    ]
    return [_wanted_again(app, queue, added) for added in queue.add(jobs)]


def _ready(tracker: "Tracker", queue: "DurableQueue") -> "list[Item]":
    """The open, unassigned items whose dependencies are closed and that are not in the queue."""
    every = tracker.items()
    closed = {item.id for item in every if item.status == "closed"}
    queued = {e.item for e in queue.all(LIVE, limit=1_000_000)}
    return [i for i in every if i.status == "open" and not i.assignee and set(i.depends_on) <= closed and i.id not in queued]


def _can_be_met(queue: "DurableQueue", needs: Mapping[str, tuple[str, ...]]) -> None:
    """Refuse items that would wait forever for one that is not in the queue."""
    live = {e.item for e in queue.all(LIVE, limit=1_000_000)} | set(needs)
    for id, items in needs.items():
        if missing := [item for item in items if item not in live]:
            raise DetentError(
                f"{id} needs {', '.join(missing)}, which is not closed and not in the queue",
                f"add it too: detent queue add {missing[0]} {id}",
            )


def _wanted_again(app: App, queue: "DurableQueue", found: Execution) -> Execution:
    """Adding an item again retries its job if that has ended but its run has not."""
    head = app.journal.heads(found.id)
    return queue.retry(found.id) if found.state in AGAIN and head and not head[0].ended else found


def cancel(app: App, queue: "DurableQueue", id: str, reason: str, sent: Sent) -> Execution:
    """Cancel an execution: stop its processes, then end its run, also one that waits for a person."""
    found = queue.cancel(id, reason)
    until = time.monotonic() + LETS_GO
    while found.worker and time.monotonic() < until:
        time.sleep(0.2)
        found = queue.one(found.id)
    head = app.journal.heads(found.id)
    if found.state in AGAIN and head and not head[0].ended:
        app.door.submit(found.id, sent)
        reconcile(app, queue, (found.id,))
    return queue.one(found.id)


def retry(app: App, queue: "DurableQueue", id: str, sent: Sent, start: str = "") -> Execution:
    """Retry an execution. A waiting run is released and continues. For an ended run the item gets a new execution
    with the same agent and context, which is told of this attempt and begins from its kept work or from main (`start`)."""
    found = queue.one(id)
    head = app.journal.heads(found.id)
    if found.state == "ready" and found.cause:
        queue.wake(found.cause)
        return queue.one(found.id)
    if found.state not in AGAIN or not head or not head[0].ended:
        if found.state in AGAIN and head:
            release(app, found.id, sent)
        return queue.retry(found.id)
    before = app.door.load(found.id).run.data
    terms = Terms(
        "",
        agent=before.setup.agent,
        context=before.context,
        again=True,
        policies=policies_of(before.setup.accepts),
        start=start,
        continues=before.continues,
    )
    return add(app, queue, [found.item], False, QueueRequest(terms, sent))[0]


def release(app: App, run: str, sent: Sent) -> None:
    """Send `resume` or `fix` to the runs that wait for it; an error if one waits for another answer."""
    from detent.app.questions import at_work, choices

    for each in at_work(app, run):
        if app.door.tables[each.workflow].states[each.state].actor != "human":
            continue
        offered = choices(app, each)
        word = next((word for word in ("resume", "fix") if word in offered), "")
        if not word:
            raise DetentError(
                f"{run} waits for an answer: {', '.join(offered) or 'see its briefing'}", f"see `detent decisions --run {run}`, then answer"
            )
        answer = structs.replace(offered[word], channel=sent.channel, facts=sent.facts)
        verdict = app.door.submit(each.id, answer)
        if verdict.status != "SUCCESS":
            raise DetentError(f"{run} cannot be released: {'; '.join(verdict.reasons)}", f"see `detent status --run {run}`")


def retry_parked(app: App, queue: "DurableQueue", cause: str, sent: Sent, start: str = "") -> list[Execution]:
    """Retry all executions parked by an outage, of one cause or any, and resume a queue that paused because of them."""
    found = [e for e in queue.parked(cause) if e.state != "ready"]
    for outage in queue.away():
        if not cause or outage.thing == cause:
            queue.wake(outage.thing)
    done = [retry(app, queue, e.id, sent, start) for e in found]
    if (pause := queue.paused()).by == "detent" and "in a row wait because of" in pause.reason:
        queue.resume()
    return done


# -- what happens outside of the queue ---------------------------------------------------------------------------------------


def reconcile(app: App, queue: "DurableQueue", runs: Sequence[str] = ()) -> None:
    """Bring the queue up to date with the journal and the tracker: runs that ended without a worker,

    items closed by hand, and branches that waited for the issues of their review.
    Checks failed and blocked executions, and the named runs.
    """
    for found in (*queue.all(("blocked", "failed")), *(e for run in runs for e in _queued(queue, run))):
        with suppress(Unreached, CannotTell):  # an unreachable tracker or remote is asked again next time
            _catch_up_one(app, queue, found)
    if needed := queue.store.needed():
        from detent.app.project import items_of

        with suppress(Unreached):  # an unreachable tracker is asked again next time
            queue.store.meet([item.id for item in items_of(app).items() if item.status == "closed" and item.id in needed])


def _catch_up_one(app: App, queue: "DurableQueue", found: Execution) -> None:
    outcome = end_of(app.journal, found.id)
    if outcome is not None and outcome.state != found.state:
        queue.store.correct(found.id, outcome)
    elif outcome is None and found.state == "blocked" and (_is_back(app, found) or _may_go_on(app, found.id)):
        queue.retry(found.id)
        queue.release([found.cause] if found.cause else [])
    elif outcome is not None and app.journal.owed(found.id):
        app.door.settle(found.id)  # effects left over from an interrupted end: a follow-up, a workspace


def _is_back(app: App, found: Execution) -> bool:
    """Whether an execution waits for its agent's program, and it is available again."""
    if found.cause != "agent":
        return False
    from detent.app.driving import driving
    from detent.app.push import agents_fit

    try:
        agents_fit(app, driving(app, found.id).named)
    except DetentError:
        return False
    return True


def _may_go_on(app: App, run: str) -> bool:
    """Whether a branch waits for the issues that its review filed, and all are closed."""
    heads = app.journal.heads(run)
    state = workflow_of(heads[0].workflow).table.states[heads[0].state] if heads else None
    if state is None or state.actor != "human" or state.job is None:
        return False
    now = app.door.load(run).run
    return app.worlds.of(now).perform(state.job.name, now) is not None


def _queued(queue: "DurableQueue", run: str) -> list[Execution]:
    """The job of a run, if it has one."""
    try:
        return [queue.one(run)]
    except DetentError:
        return []


def catch_up(app: App, *runs: str) -> None:
    """Reconcile after something was said to a run or an item. Where there is no queue, none is made."""
    if has_queue(app.place, app.world.outer):
        with closing(open_queue(app.place, app.world.outer)) as queue:
            reconcile(app, queue, runs)


def has_queue(place: Place, env: Mapping[str, str]) -> bool:
    return queue_file(place).exists() or bool(shared_url(place, env))


def go_on(app: App, run: str) -> bool:
    """Queue an execution again after a person answered it. False if it is not in the queue, still waits, or runs."""
    if not has_queue(app.place, app.world.outer):
        return False
    acting = app.door.acting(run)
    if app.door.tables[acting.workflow].states[acting.state].actor == "human":
        return False
    with closing(open_queue(app.place, app.world.outer)) as queue:
        waits = [e for e in _queued(queue, run) if e.id == run and e.state == "blocked"]
        return [queue.retry(e.id).state for e in waits] != []


# -- workers -----------------------------------------------------------------------------------------------------------------


def task_of(place: Place, env: Mapping[str, str], settings: Settings, queue: "DurableQueue") -> WorkerTask:
    """A worker's task: drive each run in a process of its own, and read its end from the journal."""

    def child(run: str) -> ExecutionProcess:
        words = ["-C", str(place.root), "run", "--run", run, "--park", "--events"]
        return ExecutionProcess([sys.executable, "-I", "-m", "detent", *words], place.root, dict(env))

    def judge(run: str, code: int | None, last: str) -> ExecutionEnd:
        outcome = read_end(place.root, run, code, last)
        if outcome.state == "failed" and code in TROUBLE and (full := free(0)):
            return ExecutionEnd("again", full, cause="disk")
        return outcome

    def tend() -> None:
        with suppress(DetentError):
            app = open_app(place.root, env=env)  # one of this thread's own
            with closing(app.journal):
                reconcile(app, queue)

    free = room(place, settings.queue.free_disk)
    return WorkerTask(child, judge, settings.queue.timeout + GRACE, settings.queue.silence + GRACE, tend, free, back(place, env, settings))
