"""The queue, wired: where it lives, what a worker starts for an execution, and how the journal says that it ended.

Adding makes the journaled run first and hands its id to the queue then, so that a crash between the two leaves a run that can be added again.
"""

import json
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from detent import installation
from detent.app import AnyJournal, App, journal_at, open_app
from detent.app.overtime import seconds_until
from detent.app.policy import policies_of
from detent.app.registry import workflow_of
from detent.app.shared import queue_settings, shared_url
from detent.blocks.open_flags import CAUSE
from detent.blocks.terms import Terms
from detent.config import Settings
from detent.errors import CannotTell, DetentError, Unreached
from detent.git.place import Place
from detent.kernel.model import Sent
from detent.queue.queue_protocol import AGAIN, LIVE, Execution, ExecutionEnd, ExecutionProcess, QueueJob, WorkerTask

if TYPE_CHECKING:
    from detent.queue.engine import DurableQueue
    from detent.tracker import Item, Tracker

WAY = "Look: detent status --run {run}. Then: detent resume --run {run}"
WAYS = {
    "HALTED": "Mend that, then: detent resume --run {run}",
    "NOT_READY": "It goes on once the items of its review are closed. Or: detent answer REVIEW override --run {run}",
}  # what a person can do where an execution waits for one
FLAGGED = "Look: detent decisions --run {run}. Then: detent answer FLAGS accept --run {run}"
ENDS = {"COMPLETED": "done", "FAILED": "failed", "TIMEOUT": "failed", "BLOCKED": "blocked", "CANCELLED": "cancelled"}
AWAY = "the tracker or the forge does not answer now; it goes on by itself (detent queue logs {run} says what it was told)"
LATER = 60.0  # seconds until that is asked again
GRACE = 600.0  # seconds beyond the run's own limits; the run itself is to end it, this is for one that cannot
LETS_GO = 20.0  # seconds to wait until a cancelled execution has left its worker
PERSON, PARKED, TROUBLE = 10, 75, (2, 3)  # exit codes


class QueueRequest(NamedTuple):
    """What a person asks of the queue beside the items."""

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
    """Queue items: each gets a journaled run, and its place behind what it needs."""
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
    """The open items that wait for nothing and are not in the queue."""
    every = tracker.items()
    closed = {item.id for item in every if item.status == "closed"}
    queued = {e.item for e in queue.all(LIVE, limit=1_000_000)}
    return [i for i in every if i.status == "open" and not i.assignee and set(i.depends_on) <= closed and i.id not in queued]


def _can_be_met(queue: "DurableQueue", needs: Mapping[str, tuple[str, ...]]) -> None:
    """Refuse before anything is begun what would wait for ever."""
    live = {e.item for e in queue.all(LIVE, limit=1_000_000)} | set(needs)
    for id, items in needs.items():
        if missing := [item for item in items if item not in live]:
            raise DetentError(
                f"{id} needs {', '.join(missing)}, which is not closed and not in the queue",
                f"add it too: detent queue add {missing[0]} {id}",
            )


def _wanted_again(app: App, queue: "DurableQueue", found: Execution) -> Execution:
    """A run that has not ended, and whose job has, is tried again when it is added again."""
    head = app.journal.heads(found.id)
    return queue.retry(found.id) if found.state in AGAIN and head and not head[0].ended else found


def cancel(app: App, queue: "DurableQueue", id: str, reason: str, sent: Sent) -> Execution:
    """Want an execution no more: its processes end, then its run is told so. One that waits for a person is ended too."""
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


def retry(app: App, queue: "DurableQueue", id: str, sent: Sent) -> Execution:
    """Try an execution again. A run that ended stays as it is: its item gets a new one, with the same agent and the same words."""
    found = queue.one(id)
    head = app.journal.heads(found.id)
    if found.state not in AGAIN or not head or not head[0].ended:
        return queue.retry(found.id)
    before = app.door.load(found.id).run.data
    terms = Terms("", agent=before.setup.agent, context=before.context, again=True, policies=policies_of(before.setup.accepts))
    return add(app, queue, [found.item], False, QueueRequest(terms, sent))[0]


# -- what happens outside of the queue ---------------------------------------------------------------------------------------


