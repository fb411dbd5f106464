"""Reading an issue of beads, in any of the shapes that beads writes, as an Item. Knows no program and no file."""

import json
from collections.abc import Iterable
from typing import Any, get_args

import msgspec

from detent.tracker.tracker_protocol import Item, Status, TrackerError

KNOWN = get_args(Status)
BLOCKS = ("", "blocks", "conditional-blocks", "waits-for")  # the kinds of dependency that an item waits for
FOUND_IN = "discovered-from"
GONE = "tombstone"  # status of a deleted item


class Dependency(msgspec.Struct, frozen=True):
    """A dependency: a record with both ids, or the other item with the kind of dependency beside it."""

    id: str = ""
    depends_on_id: str = ""
    type: str = ""
    dependency_type: str = ""

    @property
    def needs(self) -> str:
        return self.depends_on_id or self.id

    @property
    def sort(self) -> str:
        return self.type if self.depends_on_id else self.dependency_type


class Bead(msgspec.Struct, frozen=True):
    """The fields of an issue that we read; others are ignored."""

    id: str
    title: str = ""
    description: str = ""
    status: str = "open"
    priority: int = 2
    issue_type: str = "task"
    labels: list[str] | None = None
    assignee: str = ""
    external_ref: str | None = None
    notes: str = ""
    created_at: str = ""
    dependencies: list[Dependency] | None = None


def unwrapped(text: str, command: str) -> list[Any]:
    """The issues in an answer: a bare list, {schema_version, items}, {schema_version, data}, or a single issue."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as e:
        raise TrackerError(f"{command} answered with something that is not JSON: {str(e)[:200]}", "try it by hand") from e
    for name in ("data", "items"):
        if isinstance(value, dict) and "schema_version" in value and name in value:
            value = value[name]
            break
    if isinstance(value, dict) and "error" in value:
        raise TrackerError(f"{command}: {value['error']}", "try it by hand")
    return value if isinstance(value, list) else [] if value is None else [value]


def items_in(values: Iterable[Any], command: str) -> list[Item]:
    """Issues as Items. TrackerError if one cannot be read: a partial list must not pass for the whole."""
    try:
        beads = msgspec.convert([_plain(v) for v in values], list[Bead])
    except (msgspec.ValidationError, RecursionError) as e:
        raise TrackerError(f"{command}: an issue cannot be read: {e}", "is this a newer beads?") from e
    return [item_of(bead) for bead in beads if bead.status != GONE]


def _plain(value: Any) -> Any:
    """An issue without null fields, which count as missing."""
    return {k: v for k, v in value.items() if v is not None} if isinstance(value, dict) else value


def item_of(bead: Bead) -> Item:
    """An issue as an Item. A status that the project added itself counts as deferred, so that it is not run."""
    status: Any = bead.status if bead.status in KNOWN else "deferred"
    links = bead.dependencies or []
    return Item(
        bead.id, bead.title, bead.description, status, bead.priority, bead.issue_type, tuple(bead.labels or ()), bead.assignee,
        tuple(d.needs for d in links if d.sort in BLOCKS), tuple(d.needs for d in links if d.sort == FOUND_IN),
        bead.external_ref or "", bead.notes, bead.created_at,
    )  # fmt: skip
