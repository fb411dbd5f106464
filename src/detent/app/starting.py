"""Starting a run of any workflow: which can be started how, and which options belong to which."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from detent.app.registry import checked, startable, workflow_of, workflows
from detent.errors import DetentError

if TYPE_CHECKING:
    from detent.app.workflow import Start
    from detent.blocks.terms import Terms

PAGE = "page"
COMMANDS = {"start": "detent start", "run": "detent run", PAGE: "the page"}


def start_of(workflow: str, door: str) -> "Start":
    """How a run of a workflow is created through a door. Its value is checked whole before there is any event."""
    flow = workflow_of(workflow)
    if flow.start is None:
        raise DetentError(
            f"a run of {workflow} is part of another run, and is not started by itself", f"known: {', '.join(startable(door))}"
        )
    if door not in flow.doors:
        ways = ", ".join(f"`{COMMANDS[each]} --workflow {workflow}`" for each in flow.doors if each != PAGE)
        raise DetentError(f"the machine drives a run of {workflow}: no agent calls by itself", f"start it with {ways}")
    checked(workflow)
    return flow.start


def options_fit(workflow: str, terms: "Terms", names: Mapping[str, str]) -> None:
    """Refuse options that only other workflows have; `names` says how an option is written at this door."""
    mine = workflow_of(workflow).options
    given = [name for name in names if getattr(terms, name) != type(terms)._field_defaults[name] and name not in mine]
    if given:
        owners = [name for name, flow in workflows() if given[0] in flow.options]
        if owners:
            said = f"{names[given[0]]} belongs to {' and '.join(owners)}, not to {workflow}"
            raise DetentError(said, f"add --workflow {owners[0]}, or leave it out")


def policies_fit(workflow: str, terms: "Terms", name: str) -> None:
    """Answers beforehand other than to flags are for workflows that keep questions by name."""
    from detent.app.policy import only_flags

    if only_flags(terms.policies) or workflow_of(workflow).has_decisions:
        return
    owners = [each for each in startable("run") if workflow_of(each).has_decisions]
    raise DetentError(f"{name} belongs to {' and '.join(owners)}, not to {workflow}", f"add --workflow {owners[0]}, or leave it out")
