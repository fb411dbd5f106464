"""The journal in PostgreSQL, for several machines: the same rows, chain and answers as in SQLite.

A claim is also an advisory lock of the connection: the server releases it when the process or its machine is gone, so nobody has to guess
whether a holder elsewhere is alive. Needs a connection of its own, not a pooled one. One object per thread.
"""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from typing import Any, TypeVar

import msgspec
import psycopg
from psycopg import conninfo

from detent.errors import Busy, DetentError, JournalAway, JournalDamaged, JournalError, JournalNewer, JournalOlder, Moved, NoJournal
from detent.journal.anchor import Anchor, AnchorFile, anchor_of, journal_key, put_anchor, read_anchor
from detent.journal.holder import Holder, is_alive
from detent.journal.journal_file import NO_RUN_YET, START, VERSION, WAY_OUT
from detent.journal.journal_rows import (
    ANOTHER_KEY,
    HEAD_COLUMNS,
    HOLDS,
    INSERT,
    TAIL,
    Entry,
    Hot,
    JournalProof,
    JournalReader,
    Owed,
    RunClaim,
    chain,
    read_holder,
    to_row,
)

APPENDING = 0x64746E746A  # the advisory lock that serializes appends to the chain
PATIENCE = 30.0  # seconds to wait for a server that went away
NOTICE = 5.0  # seconds for the server to notice that a process of this machine is gone
KEEPALIVE = {"idle": 10, "interval": 5, "count": 3}  # notices a machine without power within half a minute
SCHEMA = """
CREATE SCHEMA IF NOT EXISTS detent;
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE events(
  n BIGINT PRIMARY KEY, run TEXT NOT NULL, seq BIGINT NOT NULL, workflow TEXT NOT NULL, state TEXT NOT NULL, on_ TEXT NOT NULL,
  status TEXT NOT NULL, at TEXT NOT NULL, attempt TEXT, tree TEXT NOT NULL, parent TEXT NOT NULL, worktree TEXT NOT NULL,
  ended INTEGER NOT NULL, owes TEXT NOT NULL, prev TEXT NOT NULL, hash TEXT NOT NULL, body BYTEA NOT NULL, brief TEXT NOT NULL);
CREATE UNIQUE INDEX by_run ON events(run, seq);
CREATE UNIQUE INDEX by_attempt ON events(run, attempt) WHERE attempt IS NOT NULL;
CREATE TABLE heads(
  run TEXT PRIMARY KEY, seq BIGINT NOT NULL, n BIGINT NOT NULL, workflow TEXT NOT NULL, state TEXT NOT NULL,
  parent TEXT NOT NULL, worktree TEXT NOT NULL, at TEXT NOT NULL, ended INTEGER NOT NULL);
CREATE INDEX by_parent ON heads(parent) WHERE parent <> '';
CREATE TABLE settled(run TEXT PRIMARY KEY, seq BIGINT NOT NULL, pos BIGINT NOT NULL);
CREATE TABLE claims(run TEXT PRIMARY KEY, epoch BIGINT NOT NULL, holder TEXT NOT NULL);
"""
KEEP_HEAD = f"""
INSERT INTO heads(n, {HEAD_COLUMNS}) SELECT n, {HEAD_COLUMNS} FROM events WHERE n = ?
ON CONFLICT(run) DO UPDATE SET ({HEAD_COLUMNS}, n) = ROW({", ".join(f"excluded.{c.strip()}" for c in HEAD_COLUMNS.split(","))}, excluded.n)"""
SETTLE = """
INSERT INTO settled VALUES (?,?,?)
ON CONFLICT(run) DO UPDATE SET seq = excluded.seq, pos = excluded.pos WHERE (settled.seq, settled.pos) < (excluded.seq, excluded.pos)"""
T = TypeVar("T")


def sql(text: str) -> bytes:
    """Translate a statement from SQLite's dialect."""
    return text.replace("ifnull(", "coalesce(").replace(HOLDS, "position(convert_to(?, 'UTF8') in body)").replace("?", "%s").encode()


