"""The queue, wired: where it lives, what a worker starts for an execution, and how the journal says that it ended.

Adding makes the journaled run first and hands its id to the queue then, so that a crash between the two leaves a run that can be added again.
"""

import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from detent.app import App, journal_at
from detent.app.fit import Terms
from detent.app.shared import queue_settings
from detent.config import Settings
from detent.errors import DetentError
from detent.git.place import Place
from detent.kernel.model import Sent
from detent.queue.protocol import AGAIN, LIVE, Child, Execution, Job, Outcome, Task

if TYPE_CHECKING:
    from detent.queue.engine import DurableQueue
    from detent.tracker import Item, Tracker

ENDS = {"COMPLETED": "done", "FAILED": "failed", "TIMEOUT": "failed", "BLOCKED": "blocked", "CANCELLED": "cancelled"}
GRACE = 600.0  # seconds beyond the run's own limits; the run itself is to end it, this is for one that cannot
LETS_GO = 20.0  # seconds to wait until a cancelled execution has left its worker
PERSON, TROUBLE = 10, (2, 3)  # exit codes


class Asked(NamedTuple):
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
        raise DetentError(f"the queue needs the package {e.name}", "install it, in Detent's checkout: pip install '.[queue]'") from e
    return DurableQueue(open_database(queue_settings(place, env).queue.url, place.common_dir / "detent" / "queue.db"))


# -- people ------------------------------------------------------------------------------------------------------------------


def add(app: App, queue: "DurableQueue", ids: Sequence[str], ready: bool, asked: Asked) -> list[Execution]:
    """Queue items: each gets a journaled run, and its place behind what it needs."""
    from detent.app.start_execute import items_of, starter
    from detent.tracker import open_of

    tracker = items_of(app)
    items = tracker.items(*ids) if ids else []
    items += [item for item in _ready(tracker, queue) if item.id not in ids] if ready else []
    needs = {item.id: tuple(open_of(tracker, item.depends_on)) for item in items}
    _can_be_met(queue, needs)
    begin = starter(app, asked.sent, asked.terms)
    jobs = [
        Job(begin(item.id), item.id, item.title, item.priority if asked.priority is None else asked.priority, needs[item.id])
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
    """Want an execution no more: its processes end, then its run is told so."""
    found = queue.cancel(id, reason)
    until = time.monotonic() + LETS_GO
    while found.worker and time.monotonic() < until:
        time.sleep(0.2)
        found = queue.one(found.id)
    head = app.journal.heads(found.id)
    if found.state == "cancelled" and head and not head[0].ended:
        app.door.submit(found.id, sent)
    return found


def retry(app: App, queue: "DurableQueue", id: str, sent: Sent) -> Execution:
    """Try an execution again. A run that ended stays as it is: its item gets a new one, with the same agent and the same words."""
    found = queue.one(id)
    head = app.journal.heads(found.id)
    if found.state not in AGAIN or not head or not head[0].ended:
        return queue.retry(found.id)
    before = app.door.load(found.id).run.data
    terms = Terms("", agent=before.setup.agent, context=before.context, again=True)
    return add(app, queue, [found.item], False, Asked(terms, sent))[0]


# -- workers -----------------------------------------------------------------------------------------------------------------


def task_of(place: Place, env: Mapping[str, str], settings: Settings) -> Task:
    """What a worker does for each execution: drive its run in a process of its own, and read its end from the journal."""

    def child(run: str) -> Child:
        words = ["-C", str(place.root), "run", "--run", run, "--events"]
        return Child([sys.executable, "-I", "-m", "detent", *words], place.root, dict(env))

    def judge(run: str, code: int | None) -> Outcome:
        return ended(place.root, run, code)

    return Task(child, judge, settings.queue.timeout + GRACE, settings.queue.silence + GRACE)


def ended(root: Path, run: str, code: int | None) -> Outcome:
    """How an execution ended, as its journal has it; an exit code alone says nothing."""
    journal = journal_at(root)  # one of this thread's own
    try:
        heads, last = journal.heads(run), journal.last(run)
    finally:
        journal.close()
    if not heads or last is None:
        return Outcome("failed", f"there is no run {run} in this repository")
    if heads[0].ended:
        return Outcome(ENDS.get(heads[0].state, "failed"), _reason(last.body) if heads[0].state != "COMPLETED" else "")
    if code == PERSON:
        return Outcome("blocked", f"it waits for a person in {heads[0].state}")
    if code in TROUBLE:
        return Outcome("failed", f"it could not be driven (exit code {code}); its output says why")
    return Outcome("again")


def _reason(body: bytes) -> str:
    """Why a run ended, in a line, from its last event."""
    import json

    run = json.loads(body).get("run", {})
    text = run.get("data", {}).get("reason") or run.get("cause") or ""
    return " ".join(str(text).split())[:300]
