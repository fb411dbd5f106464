"""The built-in items in a PostgreSQL database that several machines share."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg

from detent.tracker.builtin import Ask
from detent.tracker.tracker_protocol import TrackerError

WRITING = 0x64746E7469  # the advisory lock for changing items
SCHEMA = b"""
CREATE SCHEMA IF NOT EXISTS detent;
CREATE TABLE IF NOT EXISTS detent.items(n BIGINT PRIMARY KEY, id TEXT NOT NULL UNIQUE, key TEXT UNIQUE, status TEXT NOT NULL, body BYTEA NOT NULL);
"""


class SharedShelf:
    """The table in a shared database."""

    def __init__(self, url: str) -> None:
        self.url = url

    def there(self) -> bool:
        return True

    @contextmanager
    def writing(self) -> Iterator[Ask]:
        try:
            with psycopg.connect(self.url, connect_timeout=10) as db:
                db.execute("SELECT pg_advisory_xact_lock(%s)", (WRITING,))
                if (db.execute("SELECT to_regclass('detent.items')").fetchone() or (None,))[0] is None:
                    db.execute(SCHEMA)
                db.execute("SET LOCAL search_path TO detent")
                yield lambda sql, *values: _rows(db, sql, values)
        except psycopg.Error as e:
            message = (str(e).strip() or type(e).__name__).splitlines()[0]
            raise TrackerError(f"the items cannot be reached: {message}", "check [queue] url, and that the server is running") from e


def _rows(db: psycopg.Connection[Any], sql: str, values: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    asked = db.execute(sql.replace("?", "%s").encode(), values)
    return asked.fetchall() if asked.description else []
