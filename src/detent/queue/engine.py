"""The durable engine, as far as anybody may ask it something: handing over, cancelling, limiting, forgetting. Runs nothing.

It only says which worker holds which execution. Values go in and out as JSON: the engine's own form is pickle, which would let whoever
can write to the database run code on every machine that reads it.
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

NAME = "detent"  # of the application, for the engine
FORM = "detent-1"  # of what is handed over. A constant: by default it is a hash of sources, and other sources find no work
QUEUE, WORKFLOW = "executions", "execute"
ENDED = ["SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"]
FORGET_AFTER = 3600.0  # seconds after the end; our own tables know all that is worth knowing
FORGET_AT_ONCE = 500
LAST_PRIORITY = 1000


class Pickled(Exception):
    """A value in the engine's tables is pickled. We write none, so somebody else did."""


def refuse_pickle() -> None:
    """See to it that no value is ever unpickled. The engine would do so for a row that says of itself that it is pickled."""
    from dbos._serialization import DefaultSerializer

    def refuse(self: object, serialized_data: str) -> Any:
        raise Pickled("a value in the queue's database is pickled; it was not read")

    DefaultSerializer.deserialize = refuse  # type: ignore[method-assign, assignment]


def serializer() -> Any:
    from dbos import DBOSPortableJSONSerializer

    return DBOSPortableJSONSerializer()


class Engine:
    """The engine as a client sees it. Safe to use while no worker has ever run."""

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
            "priority": min(max(turn.priority, 0), LAST_PRIORITY) + 1,  # the engine begins at 1
        }
        if turn.delay:
            options["delay_seconds"] = turn.delay
        self.client.enqueue_in_transaction(c, options, turn.id, turn.attempt, turn.ticket)
        # Among equals the engine takes the older turn. A turn that is handed over again has the age of its job, and keeps its place.
        table = "dbos.workflow_status" if c.dialect.name == "postgresql" else "workflow_status"
        c.execute(
            sa.text(f"UPDATE {table} SET created_at = :at WHERE workflow_uuid = :id"), {"at": int(turn.added * 1000), "id": turn.ticket}
        )

    def cancel(self, ticket: str) -> None:
        self.client.cancel_workflow(ticket)

    def limit(self, slots: int) -> None:
        """How much may run at once over all workers."""
        queue = self.client.retrieve_queue(QUEUE)
        if queue is not None and queue.global_concurrency != slots:
            queue.set_global_concurrency(slots)

    def holders(self) -> dict[str, str]:
        """Who holds which ticket, as the engine has it."""
        held = self.client.list_workflows(status="PENDING", queue_name=QUEUE, load_input=False, load_output=False)
        return {w.workflow_id: w.executor_id or "" for w in held}

    def forget(self, older: float = FORGET_AFTER) -> int:
        """Take ended turns out of the engine's tables, which keeps them for ever; how many."""
        found = self.client.list_workflows(status=ENDED, name=WORKFLOW, load_input=False, load_output=False, limit=FORGET_AT_ONCE)
        before = (time.time() - older) * 1000
        old = [w.workflow_id for w in found if (w.updated_at or 0) < before]
        if old:
            self.client.delete_workflows(old)
        return len(old)

    def over(self, tickets: list[str]) -> set[str]:
        """Those of these tickets that the engine has ended, or does not know."""
        known = self.client.list_workflows(workflow_ids=tickets, load_input=False, load_output=False) if tickets else []
        return set(tickets) - {w.workflow_id for w in known if w.status not in ENDED}

    def close(self) -> None:
        self.client.destroy()


def _let_go(database: Database) -> None:
    """Close what is kept open of a database: at the end, or when nobody has the queue any more."""
    database.engine.dispose()
    database.leases.dispose()


class DurableQueue:
    """The queue and its board over one database."""

    def __init__(self, database: Database) -> None:
        self.database, self.board, self.engine = database, TableBoard(database), Engine(database)
        self.store = Store(database, self.engine.hand_over)
        self.notices = Notices(self.store)
        weakref.finalize(self, _let_go, database).atexit = False

    # -- looking -----------------------------------------------------------------------------------------------------------------

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

    # -- asking ------------------------------------------------------------------------------------------------------------------

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
        """Pause until something is there again. A pause that a person must end stays as it is."""
        self.store.pause(reason, "detent", kind, until)
        self.engine.limit(0)

    def release(self, kinds: Sequence[str]) -> None:
        """End such a pause."""
        if self.store.release(kinds):
            self.engine.limit(self.store.limit(0))

    def resume(self) -> Pause:
        before = self.paused()
        self.store.resume()
        self.engine.limit(self.store.limit(0))
        return before

    def wake(self, thing: str) -> bool:
        """A thing that was away is there again: what waited for it is handed over at once. False if nothing was away."""
        was = self.store.clear(thing)
        self.engine.limit(self.store.limit(0))
        return was

    def put_right(self, worker: str, running: set[str]) -> None:
        """Hand over again what our tables call ready or running here, and the engine has ended: something went wrong between the two."""
        doubtful = self.store.doubtful(worker, running)
        over = self.engine.over([ticket for _, ticket in doubtful])
        for id, ticket in doubtful:
            if ticket in over:
                self.store.hand_over_again(id, ticket)

    def close(self) -> None:
        self.engine.close()
        _let_go(self.database)
