"""All changes to the queue's own tables, each in one transaction, which also enqueues ready jobs in the engine.

Each change checks the state it expects, so that a worker that was declared dead and wakes up changes nothing.
"""

import json
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate
from typing import Any, NamedTuple

import sqlalchemy as sa

from detent.errors import DetentError
from detent.queue import outages
from detent.queue.database import Database, unreachable
from detent.queue.order import in_order
from detent.queue.queue_protocol import AGAIN, DROPPED, ENDS, LIVE, MOST_FAILURES, MOST_STARTS, ExecutionEnd, QueueJob, UnknownExecution

CHANGING = 0x64746E7472  # id of the advisory lock for changes to jobs and needs
PATIENCE = 15.0  # seconds to wait for that lock
AT_ONCE = 100  # jobs added in one transaction
GAP = 0.11  # seconds between these transactions: a waiting SQLite client retries every 0.1 s
KEPT_DAYS = 30
HELD = 2.0  # seconds until a job that a pause stopped is enqueued again
KEPT = 32_000_000  # newest characters of output kept for a job
LOOK_AGAIN = 64  # pieces between checks of that size


class QueuedJob(NamedTuple):
    """A job for the engine. Its unique ticket makes enqueueing idempotent."""

    ticket: str
    id: str
    attempt: int
    priority: int
    delay: float = 0.0
    added: float = 0.0  # when the job was added, which orders equals even if it is enqueued again


HandOver = Callable[[sa.Connection, QueuedJob], None]


