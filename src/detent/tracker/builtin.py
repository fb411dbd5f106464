"""The built-in tracker: a repository's own list of items in a table. Any number of processes; a filed item is durable.

Owns the operations, in SQL that both databases understand; where the table is and how it is opened is up to a `Shelf`.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Protocol

import msgspec

from detent.tracker.tracker_protocol import Item, NewItem, TrackerChange, TrackerError, UnknownItem, changed, may_claim, no_cycle

PREFIX = "it"

Ask = Callable[..., list[tuple[Any, ...]]]  # (SQL with ? placeholders, values) -> rows


class Shelf(Protocol):
    """Where the table is."""

    def there(self) -> bool:
        """Whether anything was ever written."""
        ...

    def writing(self) -> AbstractContextManager[Ask]:
        """One exclusive transaction. A database error is raised as TrackerError."""
        ...


class Builtin:
    """The items of one repository."""

    name = "builtin"

    def __init__(self, shelf: Shelf, clock: Callable[[], str]) -> None:
        self.shelf, self.clock = shelf, clock

    def items(self, *ids: str) -> list[Item]:
        if not self.shelf.there():
            if ids:
                raise UnknownItem(ids[0])
            return []
        with self.shelf.writing() as ask:
            return [_one(ask, id) for id in ids] if ids else _read(ask("SELECT body FROM items ORDER BY n"))

    def add(self, new: NewItem) -> Item:
        with self.shelf.writing() as ask:
            if new.key and (there := _read(ask("SELECT body FROM items WHERE key = ?", new.key))):
                return there[0]
            for need in new.depends_on:
                _one(ask, need)
            number = int(ask("SELECT coalesce(max(n), 0) + 1 FROM items")[0][0])
            item = Item(
                f"{PREFIX}-{number}", new.title, new.description, "open", new.priority, new.type, new.labels, "", new.depends_on,
                (new.found_in,) if new.found_in else (), new.key, "", self.clock(),
            )  # fmt: skip
            values = (number, item.id, new.key or None, "open", msgspec.json.encode(item))
            ask("INSERT INTO items(n, id, key, status, body) VALUES (?, ?, ?, ?, ?)", *values)
            return item

    def claim(self, id: str, who: str) -> bool:
        with self.shelf.writing() as ask:
            item = _one(ask, id)
            if not may_claim(item, who):
                return False
            _keep(ask, changed(item, TrackerChange("in_progress", who)))
            return True

    def change(self, id: str, change: TrackerChange) -> Item:
        with self.shelf.writing() as ask:
            item = _one(ask, id)
            if change.depends_on:
                no_cycle(_read(ask("SELECT body FROM items")), id, change.depends_on)
            after = changed(item, change)
            if after != item:
                _keep(ask, after)
            return after

    def sync(self) -> str:
        return ""  # every write is already durable


def _one(ask: Ask, id: str) -> Item:
    found = _read(ask("SELECT body FROM items WHERE id = ?", id.replace("\0", "")))
    if not found:
        raise UnknownItem(id)
    return found[0]


def _keep(ask: Ask, item: Item) -> None:
    ask("UPDATE items SET status = ?, body = ? WHERE id = ?", item.status, msgspec.json.encode(item), item.id)


def _read(rows: list[tuple[Any, ...]]) -> list[Item]:
    """Decode the items in rows."""
    try:
        return [msgspec.json.decode(row[0], type=Item) for row in rows]
    except msgspec.MsgspecError as e:
        raise TrackerError(f"an item cannot be read: {e}", "it was left as it is") from e