def lock_of(run: str) -> int:
    """The advisory lock's number for a run."""
    return int.from_bytes(sha256(f"claim {run}".encode()).digest()[:8], "big", signed=True)


class PostgresJournal:
    """The journal in a database that several machines share."""

    def __init__(self, url: str, create: bool = False, accept: bool = False) -> None:
        parts = conninfo.conninfo_to_dict(url)
        self.name = f"postgresql://{parts.get('host', '')}:{parts.get('port') or 5432}/{parts.get('dbname', '')}"
        self._url, self._held = url, dict[str, RunClaim]()
        self._unsure = False  # the connection broke during this append, perhaps after the event was written
        self._file = anchor_of(self.name)
        self._anchor = AnchorFile(self._file)
        self.db = self._connected()
        try:
            self._known = self._opened(create, accept)
            self.id = self._known.journal
            self._proof = self._proof_of(self.id, self._known.since)
        except BaseException:
            self.db.close()
            raise
        read = JournalReader(self.name, self._rows, self._proof)
        # reading is the same for every database
        self.last, self.at, self.attempt, self.events, self.first_fault = read.last, read.at, read.attempt, read.events, read.first_fault
        self.heads, self.children, self.held, self.owed, self.has_report = read.heads, read.children, read.held, read.owed, read.has_report

    def close(self) -> None:
        self.db.close()
        self._anchor.close()

    # -- the connection ----------------------------------------------------------------------------------------------------------

    def _connected(self) -> psycopg.Connection[Any]:
        server = " ".join(f"-c tcp_keepalives_{name}={value}" for name, value in KEEPALIVE.items())
        ours = {f"keepalives_{name}": value for name, value in KEEPALIVE.items()}
        try:
            db = psycopg.connect(self._url, autocommit=True, connect_timeout=10, options=f"-c search_path=detent {server}", **ours)  # type: ignore[arg-type]
        except psycopg.Error as e:
            message = str(e).strip().splitlines()[0] if str(e).strip() else type(e).__name__
            raise JournalAway(
                f"the journal at {self.name} cannot be reached: {message}", "check [queue] url, and that the server is running"
            ) from e
        return db

    def _patient(self, work: Callable[[], T]) -> T:
        """Do some work, and repeat it once reconnected if the connection breaks. Locks are taken again unless somebody else got them."""
        until = time.monotonic() + PATIENCE
        while True:
            try:
                return work()
            except psycopg.Error as e:
                if not self.db.broken:
                    raise
                self._reconnect(until, e)

    def _reconnect(self, until: float, e: psycopg.Error) -> None:
        while True:
            try:
                self.db.close()
                self.db = self._connected()
                break
            except JournalError:
                if time.monotonic() > until:
                    raise JournalAway(f"the journal at {self.name} was lost: {e}", "nothing was changed; try again") from e
                time.sleep(0.2)
        self._unsure = True
        for run in list(self._held):
            if not self._lock(run):
                del self._held[run]  # another process has it by now; its epoch makes our next append fail

    def _lock(self, run: str) -> bool:
        return bool(self._one("SELECT pg_try_advisory_lock(?)", lock_of(run))[0])

    def _one(self, text: str, *args: Any) -> Any:
        return self.db.execute(sql(text), args).fetchone()

    def _rows(self, text: str, *args: str | int) -> Iterator[tuple[Any, ...]]:
        try:
            yield from self._patient(lambda: self.db.execute(sql(text), args).fetchall())
        except psycopg.Error as e:
            raise JournalDamaged(f"{self.name} cannot be read: {e}", "it was left as it is; see `detent doctor`") from e

    @contextmanager
    def _writing(self, durable: bool = True) -> Iterator[None]:
        """One transaction. One that is not `durable` does not wait for the disk, since it can be repeated."""
        try:
            with self.db.transaction():
                if not durable:
                    self.db.execute("SET LOCAL synchronous_commit = off")
                yield
        except psycopg.Error as e:
            if self.db.broken:
                raise  # _patient reconnects
            raise DetentError(f"the journal could not be written ({e}); nothing was changed", f"check the database {self.name}") from e

    # -- opening -----------------------------------------------------------------------------------------------------------------

    def _opened(self, create: bool, accept: bool) -> Anchor:
        """The opened journal's anchor. Refuses a journal that is gone, newer, older or contradicts the anchor, unless a person accepts it."""
        if accept:
            self._file.unlink(missing_ok=True)
        anchor = read_anchor(self._file)
        if not self._is_there():
            if self._file.exists():
                raise JournalDamaged(f"{self.name} is gone, and had {f'{anchor.n} events' if anchor else 'events'}", WAY_OUT)
            if not create:
                raise NoJournal(NO_RUN_YET, START)
            self._create()
        facts = dict(self.db.execute("SELECT key, value FROM meta").fetchall())
        version = int(facts.get("version", 0))
        if version > VERSION:
            raise JournalNewer(
                f"{self.name} was written by a newer Detent (schema {version}; this one knows {VERSION})", "use the newer Detent"
            )
        if version < VERSION:
            raise JournalOlder(
                f"{self.name} was written by an older Detent (schema {version}; this one knows {VERSION})", "use the older Detent"
            )
        if accept:
            return self._vouched(facts["id"])
        return self._verified(anchor, facts["id"])

    def _proof_of(self, journal: str, since: int) -> JournalProof:
        return JournalProof(journal, journal_key(), since)

    def _vouched(self, journal: str) -> Anchor:
        """Accept every event that is there, if the plain hash chain is whole."""
        n, digest = self._one("SELECT n, hash FROM events ORDER BY n DESC LIMIT 1") or (0, "")
        if fault := JournalReader(self.name, self._rows, self._proof_of(journal, n)).first_fault():
            raise JournalDamaged(fault, "the events before it are intact; restore the database from a backup")
        self.db.execute("UPDATE meta SET value = %s WHERE key = 'version'", (str(VERSION),))
        put_anchor(self._file, anchor := Anchor(journal, n, digest, n))
        return anchor

    def _is_there(self) -> bool:
        """Whether the schema exists, asked of pg_tables: `to_regclass` may answer from a cache that predates its creation."""
        return bool(self._one("SELECT count(*) FROM pg_tables WHERE schemaname = 'detent' AND tablename = 'meta'")[0])

    def _create(self) -> None:
        with self._writing():
            self._one("SELECT pg_advisory_xact_lock(?)", APPENDING)
            if not self._is_there():  # else another process was faster
                self.db.execute(SCHEMA.encode())
                self.db.execute("INSERT INTO meta VALUES ('id', %s), ('version', %s)", (os.urandom(16).hex(), str(VERSION)))

    def _verified(self, anchor: Anchor | None, journal: str) -> Anchor:
        """Refuse a journal that lacks what this machine's anchor remembers. Without an anchor here, the shared key must have signed it."""
        n, digest = self._one("SELECT n, hash FROM events ORDER BY n DESC LIMIT 1") or (0, "")
        if anchor is None:
            if n and (fault := JournalReader(self.name, self._rows, self._proof_of(journal, 0)).first_fault()):
                raise JournalDamaged(
                    f"{fault}; nothing on this machine vouches for it", f"{ANOTHER_KEY}, or accept it with `detent doctor --accept`"
                )
            return Anchor(journal, n, digest)
        if anchor.journal != journal:
            raise JournalDamaged(f"{self.name} is not the journal that was here", WAY_OUT)
        row = self._one("SELECT hash FROM events WHERE n = ?", anchor.n)
        if anchor.n and row is None:
            raise JournalDamaged(f"{self.name} was cut: it has {n} events and had at least {anchor.n}", WAY_OUT)
        if anchor.n and row[0] != anchor.hash:
            raise JournalDamaged(f"{self.name}: event {anchor.n} is not the one that was written", WAY_OUT)
        if lacks := JournalReader(self.name, self._rows, self._proof_of(journal, anchor.since)).lacks():
            raise JournalDamaged(f"{self.name}: {lacks}", WAY_OUT)
        return anchor

    # -- writing -----------------------------------------------------------------------------------------------------------------

    def append(self, entry: Entry, expect: int, claim: RunClaim | None = None) -> None:
        """Append one event, if the run is still at `expect` and the claim, if given, still holds."""
        self._anchor.ready(self._known)
        self._unsure = False
        self._known = self._patient(lambda: self._append(entry, expect, claim))
        self._anchor.write(self._known)

    def _append(self, entry: Entry, expect: int, claim: RunClaim | None) -> Anchor:
        with self._writing():
            self._one("SELECT pg_advisory_xact_lock(?)", APPENDING)
            at, before, prev = self._one(TAIL, entry.run) or (0, 0, self.id)
            if self._unsure and (there := self.at(entry.run, entry.seq)) and there._replace(n=0, hash="") == entry:
                return Anchor(self.id, there.n, there.hash, self._proof.since)
            self._check(entry.run, at, expect, claim)
            digest = self._proof.signed(chain(prev, before + 1, entry))
            self.db.execute(sql(INSERT), to_row(entry, before + 1, prev, digest))
            self.db.execute(sql(KEEP_HEAD), (before + 1,))
        return Anchor(self.id, before + 1, digest, self._proof.since)

    def _check(self, run: str, at: int, expect: int, claim: RunClaim | None) -> None:
        if at != expect:
            raise Moved(f"run {run} is at event {at}, not at {expect}")
        if claim is not None and (self._one("SELECT epoch FROM claims WHERE run = ?", run) or (0,))[0] != claim.epoch:
            raise Busy(f"run {run} was taken over by another process", "call get_task to see where it stands")

    def settled(self, owed: Owed) -> None:
        """Mark an effect as settled, and every one owed before it."""

        def mark() -> None:
            with self._writing(durable=False):
                self.db.execute(sql(SETTLE), owed[:3])

        self._patient(mark)

    def claim(self, run: str, holder: Holder) -> RunClaim:
        """Claim the run; Busy says who holds it. A holder whose connection is gone has lost its lock."""
        claim = self._patient(lambda: self._claim(run, holder))
        self._held[run] = claim
        return claim

    def _claim(self, run: str, holder: Holder) -> RunClaim:
        with self._writing(durable=False):
            self.db.execute("INSERT INTO claims VALUES (%s, 0, '') ON CONFLICT DO NOTHING", (run,))
            epoch, text = self._one("SELECT epoch, holder FROM claims WHERE run = ? FOR UPDATE", run)
            held = read_holder(self.name, run, text) if text else None
            if run in self._held or not self._locked(run, held):
                by = f"process {held.pid} on {held.host} ({held.doing}) since {held.since}" if held else "another process"
                raise Busy(f"run {run} is being worked on by {by}")
            self.db.execute(
                "UPDATE claims SET epoch = %s, holder = %s WHERE run = %s", (epoch + 1, msgspec.json.encode(holder).decode(), run)
            )
        return RunClaim(run, epoch + 1)

    def _locked(self, run: str, held: Holder | None) -> bool:
        """Take the run's lock. If the holder may be dead, wait a moment for the server to notice."""
        until = time.monotonic() + NOTICE
        while not (got := self._lock(run)) and (held is None or not is_alive(held)) and time.monotonic() < until:
            self._one("SELECT pg_sleep(0.05)")
        return got

    def release(self, claim: RunClaim) -> None:
        if self._held.get(claim.run) != claim:
            return
        del self._held[claim.run]
        with suppress(psycopg.OperationalError):  # a closed connection holds nothing
            self._one("SELECT pg_advisory_unlock(?)", lock_of(claim.run))
            self.db.execute("UPDATE claims SET holder = '' WHERE run = %s AND epoch = %s", claim)

    def keep_hot(self, hot: Hot) -> None:
        """Nothing to do: the fast path works only with a local file."""
