"""Reads a queue's state: executions, workers, output, pause, outages."""

import json
from collections.abc import Sequence

import msgspec
import sqlalchemy as sa

from detent.journal.holder import Holder, is_alive, is_here
from detent.queue import outages
from detent.queue.database import Database
from detent.queue.queue_protocol import DROPPED, LIVE, Execution, OutageRow, OutputPiece, Pause, UnknownExecution, Worker

AT_ONCE = 1000
SEARCHED = ("id", "item", "title", "reason")
FIRST = {"running": 0, "ready": 1, "waiting": 2}
COLUMNS = Execution._fields[:-1]


def _holds(jobs: sa.Table, word: str) -> sa.ColumnElement[bool]:
    """A condition that a job contains a word, ignoring case for ASCII only, as SQLite does."""
    columns = [jobs.c[name] for name in SEARCHED]
    lower = [sa.func.lower(column).contains(word.lower(), autoescape=True) for column in columns]
    return sa.or_(*lower, *(column.contains(word, autoescape=True) for column in columns))


class TableBoard:
    """The reading side of the queue's tables."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def all(self, states: Sequence[str] = (), limit: int = 1000, words: Sequence[str] = ()) -> Sequence[Execution]:
        """The executions in these states (none: all): running, ready, waiting, then the last ended first.

        `words`: each must be in the id, the item, the title or the reason.
        """
        j = self.database.tables.jobs
        rank = sa.case(FIRST, value=j.c.state, else_=3)
        columns = [j.c[name] for name in COLUMNS]
        query = sa.select(*columns).order_by(rank, sa.case((rank < 3, j.c.priority), else_=0), sa.func.coalesce(-j.c.ended, j.c.added))
        wanted = [j.c.state.in_(states)] if states else []
        with self.database.engine.begin() as c:
            rows = c.execute(query.where(*wanted, *(_holds(j, word) for word in words)).limit(limit)).all()
            return self._with_needs(c, [Execution._make((*row, ())) for row in rows])

    def one(self, id: str) -> Execution:
        """The execution with this id, or else the newest one of this item."""
        j = self.database.tables.jobs
        query = sa.select(*(j.c[name] for name in COLUMNS)).where(sa.or_(j.c.id == id, sa.and_(j.c.item == id, j.c.item != "")))
        with self.database.engine.begin() as c:
            row = c.execute(query.order_by(sa.case((j.c.id == id, 0), else_=1), j.c.added.desc()).limit(1)).first()
            if row is None:
                raise UnknownExecution(id)
            return self._with_needs(c, [Execution._make((*row, ()))])[0]

    def these(self, ids: Sequence[str]) -> list[Execution]:
        """The executions with these ids, in this order."""
        j = self.database.tables.jobs
        found: dict[str, Execution] = {}
        for first in range(0, len(ids), AT_ONCE):
            query = sa.select(*(j.c[name] for name in COLUMNS)).where(j.c.id.in_(ids[first : first + AT_ONCE]))
            with self.database.engine.begin() as c:
                rows = self._with_needs(c, [Execution._make((*row, ())) for row in c.execute(query).all()])
            found |= {e.id: e for e in rows}
        return [found[id] for id in ids]

    def _with_needs(self, c: sa.Connection, found: list[Execution]) -> list[Execution]:
        if not any(e.state == "waiting" for e in found):
            return found
        needs = self.database.tables.needs
        waits: dict[str, list[str]] = {}
        for job, item in c.execute(sa.select(needs.c.job, needs.c.item).order_by(needs.c.item)):
            waits.setdefault(job, []).append(item)
        return [e._replace(waits_for=tuple(waits.get(e.id, ()))) if e.state == "waiting" else e for e in found]

    def logs(self, id: str, after: int = 0, limit: int | None = None) -> Sequence[OutputPiece]:
        logs = self.database.tables.logs
        query = sa.select(logs.c.seq, logs.c.attempt, logs.c.text).where(logs.c.job == id, logs.c.seq > max(DROPPED, after))
        with self.database.engine.begin() as c:
            return [OutputPiece._make(row) for row in c.execute(query.order_by(logs.c.seq).limit(limit))]

    def dropped(self, id: str) -> int:
        """The number of characters dropped from a very long output."""
        logs = self.database.tables.logs
        with self.database.engine.begin() as c:
            return int(c.execute(sa.select(logs.c.text).where(logs.c.job == id, logs.c.seq == DROPPED)).scalar() or 0)

    def workers(self) -> Sequence[Worker]:
        w = self.database.tables.workers
        with self.database.leases.begin() as c:
            rows = c.execute(sa.select(w.c.id, w.c.holder, w.c.slots, w.c.since, w.c.until - self.database.now).order_by(w.c.since)).all()
        found = []
        for id, text, slots, since, left in rows:
            holder = msgspec.json.decode(text, type=Holder)
            dead = is_here(holder) and not is_alive(holder)
            found.append(Worker(id, holder.host, holder.pid, slots, since, min(left, -1.0) if dead else left))
        return found

    def slots(self) -> int:
        """How many executions may run at once: the slots of live workers, up to the configured maximum."""
        meta, have = self.database.tables.meta, sum(w.slots for w in self.workers() if w.left >= 0)
        with self.database.engine.begin() as c:
            most = c.execute(sa.select(meta.c.value).where(meta.c.key == "slots")).scalar()
        return min(have, int(most)) if most else have

    def paused(self) -> Pause:
        meta = self.database.tables.meta
        with self.database.engine.begin() as c:
            text = c.execute(sa.select(meta.c.value).where(meta.c.key == "paused")).scalar()
        return Pause(**json.loads(text)) if text else Pause()

    def resumed(self) -> float:
        """When a person last resumed the queue; 0 if never."""
        return float(self._meta("resumed") or 0)

    def _meta(self, key: str) -> str:
        meta = self.database.tables.meta
        with self.database.engine.begin() as c:
            return c.execute(sa.select(meta.c.value).where(meta.c.key == key)).scalar() or ""

    def now(self) -> float:
        """The database's own time."""
        with self.database.engine.begin() as c:
            return float(c.execute(sa.select(self.database.now)).scalar_one())

    def away(self) -> Sequence[OutageRow]:
        """The current outages, the oldest first."""
        meta = self.database.tables.meta
        with self.database.engine.begin() as c:
            text = c.execute(sa.select(meta.c.value).where(meta.c.key == outages.KEY)).scalar()
        return sorted(outages.read(text or "").values(), key=lambda each: each.since)

    def parked(self, cause: str = "") -> Sequence[Execution]:
        """The executions parked by an outage, of one cause or any."""
        j = self.database.tables.jobs
        wanted = j.c.cause == cause if cause else j.c.cause != ""
        query = sa.select(*(j.c[name] for name in COLUMNS)).where(wanted, j.c.state.in_(("blocked", "failed", "ready"))).order_by(j.c.added)
        with self.database.engine.begin() as c:
            return [Execution._make((*row, ())) for row in c.execute(query).all()]

    def counts(self) -> dict[str, int]:
        """The number of executions in each live state."""
        j = self.database.tables.jobs
        with self.database.engine.begin() as c:
            rows = c.execute(sa.select(j.c.state, sa.func.count()).where(j.c.state.in_(LIVE)).group_by(j.c.state)).all()
        return {**dict.fromkeys(LIVE, 0), **{state: int(n) for state, n in rows}}
