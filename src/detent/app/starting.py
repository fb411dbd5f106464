"""Starting a run of any workflow: by which commands, with which options, and continuing in a clone that has only notes."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from detent.app import App
from detent.app.registry import FOR_PLANS, FOR_REQUESTS, load_checked, startable, workflow_of, workflows
from detent.app.workflow import Notes
from detent.errors import DetentError
from detent.kernel.model import Sent

if TYPE_CHECKING:
    from detent.app import App
    from detent.app.workflow import Start
    from detent.blocks.terms import Terms
    from detent.config import Settings
    from detent.git.repo import Git

PAGE = "page"
PATH_LIKE = re.compile(r"\S+\.(?:md|markdown|txt|rst)|(?:\.{0,2}/)\S*")
NOTHING = 'say what you want ("add a longest length to slugify"), or make a plan: detent init --entry "what the first pull request does"'
COMMANDS = {"start": "detent start", "run": "detent run", PAGE: "the page"}


def start_of(workflow: str, door: str) -> "Start":
    """The Start function of a workflow, if `door` may start it. The workflow is fully checked first."""
    flow = workflow_of(workflow)
    if flow.start is None:
        raise DetentError(
            f"a run of {workflow} is part of another run, and is not started by itself", f"known: {', '.join(startable(door))}"
        )
    if door not in flow.doors:
        ways = ", ".join(f"`{COMMANDS[each]} --workflow {workflow}`" for each in flow.doors if each != PAGE)
        raise DetentError(f"the machine drives a run of {workflow}: no agent calls by itself", f"start it with {ways}")
    load_checked(workflow)
    return flow.start


def workflow_for(request: str, root: Path, plan: str, workflow: str = "") -> str:
    """The workflow for a request: the named one, else that for plans if it is a file, else that for requests.

    An empty request means the configured plan. A mistyped path is refused: nobody wants a feature called docs/pln.md.
    """
    if workflow:
        return workflow
    words = request.strip()
    if words and names_file(root, words):
        return FOR_PLANS
    if not words:
        if (root / plan).is_file():
            return FOR_PLANS
        other = _near(root, plan.lower())
        raise DetentError(
            f"there is nothing to start: no request, and no plan at {plan}", f"detent start {other}; or {NOTHING}" if other else NOTHING
        )
    if PATH_LIKE.fullmatch(words):
        near = _near(root, words)
        raise DetentError(f"there is no plan {words}", f"did you mean {near}?" if near else NOTHING)
    return FOR_REQUESTS


def names_file(root: Path, words: str) -> bool:
    """Whether a request is the path of a file; not if it is too long or has characters that no path has."""
    try:
        return (root / words).is_file()
    except (OSError, ValueError):
        return False


def _near(root: Path, words: str) -> str:
    """The markdown file whose path is closest to what was typed."""
    from difflib import get_close_matches

    there = [str(file.relative_to(root)) for pattern in ("*.md", "docs/*.md", "docs/*/*.md") for file in root.glob(pattern)]
    named = [path for path in there if Path(path).stem.lower() in ("plan", "active_plan")]
    return next(iter(get_close_matches(words, there, 1) or named), "")


def landing_of(app: "App", workflow: str) -> str:
    """A sentence on how finished work will land, shown before a run begins; empty for workflows that merge nothing."""
    from detent.app.commit_settings import settings_for

    git = app.world.git
    if workflow != FOR_PLANS or not git.head():
        return ""
    return landing_words(git, settings_for(git, git.head(), app.world.outer).settings, app.world.outer)


def landing_words(git: "Git", whole: "Settings", outer: Mapping[str, str]) -> str:
    """A sentence on how finished work will land, by these settings."""
    from detent.app.forges import way_to_land
    from detent.git.commits import main_branch

    settings, way = whole.git, way_to_land(whole, git.place, outer)
    if not settings.branching:
        return f"Detent commits every step to the branch {git.branch() or 'that is checked out'}: git.branching is off."
    if way == "pull-request":
        return "Detent opens a pull request for each entry, and merges nothing."
    if way == "branch":
        return "Detent leaves a branch for each entry, and merges nothing."
    try:
        main = main_branch(git, settings.main).removeprefix("refs/heads/")
    except DetentError:
        return ""  # starting reports that, with a hint
    pushed = " and pushes it" if settings.push else ""
    return f'Detent merges each finished pull request into {main} by itself{pushed}. To keep branches instead: [git] merge = "branch" or "pull-request".'


def options_fit(workflow: str, terms: "Terms", names: Mapping[str, str]) -> None:
    """Refuse options that belong to other workflows; `names`: how each option is written by the caller."""
    mine = workflow_of(workflow).options
    given = [name for name in names if getattr(terms, name) != type(terms)._field_defaults[name] and name not in mine]
    if given:
        owners = [name for name, flow in workflows() if given[0] in flow.options]
        if owners:
            message = f"{names[given[0]]} belongs to {' and '.join(owners)}, not to {workflow}"
            raise DetentError(message, f"add --workflow {owners[0]}, or leave it out")


def policies_fit(workflow: str, terms: "Terms", name: str) -> None:
    """Refuse policies about anything but flags for a workflow without recorded decisions."""
    from detent.app.policy import only_flags

    if only_flags(terms.policies) or workflow_of(workflow).has_decisions:
        return
    owners = [each for each in startable("run") if workflow_of(each).has_decisions]
    raise DetentError(f"{name} belongs to {' and '.join(owners)}, not to {workflow}", f"add --workflow {owners[0]}, or leave it out")


def start_from_notes(app: App, sent: Sent, agent: str) -> str:
    """A new run that continues after the newest note of this branch; returns its id."""
    for _, flow in workflows():
        if flow.from_notes is not None:
            return flow.from_notes(app, sent, agent)
    raise DetentError("there is no run in this checkout", "start one with `detent start` or `detent run`")


def note_writers() -> dict[str, Notes]:
    """The workflows that write notes of their own, by name."""
    return {name: flow.notes for name, flow in workflows() if flow.notes is not None}
