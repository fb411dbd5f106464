"""The attempts at an item as one story: every execution of it, how it ended and why, and where its work is. Reads only."""

from typing import NamedTuple

from detent.app import App
from detent.app.executions import the_items
from detent.git.commits import short
from detent.world.pulls import url_of


class ItemAttempt(NamedTuple):
    """One execution of an item."""

    run: str
    state: str
    begun: str
    last: str  # the time of its newest event
    reason: str
    branch: str
    pull_request: str
    kept: str  # the ref that keeps what it left; empty if it left nothing, or has not ended
    starts_from: str  # "kept" if it began with the work of the attempt before
    part_of: str  # the execution on whose branch it worked


def attempts(app: App, item: str) -> list[ItemAttempt]:
    """Every execution of an item, the oldest first."""
    last = the_items().last_of(app, item)
    if last is None:
        return []
    stem, _, number = last.run.rpartition("-")
    return [_told(app, f"{stem}-{n}") for n in range(1, int(number) + 1)]


def _told(app: App, id: str) -> ItemAttempt:
    event, first = app.door.load(id), app.journal.at(id, 1)
    run, data = event.run, event.run.data
    kept = f"refs/detent/{id}/kept"
    review = data.review.summary if data.review is not None and run.cause == "review" else ""
    why = "" if run.state == "COMPLETED" else data.reason or review or run.last_reason or run.last_error
    return ItemAttempt(
        id,
        run.state,
        first.at if first else "",
        event.at,
        " ".join(why.split())[:300],
        short(data.branch),
        url_of(app.place.common_dir, run),
        kept if app.world.git.resolve(kept) else "",
        "kept" if data.begun == "kept" else "",
        data.part_of,
    )
