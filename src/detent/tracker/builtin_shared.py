"""The built-in tracker where several machines share a PostgreSQL database: the same items, in a table there."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
import psycopg

from detent.tracker.builtin import PREFIX, read_item
from detent.tracker.protocol import Change, Item, NewItem, TrackerError, UnknownItem, changed, may_claim, no_cycle

WRITING = 0x64746E7469  # the number of the lock under which items change
SCHEMA = b"""
CREATE SCHEMA IF NOT EXISTS detent;
CREATE TABLE IF NOT EXISTS detent.items(n BIGINT PRIMARY KEY, id TEXT NOT NULL UNIQUE, key TEXT UNIQUE, status TEXT NOT NULL, body BYTEA NOT NULL);
"""


class SharedBuiltin:
    """The items of one repository on all its machines."""

    name = "builtin"

    def __init__(self, url: str, clock: Callable[[], str]) -> None:
        self.url, self.clock = url, clock

    def items(self, *ids: str) -> list[Item]:
        with self._writing() as db:
            if not ids:
                return [read_item(row) for row in db.execute("SELECT body FROM detent.items ORDER BY n")]
            return [self._one(db, id) for id in ids]

    def add(self, new: NewItem) -> Item:
        with self._writing() as db:
            there = db.execute("SELECT body FROM detent.items WHERE key = %s", (new.key,)).fetchone() if new.key else None
            if there:
                return read_item(there)
            for need in new.depends_on:
                self._one(db, need)
            row = db.execute("SELECT coalesce(max(n), 0) + 1 FROM detent.items").fetchone()
            number = row[0] if row else 1
            found_in = (new.found_in,) if new.found_in else ()
            item = Item(
                f"{PREFIX}-{number}", new.title, new.description, "open", new.priority, new.type, new.labels, "", new.depends_on,
                found_in, new.key, "", self.clock(),
            )  # fmt: skip
            values = (number, item.id, new.key or None, "open", msgspec.json.encode(item))
            db.execute("INSERT INTO detent.items VALUES (%s, %s, %s, %s, %s)", values)
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
                no_cycle([read_item(row) for row in db.execute("SELECT body FROM detent.items")], id, change.depends_on)
            after = changed(item, change)
            if after != item:
                self._keep(db, after)
            return after

    def sync(self) -> str:
        return ""  # what is written is written

    # -- inside --------------------------------------------------------------------------------------------------------------

    def _one(self, db: psycopg.Connection[Any], id: str) -> Item:
        row = db.execute("SELECT body FROM detent.items WHERE id = %s", (id.replace("\0", ""),)).fetchone()
        if row is None:
            raise UnknownItem(id)
        return read_item(row)

    def _keep(self, db: psycopg.Connection[Any], item: Item) -> None:
        db.execute("UPDATE detent.items SET status = %s, body = %s WHERE id = %s", (item.status, msgspec.json.encode(item), item.id))

    @contextmanager
    def _writing(self) -> Iterator[psycopg.Connection[Any]]:
        """One transaction, alone. Trouble with the database is trouble with the tracker."""
        try:
            with psycopg.connect(self.url, connect_timeout=10) as db:
                db.execute("SELECT pg_advisory_xact_lock(%s)", (WRITING,))
                if (db.execute("SELECT to_regclass('detent.items')").fetchone() or (None,))[0] is None:
                    db.execute(SCHEMA)
                yield db
        except psycopg.Error as e:
            said = (str(e).strip() or type(e).__name__).splitlines()[0]
            raise TrackerError(f"the items cannot be reached: {said}", "look at [queue] url, and whether the server runs") from e