class Store:
    """The writing side of the queue's tables."""

    def __init__(self, database: Database, hand_over: HandOver) -> None:
        self.database, self.hand_over = database, hand_over
        self.jobs, self.needs, self.meta = database.tables.jobs, database.tables.needs, database.tables.meta

    @contextmanager
    def changing(self) -> Iterator[sa.Connection]:
        """A transaction that excludes others that change jobs."""
        try:
            with self.database.engine.begin() as c:
                if self.database.engine.dialect.name == "postgresql":
                    c.execute(sa.text(f"SET LOCAL lock_timeout = '{PATIENCE:.0f}s'"))
                    c.execute(sa.select(sa.func.pg_advisory_xact_lock(CHANGING)))
                yield c
        except sa.exc.OperationalError as e:
            raise unreachable(self.database.engine, e) from e

    # -- calls of people -------------------------------------------------------------------------------------------------------

    def add(self, jobs: Sequence[QueueJob]) -> list[str]:
        """Add jobs; returns their ids. A job that exists, or whose item has a live one, is not added again.

        Jobs that could never run are refused first. Many are added in batches, so that workers get their turn.
        """
        ordered = in_order(jobs)
        self._can_be_met(jobs)
        kept: dict[str, str] = {}
        for first in range(0, len(ordered), AT_ONCE):
            if first:
                time.sleep(GAP)
            with self.changing() as c:
                kept |= {job.id: self._take_in(c, job) for job in ordered[first : first + AT_ONCE]}
        return [kept[job.id] for job in jobs]

    def _can_be_met(self, jobs: Sequence[QueueJob]) -> None:
        wanted = {item: job for job in jobs for item in job.needs}
        for job in jobs:
            wanted.pop(job.item, None)
        j = self.jobs
        with self.database.engine.begin() as c:
            met = set(c.execute(sa.select(j.c.item).where(j.c.item.in_(wanted), j.c.state.in_((*LIVE, "done")))).scalars())
        for item, job in wanted.items():
            if item not in met:
                raise DetentError(
                    f"{job.item or job.id} needs {item}, which is not done and not in the queue", f"add it too: detent queue add {item}"
                )

    def _take_in(self, c: sa.Connection, job: QueueJob) -> str:
        """Add a job unless it is there: as waiting, or enqueued if it needs nothing. Returns the id it has in the queue."""
        j = self.jobs
        live = sa.and_(j.c.item == job.item, j.c.item != "", j.c.state.in_(LIVE))
        there = c.execute(sa.select(j.c.id).where(sa.or_(j.c.id == job.id, live))).scalar()
        if there is not None:
            return str(there)
        row = {"item": job.item, "title": job.title, "priority": job.priority, "state": "waiting", "attempt": 1, "starts": 0}
        c.execute(sa.insert(j).values(id=job.id, **row, added=self.database.now, worker="", ticket="", reason=""))
        if waits := [item for item in job.needs if self._is_open(c, item)]:
            c.execute(sa.insert(self.needs), [{"job": job.id, "item": item} for item in waits])
        else:
            self._hand_over(c, job.id, 1, job.priority, 0)
        return job.id

    def _is_open(self, c: sa.Connection, item: str) -> bool:
        states = set(c.execute(sa.select(self.jobs.c.state).where(self.jobs.c.item == item)).scalars())
        return bool(states & set(LIVE)) or "done" not in states

    def _release(self, c: sa.Connection, which: sa.ColumnElement[bool]) -> None:
        """Enqueue the waiting jobs among these that need nothing any more."""
        j, n = self.jobs, self.needs
        free = sa.select(j.c.id, j.c.attempt, j.c.priority, j.c.starts).where(
            which, j.c.state == "waiting", ~sa.exists().where(n.c.job == j.c.id)
        )
        for row in c.execute(free.order_by(j.c.priority, j.c.added)).all():
            self._hand_over(c, row.id, row.attempt, row.priority, row.starts)

    def _hand_over(self, c: sa.Connection, id: str, attempt: int, priority: int, starts: int, delay: float = 0.0, ticket: str = "") -> None:
        added = c.execute(sa.select(self.jobs.c.added).where(self.jobs.c.id == id)).scalar_one()
        turn = QueuedJob(ticket or f"{id}~{attempt}~{starts}", id, attempt, priority, delay, added)
        c.execute(sa.update(self.jobs).where(self.jobs.c.id == id).values(state="ready", ticket=turn.ticket, worker=""))
        self.hand_over(c, turn)

    def cancel(self, id: str, reason: str) -> str:
        """Cancel a job; returns its ticket. An ended job is left alone."""
        with self.changing() as c:
            row = self._row(c, id)
            if row.state in ENDS:
                return ""
            values = {"state": "cancelled", "reason": reason or "cancelled by a person", "ended": self.database.now}
            c.execute(sa.update(self.jobs).where(self.jobs.c.id == id).values(**values))
            return str(row.ticket)

    def retry(self, id: str) -> None:
        """Retry a job that failed, is blocked or was cancelled."""
        j = self.jobs
        with self.changing() as c:
            row = self._row(c, id)
            if row.state not in AGAIN:
                raise DetentError(f"{id} is {row.state}; only what is {', '.join(AGAIN)} can be tried again", "see `detent queue list`")
            if c.execute(sa.select(j.c.id).where(j.c.item == row.item, j.c.item != "", j.c.state.in_(LIVE))).first():
                raise DetentError(f"item {row.item} is in the queue already", "see `detent queue list`")
            fresh = {
                "state": "waiting",
                "attempt": row.attempt + 1,
                "starts": 0,
                "started": None,
                "ended": None,
                "exit_code": None,
                "cause": "",
            }
            c.execute(sa.update(j).where(j.c.id == id).values(**fresh, ticket="", reason="", added=self.database.now))
            self._release(c, sa.and_(j.c.id == id))

    def _row(self, c: sa.Connection, id: str) -> sa.Row[Any]:
        row = c.execute(sa.select(self.jobs).where(self.jobs.c.id == id)).first()
        if row is None:
            raise UnknownExecution(id)
        return row

    # -- pausing -----------------------------------------------------------------------------------------------------------------

    def pause(self, reason: str, by: str, kind: str = "", until: float = 0.0) -> None:
        with self.changing() as c:
            self._pause(c, reason, by, kind, until)

    def _pause(self, c: sa.Connection, reason: str, by: str, kind: str = "", until: float = 0.0) -> None:
        """Store a pause. One that a person must end replaces one that ends by itself, and is never replaced."""
        before = json.loads(self._get(c, "paused") or "{}")
        if before and not (before.get("kind") and (not kind or kind == before["kind"])):
            return
        since = before["since"] if before and kind else c.execute(sa.select(self.database.now)).scalar_one()
        self._put(c, "paused", json.dumps({"reason": reason, "by": by, "since": since, "kind": kind, "until": until}))

    def resume(self) -> None:
        """End any pause for a person, and reset failures in a row; budgets count from now."""
        with self.changing() as c:
            c.execute(sa.delete(self.meta).where(self.meta.c.key.in_(("paused", "failures", outages.IN_A_ROW))))
            self._put(c, "resumed", str(c.execute(sa.select(self.database.now)).scalar_one()))

    def release(self, kinds: Sequence[str]) -> bool:
        """End a pause of these kinds; whether there was one."""
        with self.changing() as c:
            if json.loads(self._get(c, "paused") or "{}").get("kind", "") not in kinds:
                return False
            c.execute(sa.delete(self.meta).where(self.meta.c.key == "paused"))
            return True

    def limit(self, slots: int) -> int:
        """Store the limit over all workers (0: keep it); returns the current limit, which is 0 while the queue is paused."""
        with self.changing() as c:
            if slots:
                self._put(c, "slots", str(slots))
            return 0 if self._is_held(c) else int(self._get(c, "slots") or 0)

    def _is_held(self, c: sa.Connection) -> bool:
        return bool(self._get(c, "paused")) or outages.holding(outages.read(self._get(c, outages.KEY))) is not None

    def _get(self, c: sa.Connection, key: str) -> str:
        return c.execute(sa.select(self.meta.c.value).where(self.meta.c.key == key)).scalar() or ""

    def _put(self, c: sa.Connection, key: str, value: str) -> None:
        if not c.execute(sa.update(self.meta).where(self.meta.c.key == key).values(value=value)).rowcount:
            c.execute(sa.insert(self.meta).values(key=key, value=value))

    # -- calls of workers --------------------------------------------------------------------------------------------------------

    def begin(self, id: str, attempt: int, ticket: str, worker: str) -> bool:
        """Start a job on a worker. False if it ended, was cancelled, the queue is paused, or it has crashed too many workers."""
        with self.changing() as c:
            row = self._row(c, id)
            if row.attempt != attempt or row.ticket != ticket or row.state not in ("ready", "running"):
                return False
            if row.state == "ready" and self._is_held(c):  # paused just as the engine dequeued it
                self._hand_over(c, id, attempt, row.priority, row.starts, HELD, self._later(row.ticket))
                return False
            if row.starts >= MOST_STARTS:
                why = f"it was started {row.starts} times and never finished: its worker died, or the program disappeared"
                self._end(c, row, ExecutionEnd("failed", why), None)
                return False
            values = {"state": "running", "worker": worker, "starts": row.starts + 1, "reason": "", "cause": ""}
            started = sa.func.coalesce(self.jobs.c.started, self.database.now)
            c.execute(sa.update(self.jobs).where(self.jobs.c.id == id).values(**values, started=started))
            return True

    def finish(self, id: str, attempt: int, worker: str, outcome: ExecutionEnd, code: int | None, delay: float) -> bool:
        """Store how a job ended, and release what waited for it. False if the worker does not hold it any more."""
        with self.changing() as c:
            row = self._row(c, id)
            if (row.attempt, row.worker, row.state) != (attempt, worker, "running"):
                return False
            if outcome.state == "again":
                self._again(c, row, outcome, delay)
                return True
            self._end(c, row, outcome, code)
            return True

    def _again(self, c: sa.Connection, row: sa.Row[Any], outcome: ExecutionEnd, delay: float) -> None:
        """Enqueue a job again. If it asked to wait, its start does not count."""
        met = self._met(c, outcome) if outcome.cause else 0.0
        later = outcome.delay or met
        starts = row.starts - 1 if later else row.starts
        c.execute(sa.update(self.jobs).where(self.jobs.c.id == row.id).values(reason=outcome.reason, cause=outcome.cause, starts=starts))
        ticket = self._later(row.ticket) if later else ""  # a ticket can be used only once
        self._hand_over(c, row.id, row.attempt, row.priority, starts, later or delay, ticket)

    def _later(self, ticket: str) -> str:
        first, _, number = ticket.partition("~later")
        return f"{first}~later{int(number or 1) + 1}" if "~later" in ticket else f"{first}~later"

    def _met(self, c: sa.Connection, outcome: ExecutionEnd) -> float:
        """Store the outage of an outcome; returns the seconds until its retry."""
        now, found = c.execute(sa.select(self.database.now)).scalar_one(), outages.read(self._get(c, outages.KEY))
        found[outcome.cause] = outages.met(found, outcome.cause, outcome.reason, now)
        self._put(c, outages.KEY, outages.write(found))
        return max(1.0, found[outcome.cause].until - now)

    def meet_outage(self, thing: str, message: str) -> None:
        """Store an outage."""
        with self.changing() as c:
            self._met(c, ExecutionEnd("again", message, cause=thing))

    def clear(self, thing: str) -> bool:
        """Remove an outage, and enqueue what waited for it in its old order; whether there was one."""
        j = self.jobs
        with self.changing() as c:
            found = outages.read(self._get(c, outages.KEY))
            was = found.pop(thing, None)
            if was is not None:
                self._put(c, outages.KEY, outages.write(found))
            for row in c.execute(sa.select(j).where(j.c.state == "ready", j.c.cause == thing).order_by(j.c.priority, j.c.added)).all():
                c.execute(sa.update(j).where(j.c.id == row.id).values(reason="", cause=""))
                self._hand_over(c, row.id, row.attempt, row.priority, row.starts, 0.0, self._later(row.ticket))
            return was is not None

    def _end(self, c: sa.Connection, row: sa.Row[Any], outcome: ExecutionEnd, code: int | None) -> None:
        values: dict[str, Any] = {"state": outcome.state, "reason": outcome.reason, "cause": outcome.cause, "exit_code": code, "worker": ""}
        values["ended"] = self.database.now
        c.execute(sa.update(self.jobs).where(self.jobs.c.id == row.id).values(**values))
        self._put(c, outages.KEY, outages.write(outages.after(outages.read(self._get(c, outages.KEY)), outcome.cause)))
        if outcome.state == "done":
            self._meet(c, self.needs.c.item == row.item)
        self._count(c, row, outcome)

    def _meet(self, c: sa.Connection, which: sa.ColumnElement[bool]) -> None:
        """Remove these needs, and enqueue jobs that need nothing else."""
        waiting = list(c.execute(sa.delete(self.needs).where(which).returning(self.needs.c.job)).scalars())
        self._release(c, self.jobs.c.id.in_(waiting))

    def _count(self, c: sa.Connection, row: sa.Row[Any], outcome: ExecutionEnd) -> None:
        """Count failures in a row, and executions in a row parked by the same outage; too many of either pause the queue."""
        kept, n = outages.parked_in_a_row(self._get(c, outages.IN_A_ROW), outcome.cause)
        self._put(c, outages.IN_A_ROW, kept)
        if outages.too_many(n):
            why = f"{n} executions in a row wait because of {outcome.cause}; the last was {row.item or row.id}: {outcome.reason}"
            self._pause(c, why, "detent", outages.pause_kind(outcome.cause))
        if outcome.state not in ("done", "failed"):
            return
        failures = 0 if outcome.state == "done" else int(self._get(c, "failures") or 0) + 1
        self._put(c, "failures", str(failures))
        if failures >= MOST_FAILURES:
            last = f"the last was {row.item or row.id}" + (f": {outcome.reason}" if outcome.reason else "")
            self._pause(c, f"{failures} executions failed in a row; {last}", "detent")

    # -- reconciling -------------------------------------------------------------------------------------------------------------

    def needed(self) -> set[str]:
        """The items that jobs wait for."""
        with self.database.engine.begin() as c:
            return set(c.execute(sa.select(self.needs.c.item).distinct()).scalars())

    def meet(self, items: Sequence[str]) -> None:
        """Release jobs that waited for these items, which are closed."""
        with self.changing() as c:
            self._meet(c, self.needs.c.item.in_(items))

    def correct(self, id: str, outcome: ExecutionEnd) -> None:
        """Store the end of a run that ended without a worker. Does nothing if a worker holds the job or it is done."""
        with self.changing() as c:
            row = self._row(c, id)
            if row.state not in ("running", "done", outcome.state):
                self._end(c, row, outcome, row.exit_code)

    # -- cleaning up after workers -----------------------------------------------------------------------------------------------

    def hand_back(self, workers: Sequence[str], excused: Collection[str] = ()) -> list[str]:
        """Free the jobs of dead workers; returns those that were running. For an excused worker, whom no job crashed, the start does not count."""
        j = self.jobs
        with self.changing() as c:
            held = j.c.worker.in_(workers)
            fewer = sa.case((j.c.worker.in_(excused), j.c.starts - 1), else_=j.c.starts)
            free = sa.update(j).where(held, j.c.state == "running").values(state="ready", worker="", starts=fewer)
            lost = c.execute(free.returning(j.c.id)).scalars()
            found = list(lost)
            c.execute(sa.update(j).where(held).values(worker=""))
            return found

    def let_go(self, id: str, worker: str) -> None:
        """Record that a cancelled job has left its worker."""
        with self.changing() as c:
            c.execute(sa.update(self.jobs).where(self.jobs.c.id == id, self.jobs.c.worker == worker).values(worker=""))

    def unwanted(self, worker: str) -> list[str]:
        """The jobs that a worker still holds although they have ended or were cancelled."""
        j = self.jobs
        with self.changing() as c:
            return list(c.execute(sa.select(j.c.id).where(j.c.worker == worker, j.c.state != "running")).scalars())

    def doubtful(self, worker: str, running: set[str]) -> list[tuple[str, str]]:
        """(id, ticket) of jobs that the engine may have lost: ready after an earlier start, or marked as running on this worker but not in `running`."""
        j = self.jobs
        taken = sa.or_(sa.and_(j.c.state == "ready", j.c.starts > 0), sa.and_(j.c.state == "running", j.c.worker == worker))
        with self.database.engine.begin() as c:
            rows = c.execute(sa.select(j.c.id, j.c.ticket).where(taken).order_by(j.c.added).limit(100)).all()
        return [(row.id, row.ticket) for row in rows if row.id not in running]

    def hand_over_again(self, id: str, ticket: str) -> None:
        """Enqueue a job that the engine lost. A ready one counts a start, so that this cannot repeat forever."""
        with self.changing() as c:
            row = self._row(c, id)
            if row.ticket == ticket and row.state in ("ready", "running"):
                starts = row.starts + (row.state == "ready")
                c.execute(sa.update(self.jobs).where(self.jobs.c.id == id).values(starts=starts))
                self._hand_over(c, id, row.attempt, row.priority, starts, 0.0, self._later(row.ticket))

    def write(self, id: str, attempt: int, text: str) -> None:
        """Store a piece of output; of a very long output the oldest pieces are dropped."""
        logs = self.database.tables.logs
        with self.database.engine.begin() as c:
            seq = (c.execute(sa.select(sa.func.max(logs.c.seq)).where(logs.c.job == id)).scalar() or 0) + 1
            c.execute(sa.insert(logs).values(job=id, seq=seq, attempt=attempt, text=text.replace("\0", "\ufffd")))
            if seq % LOOK_AGAIN == 0:
                self._let_go_of_output(c, id)

    def _let_go_of_output(self, c: sa.Connection, id: str) -> None:
        logs = self.database.tables.logs
        sizes = c.execute(
            sa.select(logs.c.seq, sa.func.length(logs.c.text)).where(logs.c.job == id, logs.c.seq > DROPPED).order_by(logs.c.seq.desc())
        ).all()
        whole = list(accumulate(size for _, size in sizes))
        old = [(seq, size) for (seq, size), all_of_it in zip(sizes, whole, strict=True) if all_of_it > KEPT]
        if not old:
            return
        ledger = sa.and_(logs.c.job == id, logs.c.seq == DROPPED)
        before = int(c.execute(sa.select(logs.c.text).where(ledger)).scalar() or 0)
        c.execute(sa.delete(logs).where(logs.c.job == id, logs.c.seq <= old[0][0]))
        c.execute(sa.insert(logs).values(job=id, seq=DROPPED, attempt=0, text=str(before + sum(size for _, size in old))))

    def prune(self, days: float = KEPT_DAYS) -> None:
        """Delete jobs that ended long ago; their journal stays."""
        j, logs = self.jobs, self.database.tables.logs
        with self.changing() as c:
            old = list(c.execute(sa.select(j.c.id).where(j.c.state.in_(ENDS), j.c.ended < self.database.now - days * 86400)).scalars())
            for table, key in ((logs, logs.c.job), (self.needs, self.needs.c.job), (j, j.c.id)):
                c.execute(sa.delete(table).where(key.in_(old)))
