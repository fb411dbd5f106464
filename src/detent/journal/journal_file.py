"""Creating and opening the journal's file, and refusing one that is newer, older, foreign, damaged, cut or gone. Never starts empty."""

import os
import sqlite3
import threading
from contextlib import closing, suppress
from pathlib import Path

from detent.errors import JournalDamaged, JournalError, JournalForeign, JournalNewer, JournalOlder, NoJournal
from detent.journal.anchor import Anchor, anchor_file, journal_key, put_anchor, read_anchor
from detent.journal.journal_rows import JournalProof, JournalReader

APPLICATION = 0x64746E74  # "dtnt"
VERSION = 3
PAGE = 2048  # bytes; an append changes a few rows on different pages, each of which goes to the log as a whole
PATIENCE = 30.0  # seconds to wait while another program locks the file
SMALLEST = 512  # bytes of a database; SQLite takes a smaller file for an empty one and would overwrite it
SCHEMA = """
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE events(
  n INTEGER PRIMARY KEY, run TEXT NOT NULL, seq INTEGER NOT NULL, workflow TEXT NOT NULL, state TEXT NOT NULL, on_ TEXT NOT NULL,
  status TEXT NOT NULL, at TEXT NOT NULL, attempt TEXT, tree TEXT NOT NULL, parent TEXT NOT NULL, worktree TEXT NOT NULL,
  ended INTEGER NOT NULL, owes TEXT NOT NULL, prev TEXT NOT NULL, hash TEXT NOT NULL, body BLOB NOT NULL, brief TEXT NOT NULL);
CREATE UNIQUE INDEX by_run ON events(run, seq);
CREATE UNIQUE INDEX by_attempt ON events(run, attempt) WHERE attempt IS NOT NULL;
CREATE TABLE heads(
  run TEXT PRIMARY KEY, seq INTEGER NOT NULL, n INTEGER NOT NULL, workflow TEXT NOT NULL, state TEXT NOT NULL,
  parent TEXT NOT NULL, worktree TEXT NOT NULL, at TEXT NOT NULL, ended INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX by_parent ON heads(parent) WHERE parent <> '';
CREATE TABLE settled(run TEXT PRIMARY KEY, seq INTEGER NOT NULL, pos INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE hot(run TEXT PRIMARY KEY, seq INTEGER NOT NULL, stamps TEXT NOT NULL, text TEXT NOT NULL, json TEXT NOT NULL, code INTEGER NOT NULL,
  rules TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE claims(run TEXT PRIMARY KEY, epoch INTEGER NOT NULL, holder TEXT NOT NULL) WITHOUT ROWID;
"""
RIGHTS = "check the file's permissions and the disk"
NO_RUN_YET = "there is no run in this repository yet"
START = 'start one: detent start (the plan), or detent start "what you want"'
OLDER = "end its runs with the older Detent; then move the journal away and run `detent doctor --accept`"
WAY_OUT = "nothing was changed; restore the journal, or accept what is there with `detent doctor --accept`"
GONE = "nothing was changed; restore the journal. If you cloned the repository again, or removed the file yourself, accept that with `detent doctor --accept`"
UNKNOWN = "nothing was changed; if you copied, moved or restored the checkout yourself, accept what is there with `detent doctor --accept`"
OTHERS = (
    "{} has {} events, and nothing in your state folder vouches for them: it was copied or restored here, or belongs to another checkout"
)


def open_journal(path: Path, create: bool) -> tuple[sqlite3.Connection, Anchor]:
    """A connection to a sound journal, and its anchor, which includes the journal's id."""
    anchor = read_anchor(anchor_file(path))
    try:
        size = _size(path)
        if size == 0:
            _begin_if_allowed(path, anchor, create)
        elif size < SMALLEST:
            raise JournalDamaged(f"{path} cannot be read: it has only {size} bytes", WAY_OUT)
        db = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)
    except (OSError, sqlite3.OperationalError) as e:
        raise JournalError(f"{path} cannot be opened: {e}", RIGHTS) from e
    try:
        return db, _checked(db, path, anchor, create)
    except sqlite3.DatabaseError as e:
        db.close()
        raise _named(path, e) from e
    except JournalError:
        db.close()
        raise


