"""What a tracker is: the values that every tracker shares, and the five things it can do. Knows no program, no file and no states of runs.

A tracker that cannot be reached raises; it never answers with an empty list.
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
    depends_on: tuple[str, ...] = ()  # the items that must be closed first
    found_in: tuple[str, ...] = ()  # the items in whose work this one was found
    key: str = ""  # what this item is there for, where a machine filed it: there is one item of a key
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
    drop: tuple[str, ...] = ()  # labels that are taken away
    by_merge: bool = False  # closed: the merge of its branch closes it, where the tracker sees merges; it counts as closed meanwhile


class Tracker(Protocol):
    """Where work items come from."""

    name: str

    def items(self, *ids: str) -> list[Item]:
        """The items of these ids, in their order; without any, all of them, the oldest first. UnknownItem if one is not there."""
        ...

    def add(self, new: NewItem) -> Item:
        """File an item. One of the same key that is there already is given instead, so that filing can be repeated."""
        ...

    def claim(self, id: str, who: str) -> bool:
        """Take an item, if nobody else has it: it is in_progress and theirs then. Compare-and-swap; claiming what one has is a yes."""
        ...

    def change(self, id: str, change: TrackerChange) -> Item:
        """Change an item; as it is then."""
        ...

    def sync(self) -> str:
        """Have the tracker persist its data; what went wrong, or nothing."""
        ...


class TrackerError(Unreached):
    """The tracker cannot be reached, or says something that cannot be read."""


class UnknownItem(DetentError):
    """There is no item of this id."""

    def __init__(self, id: str) -> None:
        super().__init__(f"there is no item '{id}'", "see `detent items list --all`")


def open_of(tracker: Tracker, ids: Iterable[str]) -> list[str]:
    """Which of these items are not closed."""
    wanted = tuple(dict.fromkeys(ids))
    return [item.id for item in tracker.items(*wanted) if item.status != "closed"] if wanted else []


def changed(item: Item, change: TrackerChange) -> Item:
    """An item after a change."""
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
        notes=noted(item.notes, change.note),
    )


def noted(notes: str, note: str) -> str:
    """Notes with one more, unless it stands there already."""
    note = note.strip()
    return notes if not note or note in notes else f"{notes.rstrip()}\n\n{note}".strip()


def may_claim(item: Item, who: str) -> bool:
    """Whether an item is free for someone: it is theirs, or nobody's."""
    return item.status != "closed" and item.assignee in ("", who)


def no_cycle(items: Iterable[Item], id: str, needs: Iterable[str]) -> None:
    """DetentError if an item that is to depend on others would depend on itself, or on one that is not there."""
    known = {item.id: item for item in items}
    for need in needs:
        if need not in known:
            raise UnknownItem(need)
        if way := _way(known, need, id):
            raise DetentError(f"that is a cycle: {' → '.join((id, *way))}", "items cannot wait for each other; leave one of them out")


def _way(known: dict[str, Item], start: str, end: str) -> tuple[str, ...]:
    """How one item leads to another by what it depends on; empty if it does not."""
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


class TrackerSaid(NamedTuple):
    code: int | None
    out: str
    err: str
