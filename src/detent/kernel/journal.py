"""The journal: one row per event, never changed afterwards; here in SQLite. Acknowledged means durable (WAL, synchronous=FULL).

Owns the file, its schema, the hash chain, claims and the outbox of owed effects. Knows nothing of tables: a row's body is bytes to it.
"""

import sqlite3
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Protocol

import msgspec

from detent.errors import Busy, DetentError, JournalDamaged, Moved
from detent.kernel.anchor import Anchor, AnchorFile, anchor_file
from detent.kernel.holder import Holder, is_alive
from detent.kernel.journal_file import open_journal

GENESIS = "0" * 64


class Entry(NamedTuple):
    """One event as the journal keeps it."""

    run: str
    seq: int
    workflow: str
    state: str
    on: str
    status: str
    at: str
    attempt: str  # the attempt this answers for good; empty if a repeat is to be judged anew
    tree: str
    body: bytes
    brief: str
    parent: str = ""
    worktree: str = ""
    ended: bool = False
    owes: tuple[str, ...] = ()
    n: int = 0
    hash: str = ""


class Head(NamedTuple):
    """Where a run stands, without its event."""

    run: str
    seq: int
    workflow: str
    state: str
    parent: str
    worktree: str
    at: str
    ended: bool


class Owed(NamedTuple):
    """An effect that is not settled yet."""

    run: str
    seq: int
    pos: int
    effect: str


class Hot(NamedTuple):
    """A finished answer to `get-task`, and the stamps of what it depends on: a line each, file and stamp parted by a tab."""

    run: str
    seq: int
    stamps: str
    text: str
    json: str
    code: int
    rules: str = ""  # what a client's hook must know of this moment


class Claim(NamedTuple):
    """The right to move a run, until it is given back or its holder dies. The epoch fences off whoever lost it."""

    run: str
    epoch: int


class Journal(Protocol):
    """What the door needs of a journal."""

    def append(self, entry: Entry, expect: int, claim: Claim | None = None) -> None: ...
    def last(self, run: str) -> Entry | None: ...
    def at(self, run: str, seq: int) -> Entry | None: ...
    def attempt(self, run: str, attempt: str) -> Entry | None: ...
    def events(self, run: str, after: int = 0, limit: int = 1000) -> Sequence[Entry]: ...
    def heads(self, run: str = "") -> Sequence[Head]: ...
    def children(self, parent: str) -> Sequence[Head]: ...
    def owed(self, run: str) -> Sequence[Owed]: ...
    def settled(self, owed: Owed) -> None: ...
    def claim(self, run: str, holder: Holder) -> Claim: ...
    def release(self, claim: Claim) -> None: ...


HOLDS = "instr(body, CAST(? AS BLOB))"
HEAD_COLUMNS = "run, seq, workflow, state, parent, worktree, at, ended"
ENTRY_COLUMNS = (
    "run, seq, workflow, state, on_, status, at, coalesce(attempt, ''), tree, body, brief, parent, worktree, ended, owes, n, hash"
)
TAIL = "SELECT (SELECT ifnull(max(seq), 0) FROM events WHERE run = ?), n, hash FROM events WHERE n = (SELECT max(n) FROM events)"
INSERT = f"""
INSERT INTO events(n, run, seq, workflow, state, on_, status, at, attempt, tree, body, brief, parent, worktree, ended, owes, prev, hash)
VALUES ({",".join("?" * 18)})"""
KEEP_HEAD = f"INSERT OR REPLACE INTO heads(n, {HEAD_COLUMNS}) SELECT n, {HEAD_COLUMNS} FROM events WHERE n = ?"
SETTLE = """
INSERT INTO settled VALUES (?,?,?)
ON CONFLICT DO UPDATE SET seq = excluded.seq, pos = excluded.pos WHERE (seq, pos) < (excluded.seq, excluded.pos)"""
HEADS_BY_EVENTS = f"SELECT n, {HEAD_COLUMNS} FROM events e WHERE seq = (SELECT max(seq) FROM events WHERE run = e.run)"
HEADS_KEPT = f"SELECT n, {HEAD_COLUMNS} FROM heads"


def chain(prev: str, n: int, entry: Entry) -> str:
    """The hash of a row: over the previous row's hash and every column."""
    run, seq, workflow, state, on, status, at, attempt, tree, body, brief, parent, worktree, ended, owes, *_ = entry
    counts = f"{prev} {n:d} {seq:d} {ended:d}"
    texts = (counts, run, workflow, state, on, status, at, attempt, tree, brief, parent, worktree, "\n".join(owes))
    lengths = [*map(len, texts)]  # so that nothing can move from one column to the next
    return sha256(f"{lengths}{''.join(texts)}".encode("utf-8", "surrogatepass") + body).hexdigest()


