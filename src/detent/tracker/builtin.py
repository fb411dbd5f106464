"""The built-in tracker: items in one SQLite file in the git dir that all checkouts of a repository share. Any number of processes.

Owns the file and its form. Written durably: an item that was filed is there after a power cut.
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from detent.tracker.protocol import Change, Item, NewItem, TrackerError, UnknownItem, changed, may_claim, no_cycle

PREFIX = "it"
SCHEMA = """
CREATE TABLE IF NOT EXISTS items(
  n INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, key TEXT UNIQUE, status TEXT NOT NULL, body BLOB NOT NULL);
CREATE INDEX IF NOT EXISTS items_by_status ON items(status);
"""
PATIENCE = 30.0  # seconds to wait for another process


class Builtin:
    """The items of one repository."""

    name = "builtin"

    def __init__(self, file: Path, clock: Callable[[], str]) -> None:
        self.file, self.clock = file, clock

    def items(self, *ids: str) -> list[Item]:
        if not self.file.exists():
            if ids:
                raise UnknownItem(ids[0])
            return []
        with self._open() as db:
            if not ids:
                return [read_item(row) for row in db.execute("SELECT body FROM items ORDER BY n")]
            return [self._one(db, id) for id in ids]

    def add(self, new: NewItem) -> Item:
        with self._writing() as db:
            there = db.execute("SELECT body FROM items WHERE key = ?", (new.key,)).fetchone() if new.key else None
            if there:
                return read_item(there)
            for need in new.depends_on:
                self._one(db, need)
            number = (db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'items'").fetchone() or (0,))[0] + 1
            item = Item(
                f"{PREFIX}-{number}", new.title, new.description, "open", new.priority, new.type, new.labels, "", new.depends_on,
                (new.found_in,) if new.found_in else (), new.key, "", self.clock(),
            )  # fmt: skip
            db.execute(
                "INSERT INTO items(id, key, status, body) VALUES (?,?,?,?)", (item.id, new.key or None, "open", msgspec.json.encode(item))
            )
            return item

    def claim(self, id: str, who: str) -> bool:
        with self._writing() as db:
            item = self._one(db, id)
            if not may_claim(item, who):
                return False
            self._keep(db, changed(item, Change("in_progress", who)))
            return True

    def change(self, id: str, change: Change) -> Item:
        with self._writing() as db:
            item = self._one(db, id)
            if change.depends_on:
                no_cycle((read_item(row) for row in db.execute("SELECT body FROM items")), id, change.depends_on)
            after = changed(item, change)
            if after != item:
                self._keep(db, after)
            return after

    def sync(self) -> str:
        return ""  # what is written is written

    # -- inside --------------------------------------------------------------------------------------------------------------

    def _one(self, db: sqlite3.Connection, id: str) -> Item:
        row = db.execute("SELECT body FROM items WHERE id = ?", (id,)).fetchone()
        if row is None:
            raise UnknownItem(id)
        return read_item(row)

    def _keep(self, db: sqlite3.Connection, item: Item) -> None:
        db.execute("UPDATE items SET status = ?, body = ? WHERE id = ?", (item.status, msgspec.json.encode(item), item.id))

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """The file, open. Trouble with it is trouble with the tracker."""
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            db = sqlite3.connect(self.file, timeout=PATIENCE, isolation_level=None)
            try:
                db.execute("PRAGMA journal_mode=WAL")
                db.execute("PRAGMA synchronous=FULL")
                db.executescript(SCHEMA)
                yield db
            finally:
                db.close()
        except (sqlite3.Error, OSError) as e:
            raise TrackerError(f"the items cannot be reached: {e}", f"look at {self.file}") from e

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._open() as db:
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                db.execute("COMMIT")
            finally:
                if db.in_transaction:
                    db.execute("ROLLBACK")


def read_item(row: tuple[bytes]) -> Item:
    """A row as the item it keeps."""
    try:
        return msgspec.json.decode(row[0], type=Item)
    except msgspec.MsgspecError as e:
        raise TrackerError(f"an item cannot be read: {e}", "it was left as it is") from e
