"""Leases: which workers are alive, which are dead, and a fence that ends a worker that cannot renew.

The engine alone would leave a dead worker's executions and slots with it forever.
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

FENCED = 75  # exit code of a fenced worker
LOOKS = 2  # times a lease must be seen expired, so that workers of a machine that slept can renew


class Lease(NamedTuple):
    """A row of the table of leases."""

    id: str
    holder: Holder
    left: float


class Leases:
    """The leases of a queue, for one worker."""

    def __init__(self, database: Database, me: str, holder: Holder, slots: int, pace: Pace) -> None:
        self.database, self.me, self.holder, self.slots, self.pace = database, me, holder, slots, pace
        self._expired: dict[str, int] = {}  # worker -> times in a row seen expired
        self.excused: set[str] = set()  # workers that an outage of the database ended, not an execution

    def renew(self) -> None:
        """Renew this worker's lease, or create it, before the worker claims anything."""
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
        """The dead workers. `holding` must have been read before, so that a new worker is never among them."""
        leases = self._read()
        if any(self._is_former(lease) for lease in leases):
            self.excused |= {lease.id for lease in leases if lease.left < 0 or self._is_former(lease)}
        dead = holding - {lease.id for lease in leases} - {self.me}
        for lease in leases:
            if lease.id != self.me and self._is_dead(lease):
                dead.add(lease.id)
        return sorted(dead)

    def _read(self) -> list[Lease]:
        w = self.database.tables.workers
        with self.database.leases.begin() as c:
            rows = c.execute(sa.select(w.c.id, w.c.holder, w.c.until - self.database.now)).all()
        return [Lease(id, msgspec.json.decode(text, type=Holder), left) for id, text, left in rows]

    def _is_former(self, lease: Lease) -> bool:
        """Whether a lease belongs to an earlier worker in this same process, which restarted after losing the database."""
        mine, its = self.holder, lease.holder
        return lease.id != self.me and is_here(its) and (its.pid, its.start) == (mine.pid, mine.start)

    def _is_dead(self, lease: Lease) -> bool:
        """Whether a worker is dead: by its process if it is on this machine, else by its lease. A live process here whose lease has
        expired is stuck, and is killed. A SQLite queue has only one machine, so a reboot has ended all workers.
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
    """Ends this process if the lease was not renewed in time, so that it and its programs are gone before another worker takes over."""

    def __init__(self, pace: Pace, end: Callable[[str], None]) -> None:
        super().__init__(name="fence", daemon=True)
        self.pace, self.end = pace, end
        self._renewed, self._over = time.monotonic(), threading.Event()

    def renewed(self, asked: float) -> None:
        """Note that the lease was renewed, by a request sent at `asked`."""
        self._renewed = asked

    def disarm(self) -> None:
        self._over.set()

    def run(self) -> None:
        while not self._over.wait(self.pace.fence / 20):
            late = time.monotonic() - self._renewed
            if late > self.pace.fence:
                self.end(f"the lease could not be renewed for {late:.0f} s; another worker may take over")


def end_this_process(why: str) -> None:
    """Exit at once. The programs of this worker end with this process."""
    with suppress(OSError):
        os.write(sys.stderr.fileno(), f"detent: this worker stops: {why}\n".encode())
    os._exit(FENCED)
