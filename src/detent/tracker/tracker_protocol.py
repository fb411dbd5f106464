"""The protocol of trackers: the values that all share, and the five operations. Knows no program, no file and no states of runs.

A tracker that cannot be reached raises; it never returns an empty list instead.
"""

from collections.abc import Iterable
from typing import Literal, NamedTuple, Protocol

from detent.errors import DetentError, Unreached
from detent.kernel.model import Value

Status = Literal["open", "in_progress", "blocked", "deferred", "closed"]
STATUSES: tuple[Status, ...] = ("open", "in_progress", "blocked", "deferred", "closed")


class Item(Value, frozen=True, omit_defaults=False):
    """One work item as its tracker has it."""

    id: str
    title: str
    description: str = ""
    status: Status = "open"
    priority: int = 2  # 0 is the most urgent, 4 the least
    type: str = "task"
    labels: tuple[str, ...] = ()
    assignee: str = ""  # who claimed it
    depends_on: tuple[str, ...] = ()  # items that must be closed first
    found_in: tuple[str, ...] = ()  # items during whose work this one was found
    key: str = ""  # identifies what the machine filed it for; at most one item has a given key
    notes: str = ""
    created_at: str = ""


class NewItem(Value, frozen=True):
    """An item that is to be filed."""

    title: str
    description: str = ""
    priority: int = 2
    type: str = "task"
    labels: tuple[str, ...] = ()
    depends_on: tuple[str, ...] = ()
    found_in: str = ""
    key: str = ""


class TrackerChange(Value, frozen=True):
    """What is to become of an item: what is left out stays. Making the same change again changes nothing."""

    status: Status | Literal[""] = ""
    assignee: str | None = None
    labels: tuple[str, ...] = ()  # added
    depends_on: tuple[str, ...] = ()  # added
    note: str = ""  # added to the notes, once
    title: str = ""
    description: str | None = None
    priority: int | None = None
    type: str = ""
    drop: tuple[str, ...] = ()  # labels to remove
    by_merge: bool = False  # closed: the merge of its branch closes it, if the tracker sees merges; until then it counts as closed


class Tracker(Protocol):
    """Where work items come from."""

    name: str

    def items(self, *ids: str) -> list[Item]:
        """The items with these ids, in this order; without ids, all of them, oldest first. UnknownItem if one does not exist."""
        ...

    def add(self, new: NewItem) -> Item:
        """File an item. An existing item with the same key is returned instead, so that filing can be repeated."""
        ...

    def claim(self, id: str, who: str) -> bool:
        """Claim an item, setting it to in_progress, unless somebody else has it. Compare-and-swap; True if it is already theirs."""
        ...

    def change(self, id: str, change: TrackerChange) -> Item:
        """Change an item; returns it as it is afterwards."""
        ...

    def sync(self) -> str:
        """Have the tracker persist its data; returns what went wrong, or ""."""
        ...


class TrackerError(Unreached):
    """The tracker cannot be reached, or its answer cannot be read."""


class UnknownItem(DetentError):
    """There is no item with this id."""

    def __init__(self, id: str) -> None:
        super().__init__(f"there is no item '{id}'", "see `detent items list --all`")


def open_of(tracker: Tracker, ids: Iterable[str]) -> list[str]:
    """The ids of those items that are not closed."""
    wanted = tuple(dict.fromkeys(ids))
    return [item.id for item in tracker.items(*wanted) if item.status != "closed"] if wanted else []


def changed(item: Item, change: TrackerChange) -> Item:
    """The item with a change applied."""
    import msgspec

    return msgspec.structs.replace(
        item,
        status=change.status or item.status,
        assignee=item.assignee if change.assignee is None else change.assignee,
        title=change.title or item.title,
        description=item.description if change.description is None else change.description,
        priority=item.priority if change.priority is None else change.priority,
        type=change.type or item.type,
        labels=tuple(label for label in dict.fromkeys((*item.labels, *change.labels)) if label not in change.drop),
        depends_on=tuple(dict.fromkeys((*item.depends_on, *change.depends_on))),
        notes=add_note(item.notes, change.note),
    )


def add_note(notes: str, note: str) -> str:
    """The notes with one more appended, unless it is already there."""
    note = note.strip()
    return notes if not note or note in notes else f"{notes.rstrip()}\n\n{note}".strip()


def may_claim(item: Item, who: str) -> bool:
    """Whether someone may claim an item: it is open and unassigned, or theirs."""
    return item.status != "closed" and item.assignee in ("", who)


def no_cycle(items: Iterable[Item], id: str, needs: Iterable[str]) -> None:
    """DetentError if new dependencies would make an item wait for itself; UnknownItem if one does not exist."""
    known = {item.id: item for item in items}
    for need in needs:
        if need not in known:
            raise UnknownItem(need)
        if way := _way(known, need, id):
            raise DetentError(f"that is a cycle: {' → '.join((id, *way))}", "items cannot wait for each other; leave one of them out")


def _way(known: dict[str, Item], start: str, end: str) -> tuple[str, ...]:
    """The path of dependencies from one item to another; empty if there is none."""
    todo: list[tuple[str, ...]] = [(start,)]
    seen = {start}
    while todo:
        way = todo.pop()
        if way[-1] == end:
            return way
        for need in known[way[-1]].depends_on if way[-1] in known else ():
            if need not in seen:
                seen.add(need)
                todo.append((*way, need))
    return ()


class TrackerResult(NamedTuple):
    code: int | None
    out: str
    err: str
