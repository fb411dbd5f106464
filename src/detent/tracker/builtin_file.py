"""The built-in items in one SQLite file, in the git dir that all checkouts of a repository share. Written durably."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from detent.tracker.builtin import Ask
from detent.tracker.tracker_protocol import TrackerError

SCHEMA = """
CREATE TABLE IF NOT EXISTS items(
  n INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, key TEXT UNIQUE, status TEXT NOT NULL, body BLOB NOT NULL);
CREATE INDEX IF NOT EXISTS items_by_status ON items(status);
"""
PATIENCE = 30.0  # seconds to wait for another process


class FileShelf:
    """The table in one file."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def there(self) -> bool:
        return self.file.exists()

    @contextmanager
    def writing(self) -> Iterator[Ask]:
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            db = sqlite3.connect(self.file, timeout=PATIENCE, isolation_level=None)
            try:
                _write_ahead(db)
                db.execute("PRAGMA synchronous=FULL")
                db.executescript(SCHEMA)
                db.execute("BEGIN IMMEDIATE")
                yield lambda sql, *values: _rows(db, sql, values)
                db.execute("COMMIT")
            finally:
                db.close()  # rolls back what was not committed
        except (sqlite3.Error, OSError) as e:
            raise TrackerError(f"the items cannot be reached: {e}", f"look at {self.file}") from e


def _write_ahead(db: sqlite3.Connection) -> None:
    """Switch the file to WAL if nobody has yet. That call does not wait for other processes, so it is retried."""
    end = time.monotonic() + PATIENCE
    while db.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        try:
            db.execute("PRAGMA journal_mode=WAL")
            return  # even if the file system cannot do it; then the mode is unchanged
        except sqlite3.OperationalError:
            if time.monotonic() > end:
                raise
            time.sleep(0.01)


def _rows(db: sqlite3.Connection, sql: str, values: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    return db.execute(sql, values).fetchall()
