"""A review by hand: any branch of the repository, read by a fresh agent; its issues become items. No run is changed by it."""

from typing import Any

from detent.app import App
from detent.app.executions import the_items
from detent.door import AnyRun


def review(app: App, branch: str, agent: str, again: bool = False) -> dict[str, Any]:
    """Have a branch reviewed, and its issues filed. The same commit is reviewed once, unless it is wanted again."""
    return the_items().review(app, branch, agent, again)


def waiting_for(app: App, branch: str) -> AnyRun | None:
    """The execution that waits because its branch is not ready, if there is one."""
    return the_items().waiting_for(app, branch)
