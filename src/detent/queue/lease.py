"""Leases: which workers live, and taking over from those that do not. Ends its own process when it cannot say that it lives.

The engine alone leaves what a dead worker held on that worker for ever, and its slots taken.
"""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

import msgspec
import sqlalchemy as sa

from detent.journal.holder import Holder, is_alive, is_here
from detent.queue.database import Database
from detent.queue.queue_protocol import Pace

FENCED = 75  # exit code of a worker that ended itself
LOOKS = 2  # a lease must be seen expired this often: after a machine slept, its workers get a chance to renew


class Lease(NamedTuple):
    """A lease as it stands in the table."""

    id: str
    holder: Holder
    left: float


class Leases:
    """The leases of one queue, seen by one worker."""

    def __init__(self, database: Database, me: str, holder: Holder, slots: int, pace: Pace) -> None:
        self.database, self.me, self.holder, self.slots, self.pace = database, me, holder, slots, pace
        self._expired: dict[str, int] = {}  # how often in a row each was seen expired
        self.excused: set[str] = set()  # those that an outage of the database ended, and no execution did

    def renew(self) -> None:
        """Say that this worker lives; the first time before it claims anything."""
        w, now = self.database.tables.workers, self.database.now
        with self.database.leases.begin() as c:
            if not c.execute(sa.update(w).where(w.c.id == self.me).values(until=now + self.pace.lease)).rowcount:
                text = msgspec.json.encode(self.holder).decode()
                c.execute(sa.insert(w).values(id=self.me, holder=text, slots=self.slots, since=now, until=now + self.pace.lease))

    def give_up(self, ids: list[str]) -> None:
        w = self.database.tables.workers
        with self.database.leases.begin() as c:
            c.execute(sa.delete(w).where(w.c.id.in_(ids)))

    def dead(self, holding: set[str]) -> list[str]:
        """Those of the workers that can be taken over. `holding` was read before, so that a newborn worker is never among them."""
        leases = self._read()
        if any(self._is_former(lease) for lease in leases):
            self.excused |= {lease.id for lease in leases if lease.left < 0 or self._is_former(lease)}
        gone = holding - {lease.id for lease in leases} - {self.me}
        for lease in leases:
            if lease.id != self.me and self._is_dead(lease):
                gone.add(lease.id)
        return sorted(gone)

    def _read(self) -> list[Lease]:
        w = self.database.tables.workers
        with self.database.leases.begin() as c:
            rows = c.execute(sa.select(w.c.id, w.c.holder, w.c.until - self.database.now)).all()
        return [Lease(id, msgspec.json.decode(text, type=Holder), left) for id, text, left in rows]

    def _is_former(self, lease: Lease) -> bool:
        """Whether a lease is of this very process, before it lost the database and began again."""
        mine, its = self.holder, lease.holder
        return lease.id != self.me and is_here(its) and (its.pid, its.start) == (mine.pid, mine.start)

    def _is_dead(self, lease: Lease) -> bool:
        """Where its process would be seen from here, that is looked at; one that lives without a lease is stuck, and is ended first.
        Of any other only the lease counts. An embedded queue has one machine, so there a restart of it has ended them all.
        """
        if self._is_former(lease):
            return True
        here = is_here(lease.holder)
        if (here or self.database.engine.dialect.name == "sqlite") and not is_alive(lease.holder):
            return True
        seen = self._expired.get(lease.id, 0) + 1 if lease.left < 0 else 0
        self._expired[lease.id] = seen
        if seen < LOOKS:
            return False
        if here:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(lease.holder.pid, signal.SIGKILL)
        return True


class Fence(threading.Thread):
    """Ends this process if the lease could not be renewed in time: whoever takes over must find it gone, and its programs with it."""

    def __init__(self, pace: Pace, end: Callable[[str], None]) -> None:
        super().__init__(name="fence", daemon=True)
        self.pace, self.end = pace, end
        self._renewed, self._over = time.monotonic(), threading.Event()

    def renewed(self, asked: float) -> None:
        """The lease was renewed; it counts from when that was asked for."""
        self._renewed = asked

    def disarm(self) -> None:
        self._over.set()

    def run(self) -> None:
        while not self._over.wait(self.pace.fence / 20):
            late = time.monotonic() - self._renewed
            if late > self.pace.fence:
                self.end(f"the lease could not be renewed for {late:.0f} s; another worker may take over")


def end_this_process(why: str) -> None:
    """Leave at once. The programs of this worker have this process as their parent and end with it."""
    with suppress(OSError):
        os.write(sys.stderr.fileno(), f"detent: this worker stops: {why}\n".encode())
    os._exit(FENCED)
