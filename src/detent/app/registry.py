"""The registry of workflows: the built-in ones, and those of packages installed beside Detent. Each is imported when first looked up."""

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from detent.errors import DetentError
from detent.extensions import WORKFLOWS, blamed, installed, load, names

if TYPE_CHECKING:
    from detent.app.workflow import Workflow
    from detent.door import AnyRun
    from detent.kernel.model import Briefing
    from detent.kernel.table import Table

BUILT_IN = {
    "pr": "detent.workflows.pr:WORKFLOW",
    "tdd": "detent.workflows.tdd:WORKFLOW",
    "execute": "detent.workflows.execute:WORKFLOW",
    "pipeline": "detent.workflows.pipeline:WORKFLOW",
    "task": "detent.workflows.pipeline:TASK_WORKFLOW",
}
FOR_PLANS = "pr"  # the workflow for a plan
FOR_REQUESTS = "tdd"  # the default of `detent run`
FOR_ITEMS = "execute"  # what the queue runs


@cache
def workflow_of(name: str) -> "Workflow[Any]":
    """One workflow by its name."""
    if name in BUILT_IN:
        module, _, attribute = BUILT_IN[name].partition(":")
        built_in: Workflow[Any] = getattr(import_module(module), attribute)
        return built_in
    found: Workflow[Any] | None = load(WORKFLOWS, name, lambda value: _wrong(name, value))
    if found is None:
        from detent.config.values import unknown  # only where something is wrong

        known = list(workflow_names())
        raise unknown(
            f"there is no workflow '{name}' here", name, known, otherwise=f"known: {', '.join(known)}; a package may provide others"
        )
    return found


def source_of(name: str) -> Path:
    """The file that a workflow is loaded from."""
    module = BUILT_IN[name].partition(":")[0] if name in BUILT_IN else installed(WORKFLOWS)[name][0].module
    return Path(import_module(module).__file__ or "")


def _wrong(name: str, value: object) -> str:
    from detent.app.workflow import Workflow

    if not isinstance(value, Workflow):
        return f"it is a {type(value).__name__}, not a Workflow"
    if "-" in name:
        return "its name has a -, which separates the name of a workflow from the rest of a run's"
    return "" if value.table.name == name else f"its table has the name '{value.table.name}'; table and entry point must have the same"


def load_checked(name: str) -> "Workflow[Any]":
    """A workflow after its full check, with effects and jobs loaded: everything its table asks for exists."""
    flow = workflow_of(name)
    if name in BUILT_IN:
        flow.check()
        return flow
    with blamed(WORKFLOWS, name):
        flow.check()
    return flow


def usable(name: str) -> "Workflow[Any] | None":
    """A workflow, or None if it is not installed or cannot be loaded; its runs must not break listing others."""
    try:
        return workflow_of(name)
    except DetentError:
        return None


def is_workflow(name: str) -> bool:
    return name in BUILT_IN or name in installed(WORKFLOWS)


def workflow_names() -> tuple[str, ...]:
    """Every workflow by name, the built-in ones first."""
    return (*BUILT_IN, *names(WORKFLOWS, BUILT_IN))


def workflows() -> "Iterator[tuple[str, Workflow[Any]]]":
    """Every workflow that can be loaded, by name."""
    return ((name, flow) for name in workflow_names() if (flow := usable(name)) is not None)


def startable(door: str) -> tuple[str, ...]:
    """The workflows that people can start through a door."""
    return tuple(name for name, flow in workflows() if flow.start is not None and door in flow.doors)


def all_tables() -> "dict[str, Table[Any]]":
    """Every table by the name of its workflow."""
    return {name: flow.table for name, flow in workflows()}


def brief_of(table: "Table[Any]", run: "AnyRun") -> "Briefing":
    """The finished briefing of a run, from the files of its workflow."""
    from detent.blocks.briefs import brief

    return brief(table, workflow_of(table.name).folder, run)
