"""The client side of the durable engine (DBOS): enqueue, cancel, limit, forget; and DurableQueue over it and our tables. Runs nothing.

The engine only decides which worker holds which execution. Values are JSON: the engine's default is pickle, by which whoever can
write to the database could run code on every machine that reads it.
"""

import time
import weakref
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from detent.queue.board import TableBoard
from detent.queue.database import Database
from detent.queue.notices import Notices
from detent.queue.queue_protocol import Execution, OutageRow, OutputPiece, Pause, QueueJob, Worker
from detent.queue.store import QueuedJob, Store

NAME = "detent"  # the application's name for the engine
FORM = "detent-1"  # the application version. A constant, since the default, a hash of sources, would hide work from other versions
QUEUE, WORKFLOW = "executions", "execute"
ENDED = ["SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"]
FORGET_AFTER = 3600.0  # seconds after its end that the engine's row of a turn is deleted; our tables keep what matters
FORGET_AT_ONCE = 500
LAST_PRIORITY = 1000


class Pickled(Exception):
    """A value in the engine's tables is pickled, which Detent never writes."""


def refuse_pickle() -> None:
    """Disable unpickling in the engine, which would otherwise unpickle any row that is marked as pickled."""
    from dbos._serialization import DefaultSerializer

    def refuse(self: object, serialized_data: str) -> Any:
        raise Pickled("a value in the queue's database is pickled; it was not read")

    DefaultSerializer.deserialize = refuse  # type: ignore[method-assign, assignment]


def serializer() -> Any:
    from dbos import DBOSPortableJSONSerializer

    return DBOSPortableJSONSerializer()


class Engine:
    """A client of the engine. Works before any worker has run."""

    def __init__(self, database: Database) -> None:
        from dbos import DBOSClient

        refuse_pickle()
        self.client = DBOSClient(
            system_database_engine=database.engine, serializer=serializer(), application_name=NAME, retry_connection_errors=False
        )

    def hand_over(self, c: sa.Connection, turn: QueuedJob) -> None:
        options: Any = {
            "workflow_name": WORKFLOW,
            "queue_name": QUEUE,
            "workflow_id": turn.ticket,
            "app_version": FORM,
            "priority": min(max(turn.priority, 0), LAST_PRIORITY) + 1,  # the engine's priorities begin at 1
        }
        if turn.delay:
            options["delay_seconds"] = turn.delay
        self.client.enqueue_in_transaction(c, options, turn.id, turn.attempt, turn.ticket)
        # The engine takes the older of equal turns, so a turn that is enqueued again gets the age of its job, and keeps its place.
        table = "dbos.workflow_status" if c.dialect.name == "postgresql" else "workflow_status"
        c.execute(
            sa.text(f"UPDATE {table} SET created_at = :at WHERE workflow_uuid = :id"), {"at": int(turn.added * 1000), "id": turn.ticket}
        )

    def cancel(self, ticket: str) -> None:
        self.client.cancel_workflow(ticket)

    def limit(self, slots: int) -> None:
        """Set how many executions may run at once over all workers."""
        queue = self.client.retrieve_queue(QUEUE)
        if queue is not None and queue.global_concurrency != slots:
            queue.set_global_concurrency(slots)

    def holders(self) -> dict[str, str]:
        """Ticket -> worker, by the engine."""
        held = self.client.list_workflows(status="PENDING", queue_name=QUEUE, load_input=False, load_output=False)
        return {w.workflow_id: w.executor_id or "" for w in held}

    def forget(self, older: float = FORGET_AFTER) -> int:
        """Delete old ended turns from the engine's tables, which never does so itself; returns how many."""
        found = self.client.list_workflows(status=ENDED, name=WORKFLOW, load_input=False, load_output=False, limit=FORGET_AT_ONCE)
        before = (time.time() - older) * 1000
        old = [w.workflow_id for w in found if (w.updated_at or 0) < before]
        if old:
            self.client.delete_workflows(old)
        return len(old)

    def over(self, tickets: list[str]) -> set[str]:
        """The tickets among these that the engine has ended or does not know."""
        known = self.client.list_workflows(workflow_ids=tickets, load_input=False, load_output=False) if tickets else []
        return set(tickets) - {w.workflow_id for w in known if w.status not in ENDED}

    def close(self) -> None:
        self.client.destroy()


