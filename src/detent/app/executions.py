"""Executions: the runs that work on items, as the queue, `land` and the page ask for them. Whichever workflow it is that they are of."""

from collections.abc import Iterator
from typing import Any

from detent.app import App
from detent.app.registry import FOR_ITEMS, usable, workflow_of
from detent.app.workflow import Items
from detent.door import AnyRun
from detent.git.commits import short
from detent.journal.journal import Head


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
