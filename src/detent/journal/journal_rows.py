"""The journal's rows: their columns, how each is chained to the one before and signed, and how they are read. The same in every database.

A row's hash is a plain hash over the previous row's and every column, followed by a signature of it with the key beside the anchors.
Whoever can write the database but not read that key cannot alter a row unnoticed. Knows no file and no connection.
"""

import hmac
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from detent.errors import JournalDamaged
from detent.journal.holder import Holder, is_alive
from detent.kernel.model import Briefing, Event
from detent.kernel.table import T, Table

PLAIN = 64  # characters of the plain hash
ANOTHER_KEY = "machines that share a journal share the file `journal-key` in ~/.local/state/detent; else see `detent doctor`"


class Entry(NamedTuple):
    """One event as the journal stores it."""

    run: str
    seq: int
    workflow: str
    state: str
    on: str
    status: str
    at: str
    attempt: str  # the attempt that this event answers for good; empty if a repeated submit is judged again
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
    """A run's current state, without its event."""

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
    """A cached answer to `get-task`, with the stamps of the files it depends on: one line each, file and stamp separated by a tab."""

    run: str
    seq: int
    stamps: str
    text: str
    json: str
    code: int
    rules: str = ""  # what a client's hook has to know at this state


class RunClaim(NamedTuple):
    """The right to move a run, until it is released or its holder dies. The epoch fences off a holder that lost it."""

    run: str
    epoch: int


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


HEADS_TRUE = """
SELECT h.run FROM heads h LEFT JOIN events e ON e.n = h.n
WHERE e.n IS NULL OR (e.run, e.seq, e.workflow, e.state, e.parent, e.worktree, e.at, e.ended)
  <> (h.run, h.seq, h.workflow, h.state, h.parent, h.worktree, h.at, h.ended)
  OR EXISTS (SELECT 1 FROM events later WHERE later.run = h.run AND later.seq = h.seq + 1) LIMIT 1"""
COUNTED = (
    "SELECT count(*), ifnull(max(n), 0), ifnull(sum(CASE WHEN seq = 1 THEN 1 ELSE 0 END), 0), (SELECT count(*) FROM heads) FROM events"
)


def chain(prev: str, n: int, entry: Entry) -> str:
    """The plain hash of a row, over the previous row's hash and every column. The first row follows the journal's id."""
    run, seq, workflow, state, on, status, at, attempt, tree, body, brief, parent, worktree, ended, owes, *_ = entry
    counts = f"{prev} {n:d} {seq:d} {ended:d}"
    texts = (counts, run, workflow, state, on, status, at, attempt, tree, brief, parent, worktree, "\n".join(owes))
    lengths = [*map(len, texts)]  # prevents text from moving to the next column unnoticed
    return sha256(f"{lengths}{''.join(texts)}".encode("utf-8", "surrogatepass") + body).hexdigest()


class JournalProof(NamedTuple):
    """What verifies a journal's rows: its id, the key, and the last row that is accepted without a signature."""

    journal: str
    key: Callable[[], str]  # called when the first row is signed or read
    since: int = 0

    def signed(self, plain: str) -> str:
        """The hash that a row gets: the plain one followed by its signature for this journal."""
        return plain + hmac.digest(self.key().encode(), f"{self.journal} {plain}".encode(), "sha256").hex()[:PLAIN]

    def holds(self, n: int, plain: str, found: str) -> bool:
        """Whether a row's hash is signed by us, or accepted by a person."""
        return hmac.compare_digest(found.encode(), self.signed(plain).encode()) or (n <= self.since and found[:PLAIN] == plain)


def to_row(entry: Entry, n: int, prev: str, digest: str) -> tuple[str | int | bytes | None, ...]:
    """An entry as a row of `events`."""
    return (n, *entry[:7], entry.attempt or None, *entry[8:13], int(entry.ended), "\n".join(entry.owes), prev, digest)


def _read_entry(row: tuple[Any, ...]) -> Entry:
    """A row of ENTRY_COLUMNS as an entry."""
    *rest, ended, owes, n, digest, _ = row
    return Entry._make((*rest, ended, tuple(owes.split("\n")) if owes else (), n, digest))


Rows = Callable[..., Iterator[tuple[Any, ...]]]  # (query, arguments) -> its rows


def read_holder(journal: Path | str, run: str, text: str) -> Holder:
    """The stored holder of a claim."""
    try:
        return msgspec.json.decode(text, type=Holder)
    except msgspec.DecodeError as e:
        raise JournalDamaged(f"{journal}: the claim on run {run} cannot be read: {e}", "nothing was changed; see `detent doctor`") from e


