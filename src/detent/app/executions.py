"""Executions: the runs that work on items, as the queue, `land` and the page ask for them. Whichever workflow it is that they are of.

The attempts at an item are told as one story: every execution of it, how it ended and why, and where its work is. Reads only.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from detent.app import App
from detent.app.registry import FOR_ITEMS, usable, workflow_of
from detent.app.workflow import Items
from detent.door import AnyRun
from detent.git.commits import short
from detent.journal.journal import Head
from detent.world.pulls import url_of


def the_items() -> Items:
    """What the workflow of the queue does with items."""
    found = workflow_of(FOR_ITEMS).items
    assert found is not None, "the workflow of the queue takes items"
    return found


def is_execution(workflow: str) -> bool:
    return (flow := usable(workflow)) is not None and flow.items is not None


def executions(app: App) -> Iterator[Head]:
    """Every execution, the newest first."""
    return (head for head in app.journal.heads() if is_execution(head.workflow))


def is_completed(head: Head) -> bool:
    """Whether an execution ended with its work proved."""
    return workflow_of(head.workflow).table.states[head.state].end == "proved"


def completed(app: App) -> Iterator[Head]:
    """Those that ended with their work proved."""
    return (head for head in executions(app) if is_completed(head))


def made_by(app: App, branch: str) -> list[AnyRun]:
    """The executions that made a branch and were completed."""
    return [run for head in completed(app) if short((run := app.door.load(head.run).run).data.branch) == branch]


def review(app: App, branch: str, agent: str, again: bool = False) -> dict[str, Any]:
    """Have a branch reviewed, and its issues filed. The same commit is reviewed once, unless it is wanted again."""
    return the_items().review(app, branch, agent, again)


def waiting_for(app: App, branch: str) -> AnyRun | None:
    """The execution that waits because its branch is not ready, if there is one."""
    return the_items().waiting_for(app, branch)


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