def to_row(entry: Entry, n: int, prev: str, digest: str) -> tuple[str | int | bytes | None, ...]:
    """An entry as the row of the table."""
    return (n, *entry[:7], entry.attempt or None, *entry[8:13], int(entry.ended), "\n".join(entry.owes), prev, digest)


def _read_entry(row: tuple[Any, ...]) -> Entry:
    """A row of ENTRY_COLUMNS as an entry."""
    *rest, ended, owes, n, digest, _ = row
    return Entry._make((*rest, ended, tuple(owes.split("\n")) if owes else (), n, digest))


Rows = Callable[..., Iterator[tuple[Any, ...]]]  # a query and its arguments to the rows that answer it


def read_holder(journal: Path | str, run: str, text: str) -> Holder:
    """Who holds a claim, as the journal has it."""
    try:
        return msgspec.json.decode(text, type=Holder)
    except msgspec.DecodeError as e:
        raise JournalDamaged(f"{journal}: the claim on run {run} cannot be read: {e}", "nothing was changed; see `detent doctor`") from e


class Reading:
    """What is read of a journal, alike in every database. Each row of an event is checked against its hash."""

    def __init__(self, name: str, rows: Rows) -> None:
        self.name, self.rows = name, rows

    def _entries(self, where: str, *args: str | int) -> list[Entry]:
        return [self._sound(row) for row in self.rows(f"SELECT {ENTRY_COLUMNS}, prev FROM events WHERE {where}", *args)]

    def _entry(self, where: str, *args: str | int) -> Entry | None:
        found = self._entries(where, *args)
        return found[0] if found else None

    def _sound(self, row: tuple[Any, ...]) -> Entry:
        """A row as an entry, if its hash is its own."""
        try:
            entry = _read_entry(row)
            sound = chain(row[-1], entry.n, entry) == entry.hash
        except (TypeError, ValueError, AttributeError):  # a column holds something of another type
            sound = False
        if not sound:
            raise JournalDamaged(f"{self.name}: event {row[-3]} was altered", "nothing was changed; see `detent doctor`")
        return entry._replace(ended=bool(entry.ended))

    def last(self, run: str) -> Entry | None:
        return self._entry("run = ? ORDER BY seq DESC LIMIT 1", run)

    def at(self, run: str, seq: int) -> Entry | None:
        return self._entry("run = ? AND seq = ?", run, seq)

    def attempt(self, run: str, attempt: str) -> Entry | None:
        return self._entry("run = ? AND attempt = ?", run, attempt)

    def events(self, run: str, after: int = 0, limit: int = 1000) -> Sequence[Entry]:
        return self._entries("run = ? AND seq > ? ORDER BY seq LIMIT ?", run, after, limit)

    def has_report(self, tree: str, digest: str) -> bool:
        """Whether an event says that the report of a tree has this digest. In a text that somebody sent, the quotation marks would be escaped."""
        return self._entry(f"{HOLDS} > 0 ORDER BY n DESC LIMIT 1", f'"{tree}":"{digest}"') is not None

    def heads(self, run: str = "") -> Sequence[Head]:
        where, args = ("WHERE run = ?", (run,)) if run else ("", ())
        rows = self.rows(f"SELECT {HEAD_COLUMNS} FROM heads {where} ORDER BY n DESC", *args)
        return [Head._make((*row[:7], bool(row[7]))) for row in rows]

    def children(self, parent: str) -> Sequence[Head]:
        rows = self.rows(f"SELECT {HEAD_COLUMNS} FROM heads WHERE parent = ? AND parent <> '' ORDER BY run", parent)
        return [Head._make((*row[:7], bool(row[7]))) for row in rows]

    def owed(self, run: str) -> Sequence[Owed]:
        """What the events of a run owe, in order, beyond the last effect that is settled."""
        mark = next(self.rows("SELECT seq, pos FROM settled WHERE run = ?", run), (0, 0))
        owing = self.rows("SELECT seq, owes FROM events WHERE run = ? AND seq >= ? AND owes <> '' ORDER BY seq", run, mark[0])
        every = [Owed(run, seq, pos, effect) for seq, owes in owing for pos, effect in enumerate(owes.split("\n"))]
        return [owed for owed in every if owed[1:3] > mark]

    def first_fault(self) -> str | None:
        """Read the whole chain; the first row that does not fit, in a sentence."""
        prev, expect = GENESIS, 1
        try:
            for row in self.rows(f"SELECT {ENTRY_COLUMNS}, prev FROM events ORDER BY n"):
                entry = self._sound(row)
                if entry.n != expect or row[-1] != prev:
                    return f"{self.name}: event {entry.n} does not follow the one before it"
                prev, expect = entry.hash, expect + 1
            for one, other in ((HEADS_BY_EVENTS, HEADS_KEPT), (HEADS_KEPT, HEADS_BY_EVENTS)):
                for row in self.rows(f"{one} EXCEPT {other}"):
                    return f"{self.name}: the list of runs does not show run {row[1]} as its newest event does"
        except JournalDamaged as e:
            return e.message
        return None


