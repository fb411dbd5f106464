"""Outages as stored in the queue's meta table: since when, how many tries, and the next retry. Values only."""

import json

from detent.queue.queue_protocol import OutageRow
from detent.queue.recovery import LOOKED_AT, MOST_PARKED, PARKS, RECOVERY

KEY, IN_A_ROW = "away", "parked"  # rows of the meta table


def read(text: str) -> dict[str, OutageRow]:
    return {thing: OutageRow(**row) for thing, row in json.loads(text or "{}").items() if thing in RECOVERY}


def write(found: dict[str, OutageRow]) -> str:
    return json.dumps({thing: row._asdict() for thing, row in found.items()})


def met(found: dict[str, OutageRow], thing: str, message: str, now: float) -> OutageRow:
    """The row of an outage after one more failure. Failures before the next retry count as one."""
    before, row = found.get(thing), RECOVERY[thing]
    if before is not None and before.until > now:
        return before._replace(said=message)
    tries = before.tries + 1 if before is not None else 1
    return OutageRow(thing, message, before.since if before is not None else now, now + row.wait(tries), tries)


def after(found: dict[str, OutageRow], cause: str) -> dict[str, OutageRow]:
    """The outages left after an execution ended: those that hold the queue, and its own cause. Others count as over."""
    return {thing: row for thing, row in found.items() if RECOVERY[thing].holds or thing == cause}


def holding(found: dict[str, OutageRow]) -> OutageRow | None:
    """The outage that holds the whole queue, or None."""
    return next((row for thing, row in found.items() if RECOVERY[thing].holds), None)


def parked_in_a_row(before: str, cause: str) -> tuple[str, int]:
    """The stored count of executions in a row that were parked by the same thing, updated by one more end: (text to store, count)."""
    thing, _, number = before.partition(" ")
    if cause not in PARKS:
        return "", 0
    n = int(number) + 1 if thing == cause and number.isdecimal() else 1
    return f"{cause} {n}", n


def too_many(n: int) -> bool:
    return n >= MOST_PARKED


def pause_kind(cause: str) -> str:
    """The kind of pause for a cause: itself if it is checked automatically; empty if a person must end the pause."""
    return cause if cause in LOOKED_AT else ""