def _let_go(database: Database) -> None:
    """Close the connections of a database: at close, or when the queue is garbage-collected."""
    database.engine.dispose()
    database.leases.dispose()


class DurableQueue:
    """The queue over one database: reads from the board, changes through the store and the engine."""

    def __init__(self, database: Database) -> None:
        self.database, self.board, self.engine = database, TableBoard(database), Engine(database)
        self.store = Store(database, self.engine.hand_over)
        self.notices = Notices(self.store)
        weakref.finalize(self, _let_go, database).atexit = False

    # -- reading -----------------------------------------------------------------------------------------------------------------

    def all(self, states: Sequence[str] = (), limit: int = 1000, words: Sequence[str] = ()) -> Sequence[Execution]:
        return self.board.all(states, limit, words)

    def one(self, id: str) -> Execution:
        return self.board.one(id)

    def logs(self, id: str, after: int = 0, limit: int | None = None) -> Sequence[OutputPiece]:
        return self.board.logs(id, after, limit)

    def dropped(self, id: str) -> int:
        return self.board.dropped(id)

    def workers(self) -> Sequence[Worker]:
        return self.board.workers()

    def slots(self) -> int:
        return self.board.slots()

    def paused(self) -> Pause:
        return self.board.paused()

    def counts(self) -> dict[str, int]:
        return self.board.counts()

    def resumed(self) -> float:
        return self.board.resumed()

    def away(self) -> Sequence[OutageRow]:
        return self.board.away()

    def parked(self, cause: str = "") -> Sequence[Execution]:
        return self.board.parked(cause)

    # -- changing ----------------------------------------------------------------------------------------------------------------

    def add(self, jobs: Sequence[QueueJob]) -> Sequence[Execution]:
        return self.board.these(self.store.add(jobs))

    def cancel(self, id: str, reason: str = "") -> Execution:
        found = self.one(id)
        ticket = self.store.cancel(found.id, reason)
        if ticket:
            self.engine.cancel(ticket)
        return self.one(found.id)

    def retry(self, id: str) -> Execution:
        found = self.one(id)
        self.store.retry(found.id)
        return self.one(found.id)

    def pause(self, reason: str, by: str = "") -> Pause:
        self.store.pause(reason, by)
        self.engine.limit(0)
        return self.paused()

    def hold(self, reason: str, kind: str, until: float) -> None:
        """Pause in a way that ends by itself (`release`). Does not replace a pause that a person must end."""
        self.store.pause(reason, "detent", kind, until)
        self.engine.limit(0)

    def release(self, kinds: Sequence[str]) -> None:
        """End a pause of these kinds."""
        if self.store.release(kinds):
            self.engine.limit(self.store.limit(0))

    def resume(self) -> Pause:
        before = self.paused()
        self.store.resume()
        self.engine.limit(self.store.limit(0))
        return before

    def wake(self, thing: str) -> bool:
        """End an outage: enqueue what waited for it. False if there was none."""
        was = self.store.clear(thing)
        self.engine.limit(self.store.limit(0))
        return was

    def put_right(self, worker: str, running: set[str]) -> None:
        """Enqueue again the jobs that our tables have as ready or running here but the engine has ended, after a crash between the two."""
        doubtful = self.store.doubtful(worker, running)
        over = self.engine.over([ticket for _, ticket in doubtful])
        for id, ticket in doubtful:
            if ticket in over:
                self.store.hand_over_again(id, ticket)

    def close(self) -> None:
        self.engine.close()
        _let_go(self.database)