def _size(path: Path) -> int:
    """The file's size; 0 if it does not exist. An inaccessible folder is an error, since the file may well exist there."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _begin_if_allowed(path: Path, anchor: Anchor | None, create: bool) -> None:
    """There is no journal: create it if asked to, unless there was one before."""
    if anchor is not None or anchor_file(path).exists():
        had = f"{anchor.n} events" if anchor else "events"
        raise JournalDamaged(f"{path} is {'empty' if path.exists() else 'gone'}, and had {had}", GONE)
    if not create:
        raise NoJournal(NO_RUN_YET, START)
    if not path.exists():
        _begin(path)


def _begin(path: Path) -> None:
    """Create the journal beside its place and link it there complete: of several processes one wins, and none sees a partial file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{os.getpid()}.{threading.get_ident()}")
    try:
        with closing(sqlite3.connect(draft, isolation_level=None)) as db:
            _create(db)
        with suppress(OSError):  # another was faster, or no hard links here; then it is created in place
            os.link(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def _named(path: Path, e: sqlite3.DatabaseError) -> JournalError:
    if isinstance(e, sqlite3.OperationalError) and "locked" in str(e):
        return JournalError(f"{path} is locked by another program", "try again")
    if isinstance(e, sqlite3.OperationalError) and "malformed" not in str(e):
        return JournalError(f"{path} cannot be opened: {e}", RIGHTS)
    return JournalDamaged(f"{path} cannot be read: {e}", WAY_OUT)


def _checked(db: sqlite3.Connection, path: Path, anchor: Anchor | None, create: bool) -> Anchor:
    """Refuse a file that is not ours, has another version, or contradicts the anchor. Creates the schema only in an empty file."""
    application, version, tables = _marks(db)
    if application != APPLICATION:
        if tables or application:
            raise JournalForeign(f"{path} is a database, but not a journal of Detent", "move it out of the way")
        if anchor is not None:
            raise JournalDamaged(f"{path} was cut: it has 0 events and had at least {anchor.n}", WAY_OUT)
        if not create:
            raise NoJournal(NO_RUN_YET, START)
        _create(db)
    elif version > VERSION:
        raise JournalNewer(f"{path} was written by a newer Detent (schema {version}; this one knows {VERSION})", "use the newer Detent")
    elif version < VERSION:
        raise JournalOlder(f"{path} was written by an older Detent (schema {version}; this one knows {VERSION})", OLDER)
    _prepare(db)
    return _verified(db, path, anchor)


def _id(db: sqlite3.Connection, path: Path) -> str:
    row = db.execute("SELECT value FROM meta WHERE key = 'id'").fetchone()
    if row is None:
        raise JournalDamaged(f"{path} has lost its id", WAY_OUT)
    return str(row[0])


def _marks(db: sqlite3.Connection) -> list[int]:
    """Application id, version and number of tables, read in one transaction, since another process may be creating them."""
    db.execute("BEGIN")
    seen = [
        int(db.execute(ask).fetchone()[0]) for ask in ("PRAGMA application_id", "PRAGMA user_version", "SELECT count(*) FROM sqlite_master")
    ]
    db.execute("COMMIT")
    return seen


def _prepare(db: sqlite3.Connection) -> None:
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("PRAGMA synchronous=FULL")


def _create(db: sqlite3.Connection) -> None:
    """Create the whole schema in one transaction; the second of two concurrent processes finds it done."""
    db.execute(f"PRAGMA page_size={PAGE}")
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("BEGIN IMMEDIATE")
    if db.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
        for statement in SCHEMA.split(";\n"):
            if statement.strip():
                db.execute(statement)
        db.execute("INSERT INTO meta VALUES ('id', ?)", (os.urandom(16).hex(),))
        db.execute(f"PRAGMA application_id={APPLICATION}")
        db.execute(f"PRAGMA user_version={VERSION}")
    db.execute("COMMIT")


def _newest(db: sqlite3.Connection) -> tuple[int, str]:
    """The number and hash of the newest event; (0, "") if there is none."""
    n, digest = db.execute("SELECT n, hash FROM events ORDER BY n DESC LIMIT 1").fetchone() or (0, "")
    return int(n or 0), str(digest)


def _verified(db: sqlite3.Connection, path: Path, anchor: Anchor | None) -> Anchor:
    """Refuse a journal that lacks the anchored event or any before it. Returns its anchor."""
    journal, count = _id(db, path), _newest(db)[0]
    if anchor is None:
        if count:
            raise JournalDamaged(OTHERS.format(path, count), UNKNOWN)
        return Anchor(journal, 0, "")
    if anchor.journal != journal:
        raise JournalDamaged(f"{path} is not the journal that was here", WAY_OUT)
    row = db.execute("SELECT hash FROM events WHERE n = ?", (anchor.n,)).fetchone()
    if anchor.n and row is None:
        raise JournalDamaged(f"{path} was cut: it has {count} events and had at least {anchor.n}", WAY_OUT)
    if anchor.n and row[0] != anchor.hash:
        raise JournalDamaged(f"{path}: event {anchor.n} is not the one that was written", WAY_OUT)
    if lacks := _reading(db, path, journal, anchor.since).lacks():
        raise JournalDamaged(f"{path}: {lacks}", WAY_OUT)
    return anchor


def _reading(db: sqlite3.Connection, path: Path, journal: str, since: int) -> JournalReader:
    return JournalReader(str(path), lambda sql, *args: iter(db.execute(sql, args).fetchall()), JournalProof(journal, journal_key(), since))


# -- accepting events without a signature -----------------------------------------------------------------------------------------


def _vouched(db: sqlite3.Connection, path: Path) -> Anchor:
    """Accept every event that is there, from now on."""
    n, digest = _newest(db)
    anchor = Anchor(_id(db, path), n, digest, n)
    put_anchor(anchor_file(path), anchor)
    return anchor


def accept(path: Path) -> str:
    """Accept the journal as it is, if its plain hash chain is whole, or accept that it is gone. Returns a sentence about it."""
    if not path.exists() or not path.stat().st_size:
        there = anchor_file(path).exists()
        anchor_file(path).unlink(missing_ok=True)
        return "there is no journal; a new one may begin" if there else ""
    with closing(sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)) as db:
        application, version, _ = _marks(db)
        if application != APPLICATION or version != VERSION:
            return ""
        n = _newest(db)[0]
        if fault := _reading(db, path, _id(db, path), n).first_fault():
            raise JournalDamaged(fault, "the events before it are intact; restore the file from a backup")
        _vouched(db, path)
        return f"the {n} events of the journal are taken as they are"
