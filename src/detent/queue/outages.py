"""What is away, as the queue's tables keep it: since when, how often it was asked, and when it is asked again. Values only."""

import json

from detent.queue.queue_protocol import OutageRow
from detent.queue.recovery import LOOKED_AT, MOST_PARKED, PARKS, RECOVERY

KEY, IN_A_ROW = "away", "parked"  # rows of the meta table


def read(text: str) -> dict[str, OutageRow]:
    return {thing: OutageRow(**row) for thing, row in json.loads(text or "{}").items() if thing in RECOVERY}


def write(found: dict[str, OutageRow]) -> str:
    return json.dumps({thing: row._asdict() for thing, row in found.items()})


def met(found: dict[str, OutageRow], thing: str, said: str, now: float) -> OutageRow:
    """An outage that was met once more. Several that meet it at once are one time."""
    before, row = found.get(thing), RECOVERY[thing]
    if before is not None and before.until > now:
        return before._replace(said=said)
    tries = before.tries + 1 if before is not None else 1
    return OutageRow(thing, said, before.since if before is not None else now, now + row.wait(tries), tries)


def after(found: dict[str, OutageRow], cause: str) -> dict[str, OutageRow]:
    """What is away after an execution has ended: what only time shows is there again if it ended for no such reason."""
    return {thing: row for thing, row in found.items() if RECOVERY[thing].holds or thing == cause}


def holding(found: dict[str, OutageRow]) -> OutageRow | None:
    """What the whole queue waits for; None if nothing holds it."""
    return next((row for thing, row in found.items() if RECOVERY[thing].holds), None)


def parked_in_a_row(before: str, cause: str) -> tuple[str, int]:
    """How many executions in a row wait for a person because of the same thing, as it is kept; after one more of them, or of none."""
    thing, _, number = before.partition(" ")
    if cause not in PARKS:
        return "", 0
    n = int(number) + 1 if thing == cause and number.isdecimal() else 1
    return f"{cause} {n}", n


def too_many(n: int) -> bool:
    return n >= MOST_PARKED


def pause_kind(cause: str) -> str:
    """What kind of pause it is that so many make: one that ends by itself, or one that a person must end."""
    return cause if cause in LOOKED_AT else ""
