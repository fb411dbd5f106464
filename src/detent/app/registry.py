"""Which workflows there are: the built-in ones, and those of packages that are installed beside Detent. Each is imported when it is asked for."""

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from detent.errors import DetentError

if TYPE_CHECKING:
    from detent.app.workflow import Workflow
    from detent.door import AnyRun
    from detent.kernel.model import Briefing
    from detent.kernel.table import Table

GROUP = "detent.workflows"  # the entry points of other packages
BUILT_IN = {
    "pr": "detent.workflows.pr:WORKFLOW",
    "tdd": "detent.workflows.tdd:WORKFLOW",
    "execute": "detent.workflows.execute:WORKFLOW",
    "pipeline": "detent.workflows.pipeline:WORKFLOW",
    "task": "detent.workflows.pipeline:TASK_WORKFLOW",
}
FOR_PLANS = "pr"  # what an agent gets that asks for a task where nothing was started
FOR_REQUESTS = "tdd"  # what `detent run` takes unless another is named
FOR_ITEMS = "execute"  # what the queue runs


@cache
def workflow_of(name: str) -> "Workflow[Any]":
    """One workflow by its name."""
    where = BUILT_IN.get(name) or _installed().get(name)
    if where is None:
        raise DetentError(f"there is no workflow '{name}'", f"known: {', '.join(workflow_names())}")
    module, _, attribute = where.partition(":")
    found: Workflow[Any] = getattr(import_module(module), attribute)
    if found.table.name != name:
        raise DetentError(f"{where} is the workflow '{found.table.name}', not '{name}'", "its entry point must have its name")
    return found


def is_workflow(name: str) -> bool:
    return name in BUILT_IN or name in _installed()


def workflow_names() -> tuple[str, ...]:
    """Every workflow by name, the built-in ones first."""
    return (*BUILT_IN, *(name for name in sorted(_installed()) if name not in BUILT_IN))


def startable(door: str) -> tuple[str, ...]:
    """The workflows that people can start through a door."""
    return tuple(name for name in workflow_names() if (flow := workflow_of(name)).start is not None and door in flow.doors)


@cache
def _installed() -> dict[str, str]:
    from importlib.metadata import entry_points  # asked for only where the name is none of ours

    return {point.name: point.value for point in entry_points(group=GROUP)}


def all_tables() -> "dict[str, Table[Any]]":
    """Every table by the name of its workflow."""
    return {name: workflow_of(name).table for name in workflow_names()}


def brief_of(table: "Table[Any]", run: "AnyRun") -> "Briefing":
    """The finished briefing of a run, from the files of its workflow."""
    from detent.blocks.briefs import brief

    return brief(table, workflow_of(table.name).folder, run)
