"""Estimates of an item's cost: the median of similar finished executions in the journal. A hint for people; nothing is decided by it."""

from collections.abc import Sequence
from functools import reduce
from itertools import islice
from statistics import median
from typing import NamedTuple

from detent.app import App
from detent.app.executions import completed
from detent.app.tally import add
from detent.app.turns_taken import TakenTurns
from detent.drive.spent import Spent
from detent.tracker import Item, Tracker

NEWEST = 200  # executions that are read
ENOUGH = 3  # executions that a narrower group needs to be preferred to a wider one


class Estimate(NamedTuple):
    """What one execution is likely to take."""

    usd: float
    tokens: int
    seconds: float
    executions: int  # how many it is the median of
    like: str  # which ones, in words


class PastExecution(NamedTuple):
    """What a finished execution spent, and its item."""

    item: Item
    spent: Spent


def past_of(app: App, tracker: Tracker) -> list[PastExecution]:
    """The newest finished executions, with what they and their inner runs spent."""
    heads = list(islice(completed(app), NEWEST))
    items = {item.id: item for item in tracker.items()} if heads else {}
    turns, found = TakenTurns(), []
    for head in heads:
        item = items.get(app.door.load(head.run).run.data.item.id)
        taken = [turn.spent for each in (head, *app.journal.children(head.run)) for turn in turns.of(app, each)]
        if item is not None and taken:
            found.append(PastExecution(item, reduce(add, taken)))
    return found


def estimate_of(item: Item, past: Sequence[PastExecution]) -> Estimate | None:
    """The median over the executions most like the item: same type and a shared label, same type, any. None without history."""
    others = [each for each in past if each.item.id != item.id]
    typed = [each for each in others if each.item.type == item.type]
    shared = [each for each in typed if set(each.item.labels) & set(item.labels)]
    sorts = ((shared, f"of type {item.type} with a label of this item"), (typed, f"of type {item.type}"), (others, "of all items"))
    found = next((sort for sort in sorts if len(sort[0]) >= ENOUGH), next((sort for sort in reversed(sorts) if sort[0]), None))
    if found is None:
        return None
    spent = [each.spent for each in found[0]]
    usd, tokens, seconds = (median(values) for values in zip(*((s.usage.usd, s.usage.tokens, s.seconds) for s in spent), strict=True))
    return Estimate(round(usd, 4), round(tokens), round(seconds, 1), len(spent), found[1])


def estimates(app: App, tracker: Tracker, items: Sequence[Item]) -> list[Estimate | None]:
    past = past_of(app, tracker)
    return [estimate_of(item, past) for item in items]
