"""The MCP resources: a run's status, its plan, its journal. Reading changes nothing."""

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from detent.errors import DetentError
from detent.interfaces.mcp.mcp_work import opened_app

if TYPE_CHECKING:
    from detent.app import App

NEWEST = 200  # events of a journal


class Resource(NamedTuple):
    """One kind of resource: title, description and MIME type."""

    title: str
    description: str
    mime: str = "application/json"


RESOURCES: Mapping[str, Resource] = {
    "run": Resource("The run", "Where the run stands: state, step, counters, last verdict, what is unproven or owed."),
    "plan": Resource("The plan", "The plan of the current pull request, its tasks and steps with their status."),
    "journal": Resource("The journal", "What happened to the run, event by event: who said what, what was found, where it led."),
}
OF_THIS_CHECKOUT = {f"detent://{name}": name for name in RESOURCES}
OF_A_RUN = {"detent://runs/{run}": "run", "detent://runs/{run}/plan": "plan", "detent://runs/{run}/journal": "journal"}


def find(uri: str) -> tuple[str, str | None]:
    """(kind, run) of a URI; run is None for the run of the checkout."""
    if uri in OF_THIS_CHECKOUT:
        return OF_THIS_CHECKOUT[uri], None
    run, _, what = uri.removeprefix("detent://runs/").partition("/")
    if uri.startswith("detent://runs/") and run and (what or "run") in RESOURCES and "/" not in what:
        return what or "run", run
    raise DetentError(f"there is nothing at {uri}", f"there are {', '.join((*OF_THIS_CHECKOUT, *OF_A_RUN))}")


def read(what: str, run: str | None) -> str:
    """The text of a resource."""
    with opened_app(lambda: True) as app:
        return MADE[what](app, app.chosen(run))


def _run(app: "App", run: str) -> str:
    from detent.app.run_rows import stands

    return json.dumps(stands(app, app.door.load(run)), indent=2)


def _plan(app: "App", run: str) -> str:
    text: str | None = app.world.files_of(app.door.load(run).run).get("ACTIVE_PR.json")
    if not text:
        raise DetentError(f"run {run} has no plan now", "call get_task: the briefing says when one is to be written")
    return text


def _journal(app: "App", run: str) -> str:
    from detent.app.run_rows import history_of as history

    return json.dumps(history(app, run, NEWEST), indent=2)


MADE: Mapping[str, Callable[["App", str], str]] = {"run": _run, "plan": _plan, "journal": _journal}
