"""What can be seen of a queue: executions, workers, output, why it is paused. Reads only."""

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
    """Whether a word stands in a job, as it is written or in other letters of ASCII: the embedded database knows no others."""
    columns = [jobs.c[name] for name in SEARCHED]
    lower = [sa.func.lower(column).contains(word.lower(), autoescape=True) for column in columns]
    return sa.or_(*lower, *(column.contains(word, autoescape=True) for column in columns))


class TableBoard:
    """The board over the queue's tables."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def all(self, states: Sequence[str] = (), limit: int = 1000, words: Sequence[str] = ()) -> Sequence[Execution]:
        """The executions in these states, in all where none is named: what runs, what comes next, what waits, then the newest end.

        Where words are given, each of them stands in the id, the item, the title or the reason.
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
        """The execution with this id, or the newest one of this item."""
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
        """How many characters of a very long output are no longer kept."""
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
            gone = is_here(holder) and not is_alive(holder)
            found.append(Worker(id, holder.host, holder.pid, slots, since, min(left, -1.0) if gone else left))
        return found

    def slots(self) -> int:
        """How many executions may run at once: what the living workers have, and no more than is set over all of them."""
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
        """When a person last let the queue continue; 0 if nobody ever did."""
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
        """What is away now, the oldest first."""
        meta = self.database.tables.meta
        with self.database.engine.begin() as c:
            text = c.execute(sa.select(meta.c.value).where(meta.c.key == outages.KEY)).scalar()
        return sorted(outages.read(text or "").values(), key=lambda each: each.since)

    def parked(self, cause: str = "") -> Sequence[Execution]:
        """What waits because something was away: for a person, or to be asked again. Of one cause, or of any."""
        j = self.database.tables.jobs
        wanted = j.c.cause == cause if cause else j.c.cause != ""
        query = sa.select(*(j.c[name] for name in COLUMNS)).where(wanted, j.c.state.in_(("blocked", "failed", "ready"))).order_by(j.c.added)
        with self.database.engine.begin() as c:
            return [Execution._make((*row, ())) for row in c.execute(query).all()]

    def counts(self) -> dict[str, int]:
        """How many executions there are in each state that is not an end."""
        j = self.database.tables.jobs
        with self.database.engine.begin() as c:
            rows = c.execute(sa.select(j.c.state, sa.func.count()).where(j.c.state.in_(LIVE)).group_by(j.c.state)).all()
        return {**dict.fromkeys(LIVE, 0), **{state: int(n) for state, n in rows}}