class Writing:
    """One transaction. What may be done again after a power cut (claims, settled marks) need not wait for the disk."""

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
            raise DetentError(f"the journal could not be written ({e}); nothing was changed", f"look at {self.path} and the disk") from e


def _close(db: sqlite3.Connection) -> None:
    """A journal that nobody has any more closes its file, wherever that is noticed: only the thread that opened it may."""
    with suppress(sqlite3.ProgrammingError):
        db.close()


class SqliteJournal:
    """The journal in one file. One object per thread; any number of processes."""

    def __init__(self, path: Path, create: bool = False) -> None:
        self.path = path
        self.db, self.id = open_journal(path, create)
        weakref.finalize(self, _close, self.db).atexit = False
        self._anchor = AnchorFile(anchor_file(path))
        self._read = Reading(str(path), self._rows)

    def close(self) -> None:
        self.db.close()
        self._anchor.close()

    def _writing(self, durable: bool = True) -> Writing:
        return Writing(self.db, self.path, durable)

    def append(self, entry: Entry, expect: int, claim: Claim | None = None) -> None:
        """Add one event, if the run is still at `expect` and the claim, where there is one, still holds."""
        self._anchor.ready()
        with self._writing() as db:
            at, before, prev = db.execute(TAIL, (entry.run,)).fetchone() or (0, 0, GENESIS)
            self._check(db, entry.run, at, expect, claim)
            n = before + 1
            digest = chain(prev, n, entry)
            db.execute(INSERT, to_row(entry, n, prev, digest))
            db.execute(KEEP_HEAD, (n,))
        self._anchor.write(Anchor(self.id, n, digest))

    def _check(self, db: sqlite3.Connection, run: str, at: int, expect: int, claim: Claim | None) -> None:
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

    def last(self, run: str) -> Entry | None:
        return self._read.last(run)

    def at(self, run: str, seq: int) -> Entry | None:
        return self._read.at(run, seq)

    def attempt(self, run: str, attempt: str) -> Entry | None:
        return self._read.attempt(run, attempt)

    def events(self, run: str, after: int = 0, limit: int = 1000) -> Sequence[Entry]:
        return self._read.events(run, after, limit)

    def has_report(self, tree: str, digest: str) -> bool:
        return self._read.has_report(tree, digest)

    def heads(self, run: str = "") -> Sequence[Head]:
        return self._read.heads(run)

    def children(self, parent: str) -> Sequence[Head]:
        return self._read.children(parent)

    def owed(self, run: str) -> Sequence[Owed]:
        return self._read.owed(run)

    def settled(self, owed: Owed) -> None:
        """Mark an effect as settled, and all that was owed before it."""
        with self._writing(durable=False) as db:
            db.execute(SETTLE, owed[:3])

    def claim(self, run: str, holder: Holder) -> Claim:
        """Take the run, or say who has it. A holder that is dead is broken."""
        with self._writing(durable=False) as db:
            row = db.execute("SELECT epoch, holder FROM claims WHERE run = ?", (run,)).fetchone()
            held = read_holder(self.path, run, row[1]) if row and row[1] else None
            if held and is_alive(held):
                raise Busy(f"run {run} is being worked on by process {held.pid} on {held.host} ({held.doing}) since {held.since}")
            epoch = (row[0] if row else 0) + 1
            db.execute("INSERT OR REPLACE INTO claims VALUES (?,?,?)", (run, epoch, msgspec.json.encode(holder).decode()))
        return Claim(run, epoch)

    def release(self, claim: Claim) -> None:
        with self._writing(durable=False) as db:
            db.execute("UPDATE claims SET holder = '' WHERE run = ? AND epoch = ?", claim)

    def keep_hot(self, hot: Hot) -> None:
        """Keep a finished answer for the quick way; one per run, and it may be lost."""
        with self._writing(durable=False) as db:
            db.execute("INSERT OR REPLACE INTO hot VALUES (?,?,?,?,?,?,?)", hot)

    def first_fault(self) -> str | None:
        return self._read.first_fault()
