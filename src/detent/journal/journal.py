"""The journal in SQLite: one row per event, never changed afterwards. An append that returned is durable (WAL, synchronous=FULL).

Owns the file, the claims and the outbox of owed effects. Knows nothing of tables; the body of a row is opaque bytes.
"""

import sqlite3
import weakref
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

import msgspec

from detent.errors import Busy, DetentError, JournalDamaged, Moved
from detent.journal.anchor import Anchor, AnchorFile, anchor_file, journal_key
from detent.journal.holder import Holder, is_alive
from detent.journal.journal_file import open_journal
from detent.journal.journal_rows import (
    INSERT,
    KEEP_HEAD,
    SETTLE,
    TAIL,
    Entry,
    Head,
    Hot,
    JournalProof,
    JournalReader,
    Owed,
    RunClaim,
    chain,
    read_holder,
    to_row,
)

__all__ = ["Entry", "Head", "Hot", "Journal", "Owed", "RunClaim", "SqliteJournal"]


class EventLog(Protocol):
    """The events of runs: appended by compare-and-swap, read singly or in order."""

    def append(self, entry: Entry, expect: int, claim: RunClaim | None = None) -> None: ...
    def last(self, run: str) -> Entry | None: ...
    def at(self, run: str, seq: int) -> Entry | None: ...
    def attempt(self, run: str, attempt: str) -> Entry | None: ...
    def events(self, run: str, after: int = 0, limit: int = 1000) -> Sequence[Entry]: ...


class RunIndex(Protocol):
    """The runs that exist."""

    def heads(self, run: str = "") -> Sequence[Head]: ...
    def children(self, parent: str) -> Sequence[Head]: ...


class RunClaims(Protocol):
    """The claims on runs, and the effects that runs still owe."""

    def owed(self, run: str) -> Sequence[Owed]: ...
    def settled(self, owed: Owed) -> None: ...
    def claim(self, run: str, holder: Holder) -> RunClaim: ...
    def release(self, claim: RunClaim) -> None: ...


class Journal(EventLog, RunIndex, RunClaims, Protocol):
    """What the door needs of a journal."""


class Writing:
    """One transaction. One that is not `durable` (claims, settled marks) does not wait for the disk, since it can be repeated."""

    def __init__(self, db: sqlite3.Connection, path: Path, durable: bool) -> None:
        self.db, self.path, self.durable = db, path, durable

    def __enter__(self) -> sqlite3.Connection:
        try:
            if not self.durable:
                self.db.execute("PRAGMA synchronous=NORMAL")
            self.db.execute("BEGIN IMMEDIATE")
        except sqlite3.Error as e:
            self.__exit__(type(e), e, None)
        return self.db

    def __exit__(self, kind: type[BaseException] | None, e: BaseException | None, at: TracebackType | None) -> None:
        try:
            if e is None:
                self.db.execute("COMMIT")
        except sqlite3.Error as failed:
            e = failed
        finally:
            if self.db.in_transaction:
                self.db.execute("ROLLBACK")
            if not self.durable:
                self.db.execute("PRAGMA synchronous=FULL")
        if isinstance(e, sqlite3.Error):
            raise DetentError(f"the journal could not be written ({e}); nothing was changed", f"check {self.path} and the disk") from e


def _close(db: sqlite3.Connection) -> None:
    """Close a journal that was garbage-collected; does nothing in another thread than the one that opened it."""
    with suppress(sqlite3.ProgrammingError):
        db.close()


class SqliteJournal:
    """The journal in one SQLite file. One object per thread; any number of processes."""

    def __init__(self, path: Path, create: bool = False) -> None:
        self.path = path
        self.db, self._known = open_journal(path, create)
        self.id = self._known.journal
        weakref.finalize(self, _close, self.db).atexit = False
        self._anchor = AnchorFile(anchor_file(path))
        self._proof = JournalProof(self.id, journal_key(), self._known.since)
        read = JournalReader(str(path), self._rows, self._proof)
        # reading is the same for every database
        self.last, self.at, self.attempt, self.events, self.first_fault = read.last, read.at, read.attempt, read.events, read.first_fault
        self.heads, self.children, self.held, self.owed, self.has_report = read.heads, read.children, read.held, read.owed, read.has_report

    def close(self) -> None:
        self.db.close()
        self._anchor.close()

    def _writing(self, durable: bool = True) -> Writing:
        return Writing(self.db, self.path, durable)

    def append(self, entry: Entry, expect: int, claim: RunClaim | None = None) -> None:
        """Append one event, if the run is still at `expect` and the claim, if given, still holds."""
        self._anchor.ready(self._known)
        with self._writing() as db:
            at, before, prev = db.execute(TAIL, (entry.run,)).fetchone() or (0, 0, self.id)
            self._check(db, entry.run, at, expect, claim)
            n = before + 1
            digest = self._proof.signed(chain(prev, n, entry))
            db.execute(INSERT, to_row(entry, n, prev, digest))
            db.execute(KEEP_HEAD, (n,))
        self._known = Anchor(self.id, n, digest, self._proof.since)
        self._anchor.write(self._known)

    def _check(self, db: sqlite3.Connection, run: str, at: int, expect: int, claim: RunClaim | None) -> None:
        if at != expect:
            raise Moved(f"run {run} is at event {at}, not at {expect}")
        if claim is None:
            return
        epoch = (db.execute("SELECT epoch FROM claims WHERE run = ?", (run,)).fetchone() or (0,))[0]
        if epoch != claim.epoch:
            raise Busy(f"run {run} was taken over by another process", "call get_task to see where it stands")

    def _rows(self, sql: str, *args: str | int) -> Iterator[tuple[Any, ...]]:
        try:
            yield from iter(self.db.execute(sql, args).fetchone, None)  # not the cursor: leaving it would close it, maybe after its journal
        except sqlite3.DatabaseError as e:
            raise JournalDamaged(f"{self.path} cannot be read: {e}", "it was left as it is; see `detent doctor`") from e

    def settled(self, owed: Owed) -> None:
        """Mark an effect as settled, and every one owed before it."""
        with self._writing(durable=False) as db:
            db.execute(SETTLE, owed[:3])

    def claim(self, run: str, holder: Holder) -> RunClaim:
        """Claim the run; Busy says who holds it. The claim of a dead process is taken over."""
        with self._writing(durable=False) as db:
            row = db.execute("SELECT epoch, holder FROM claims WHERE run = ?", (run,)).fetchone()
            held = read_holder(self.path, run, row[1]) if row and row[1] else None
            if held and is_alive(held):
                raise Busy(f"run {run} is being worked on by process {held.pid} on {held.host} ({held.doing}) since {held.since}")
            epoch = (row[0] if row else 0) + 1
            db.execute("INSERT OR REPLACE INTO claims VALUES (?,?,?)", (run, epoch, msgspec.json.encode(holder).decode()))
        return RunClaim(run, epoch)

    def release(self, claim: RunClaim) -> None:
        with self._writing(durable=False) as db:
            db.execute("UPDATE claims SET holder = '' WHERE run = ? AND epoch = ?", claim)

    def keep_hot(self, hot: Hot) -> None:
        """Cache a finished answer for the fast path; one per run, and it may be lost."""
        with self._writing(durable=False) as db:
            db.execute("INSERT OR REPLACE INTO hot VALUES (?,?,?,?,?,?,?)", hot)
