"""Helpers for tests of report, budget and notifications: executions that move without an agent, through the real door."""

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from detent.app import App
from detent.app.executions import the_items
from detent.app.queueing import QueueRequest, add, open_queue
from detent.blocks.terms import Terms
from detent.kernel.model import Sent
from detent.queue.engine import DurableQueue
from detent.queue.queue_protocol import ExecutionEnd
from tests.executions import Till

USED = {"input_tokens": 1000, "output_tokens": 500, "cached_tokens": 0, "written_tokens": 0, "usd": 0.25}


@contextmanager
def night(folder: Path, config: str = "") -> Iterator[tuple[Till, App, DurableQueue]]:
    """A project with an open queue."""
    till = Till(folder, f"[project]\nname = 'till'\n{config}")
    with till.app() as app, closing(open_queue(app.place, app.world.outer)) as queue:
        yield till, app, queue


def queued(app: App, queue: DurableQueue, *items: str, again: bool = False) -> list[str]:
    """Queue items; the ids of their executions."""
    asked = QueueRequest(Terms("", agent="claude:opus", again=again), Sent("start", by="human"))
    return [e.id for e in add(app, queue, items, False, asked)]


def begun(app: App, item: str) -> str:
    """Start an execution outside the queue."""
    return the_items().starter(app, Sent("start", by="human"), Terms("", agent="claude:opus", again=True))(item)


def turned(app: App, run: str, outcome: str, said: str = "no luck", seconds: float = 90.0, agent: str = "claude:opus") -> str:
    """Bring a run to work, and end a turn with this outcome; the state after it."""
    app.door.next(run)
    facts = {"usage": json.dumps(USED), "seconds": str(seconds), "turns": "2", "transcript": "", "asked": agent}
    verdict = app.door.submit(run, Sent("outcome", by="system", channel="drive", outcome=outcome, output=said, facts=facts))
    assert verdict.status in ("FAILURE", "HALTED", "SUCCESS"), verdict
    return str(app.door.load(run).run.state)


def held(queue: DurableQueue, run: str, outcome: ExecutionEnd) -> None:
    """Record how a worker ended an execution."""
    e = queue.one(run)
    with queue.database.engine.begin() as c:
        ticket = c.execute(queue.store.jobs.select().where(queue.store.jobs.c.id == run)).one().ticket
    assert queue.store.begin(run, e.attempt, ticket, "worker")
    assert queue.store.finish(run, e.attempt, "worker", outcome, 1, 0.0)
