"""Executions, the runs that work on items, for the queue, `land` and the web page; independent of which workflow executes them.

Also the history of an item: each execution, how and why it ended, and where its work is. Reads only, except `review`.
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
    """How the workflow of the queue handles items."""
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
    """The executions that ended with their work proved, the newest first."""
    return (head for head in executions(app) if is_completed(head))


def made_by(app: App, branch: str) -> list[AnyRun]:
    """The completed executions that made a branch."""
    return [run for head in completed(app) if short((run := app.door.load(head.run).run).data.branch) == branch]


def review(app: App, branch: str, agent: str, again: bool = False) -> dict[str, Any]:
    """Have a branch reviewed and its issues filed. A commit is reviewed once, unless `again`."""
    return the_items().review(app, branch, agent, again)


def waiting_for(app: App, branch: str) -> AnyRun | None:
    """The execution that waits because its branch is not ready, if any."""
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
    kept: str  # the ref of the work it left; empty if it left none, or has not ended
    starts_from: str  # "kept" if it continued the work of the previous attempt
    part_of: str  # the execution on whose branch it worked


def attempts(app: App, item: str) -> list[ItemAttempt]:
    """Every execution of an item, the oldest first."""
    last = the_items().last_of(app, item)
    if last is None:
        return []
    stem, _, number = last.run.rpartition("-")
    return [_attempt(app, f"{stem}-{n}") for n in range(1, int(number) + 1)]


def _attempt(app: App, id: str) -> ItemAttempt:
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