def reconcile(app: App, queue: "DurableQueue", runs: Sequence[str] = ()) -> None:
    """Bring the queue up to the journal and the tracker: runs that came to their end without a worker,
    items that were closed by hand, and branches that waited for those of their review.

    Looked at are what failed or waits for a person, and the named runs.
    """
    for found in (*queue.all(("blocked", "failed")), *(e for run in runs for e in _queued(queue, run))):
        outcome = _end_of(app.journal, found.id)
        if outcome is not None and outcome.state != found.state:
            queue.store.correct(found.id, outcome)
        elif outcome is None and found.state == "blocked" and _may_go_on(app, found.id):
            queue.retry(found.id)
    if needed := queue.store.needed():
        from detent.app.project import items_of

        with suppress(Unreached):  # one that does not answer is asked again the next time
            queue.store.meet([item.id for item in items_of(app).items() if item.status == "closed" and item.id in needed])


def _may_go_on(app: App, run: str) -> bool:
    """Whether a branch was held back by its review, and every item that it filed is closed by now."""
    heads = app.journal.heads(run)
    state = workflow_of(heads[0].workflow).table.states[heads[0].state] if heads else None
    if state is None or state.actor != "human" or state.job is None:
        return False
    now = app.door.load(run).run
    with suppress(CannotTell):  # a tracker that does not answer is asked again the next time
        return app.worlds.of(now).perform(state.job.name, now) is not None
    return False


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
    """Queue an execution again that waited for a person's word and got it. False: it is not in the queue, or still waits, or runs."""
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
    """What a worker does for each execution: drive its run in a process of its own, and read its end from the journal."""

    def child(run: str) -> ExecutionProcess:
        words = ["-C", str(place.root), "run", "--run", run, "--park", "--events"]
        return ExecutionProcess([sys.executable, "-I", "-m", "detent", *words], place.root, dict(env))

    def judge(run: str, code: int | None) -> ExecutionEnd:
        return ended(place.root, run, code)

    def tend() -> None:
        with suppress(DetentError):
            app = open_app(place.root, env=env)  # one of this thread's own
            with closing(app.journal):
                reconcile(app, queue)

    return WorkerTask(child, judge, settings.queue.timeout + GRACE, settings.queue.silence + GRACE, tend)


def ended(root: Path, run: str, code: int | None) -> ExecutionEnd:
    """How an execution ended, as its journal has it; an exit code alone says nothing."""
    with closing(journal_at(root)) as journal:  # one of this thread's own
        if not journal.heads(run):
            return ExecutionEnd("failed", f"there is no run {run} in this repository")
        if (outcome := _end_of(journal, run)) is not None:
            return outcome
        if code == PERSON:
            return ExecutionEnd("blocked", _waits(journal, run))
        if code == PARKED and (until := _parked(journal, run)):
            return ExecutionEnd("again", f"a usage limit holds it until {until}", max(1.0, seconds_until(until)))
        if code == PARKED:
            return ExecutionEnd("again", AWAY.format(run=run), LATER)
    if code in TROUBLE:
        return ExecutionEnd("failed", f"it could not be driven (exit code {code}); its output says why. Then: detent queue retry {run}")
    return ExecutionEnd("again")


def _end_of(journal: AnyJournal, run: str) -> ExecutionEnd | None:
    """How a run ended, and what a person can do about it; None if it has not ended."""
    heads = journal.heads(run)
    if not heads or not heads[0].ended:
        return None
    state = ENDS.get(heads[0].state, "failed")
    said = {"done": "", "blocked": f"{_reason(journal, run)}. Once that is over: detent queue retry {run}"}
    return ExecutionEnd(state, said.get(state, _reason(journal, run)))


def _waits(journal: AnyJournal, run: str) -> str:
    """Why a run waits for a person, and what they can say. It may be an inner run that waits."""
    inner = next((head for head in journal.children(run) if not head.ended), None)
    head = inner or journal.heads(run)[0]
    last = journal.last(head.run)
    flagged = last is not None and json.loads(last.body)["run"].get("cause") == CAUSE
    way = (FLAGGED if flagged else WAYS.get(head.state, WAY)).format(run=run)
    return f"it waits for a person in {head.state}: {_reason(journal, head.run)}. {way}"


def _parked(journal: AnyJournal, run: str) -> str:
    """Until when a usage limit holds a run, or its inner run; empty if none does."""
    lasts = (journal.last(each) for each in (run, *(head.run for head in journal.children(run) if not head.ended)))
    return max((json.loads(last.body)["run"].get("not_before", "") for last in lasts if last), default="")


def _reason(journal: AnyJournal, run: str) -> str:
    """Why a run is where it is, in a line, from its last event."""
    last = journal.last(run)
    now = json.loads(last.body).get("run", {}) if last else {}
    data = now.get("data", {})
    text = data.get("reason") or (data.get("review") or {}).get("summary") or now.get("last_reason") or now.get("cause") or "?"
    return " ".join(str(text).split())[:300].rstrip(". ")