class JournalReader:
    """Everything that is read from a journal, the same for every database. Each event is verified against its hash."""

    def __init__(self, name: str, rows: Rows, proof: JournalProof) -> None:
        self.name, self.rows, self.proof = name, rows, proof

    def _entries(self, where: str, *args: str | int) -> list[Entry]:
        return [self._sound(row) for row in self.rows(f"SELECT {ENTRY_COLUMNS}, prev FROM events WHERE {where}", *args)]

    def _entry(self, where: str, *args: str | int) -> Entry | None:
        found = self._entries(where, *args)
        return found[0] if found else None

    def _sound(self, row: tuple[Any, ...]) -> Entry:
        """A row as an entry; JournalDamaged unless its hash and signature are right."""
        try:
            entry = _read_entry(row)
            plain = chain(row[-1], entry.n, entry)
            sound, ours = (
                len(entry.hash) in (PLAIN, 2 * PLAIN) and entry.hash[:PLAIN] == plain,
                self.proof.holds(entry.n, plain, entry.hash),
            )
        except (TypeError, ValueError, AttributeError):  # a column holds a value of another type
            sound = ours = False
        if sound and not ours:
            raise JournalDamaged(f"{self.name}: event {row[-3]} was not written with the key of this user's Detent", ANOTHER_KEY)
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
        """Whether an event records this digest for a tree's report. Text in a submit cannot fake it: its quotation marks are escaped."""
        return self._entry(f"{HOLDS} > 0 ORDER BY n DESC LIMIT 1", f'"{tree}":"{digest}"') is not None

    def heads(self, run: str = "") -> Sequence[Head]:
        where, args = ("WHERE run = ?", (run,)) if run else ("", ())
        rows = self.rows(f"SELECT {HEAD_COLUMNS} FROM heads {where} ORDER BY n DESC", *args)
        return [Head._make((*row[:7], bool(row[7]))) for row in rows]

    def children(self, parent: str) -> Sequence[Head]:
        rows = self.rows(f"SELECT {HEAD_COLUMNS} FROM heads WHERE parent = ? AND parent <> '' ORDER BY run", parent)
        return [Head._make((*row[:7], bool(row[7]))) for row in rows]

    def held(self) -> list[tuple[str, Holder]]:
        """The runs that are being worked on and by whom, as far as this machine can tell."""
        rows = self.rows("SELECT run, holder FROM claims WHERE holder <> '' ORDER BY run")
        found = [(run, read_holder(self.name, run, text)) for run, text in rows]
        return [(run, holder) for run, holder in found if is_alive(holder)]

    def owed(self, run: str) -> Sequence[Owed]:
        """The effects that a run's events owe, in order, after the last settled one."""
        mark = next(self.rows("SELECT seq, pos FROM settled WHERE run = ?", run), (0, 0))
        owing = self.rows("SELECT seq, owes FROM events WHERE run = ? AND seq >= ? AND owes <> '' ORDER BY seq", run, mark[0])
        every = [Owed(run, seq, pos, effect) for seq, owes in owing for pos, effect in enumerate(owes.split("\n"))]
        return [owed for owed in every if owed[1:3] > mark]

    def lacks(self) -> str | None:
        """A sentence about what is missing: an event, or a run in the list of runs. Cheap enough for every opening: no event body is read."""
        count, newest, runs, heads = next(self.rows(COUNTED))
        if count != newest:
            return f"{newest - count} of its {newest} events are gone"
        first = next(self.rows("SELECT prev FROM events WHERE n = 1"), None)
        if first is not None and first[0] != self.proof.journal:
            return "its first event belongs to another journal"
        if runs != heads or (wrong := next(self.rows(HEADS_TRUE), None)) is not None:
            return (
                f"the list of runs does not show {f'run {wrong[0]}' if runs == heads and wrong else 'every run'} as its newest event does"
            )
        return None

    def first_fault(self) -> str | None:
        """Verify the whole chain; a sentence about the first row that does not fit, or None."""
        prev, expect = self.proof.journal, 1
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


FINAL = ("SUCCESS", "FAILURE", "NEEDS_ANALYSIS", "HALTED")  # a repeat of an attempt that ended so gets the same answer again


def to_entry(table: Table[T], event: Event[T]) -> Entry:
    run = event.run
    return Entry(
        run=run.id,
        seq=run.seq,
        workflow=run.workflow,
        state=run.state,
        on=event.on,
        status=event.status,
        at=event.at,
        attempt=event.sent.attempt_id if event.status in FINAL else "",
        tree=event.found.tree,
        body=msgspec.json.encode(msgspec.structs.replace(event, briefing=None)),
        brief=msgspec.json.encode(event.briefing).decode() if event.briefing else "",
        parent=run.parent,
        worktree=run.worktree,
        ended=bool(table.states[run.state].end),
        owes=event.owes,
    )


def from_entry(table: Table[T], entry: Entry) -> Event[T]:
    try:
        event = msgspec.json.decode(entry.body, type=Event[table.data])  # type: ignore[name-defined]
        briefing = msgspec.json.decode(entry.brief, type=Briefing) if entry.brief else None
    except msgspec.DecodeError as e:
        raise JournalDamaged(f"event {entry.seq} of run {entry.run} cannot be read: {e}", "a newer Detent may have written it") from e
    return msgspec.structs.replace(event, briefing=briefing)
