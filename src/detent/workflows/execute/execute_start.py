"""Starting an execution: from the id of a work item to a queued run in the journal. The work begins when the run is driven."""

from collections.abc import Callable

import msgspec

from detent.app import App
from detent.app.first_look import accepted
from detent.app.policy import kinds_of, may_answer
from detent.app.project import ground_of_main, project_settings
from detent.app.registry import is_workflow, workflow_of
from detent.app.trackers import tracker_of
from detent.blocks.terms import Terms
from detent.config import Settings
from detent.effects.publish import exclude
from detent.errors import DetentError
from detent.evidence.runners import Command
from detent.gates.item import WorkItem
from detent.git import fingerprint
from detent.journal.journal import Head
from detent.kernel.model import Run, Sent
from detent.tracker import Item
from detent.workflows.execute.execute_data import PLAIN, ExecuteData, ExecuteSetup, ProjectFacts, stem
from detent.workflows.execute.execute_last import last_attempt

LONGEST_TITLE = 200
NAMES = {  # branch name and commit subject by kind of tracker
    "builtin": ("{id}-{title}", "{id}: {title}"),
    "beads": ("beads-{id}-{title}", "Bead {id}: {title}"),
    "github": ("issue-{id}-{title}", "{title} (#{id})"),
    "gitlab": ("issue-{id}-{title}", "{title} (#{id})"),
}
OTHERS = ("{id}-{title}", "{title} ({id})")  # for trackers of other packages


def start_execution(app: App, sent: Sent, terms: Terms) -> str:
    """Queue one item for a person and return the id of its execution. An execution that has not ended is returned instead of a new one."""
    if not terms.request.strip():
        raise DetentError("there is no item to execute", "name one: detent run --workflow execute ID (see `detent items list`)")
    return starter(app, sent, terms)(terms.request.strip())


def starter(app: App, sent: Sent, terms: Terms) -> Callable[[str], str]:
    """A function that queues one item after another; settings, tracker and setup are read once for all of them."""
    settings, _ = project_settings(app.world.git, app.world.outer)
    tracker = tracker_of(settings, app.place, app.world.outer)
    setup = setup_of(app, terms)
    exclude(app.place)
    fingerprint.begin(app.place, app.busy)

    def begin(id: str) -> str:
        item = tracker.items(id)[0]
        last = last_of(app, item.id)
        if last is not None and not last.ended:
            return last.run
        if item.status == "closed":
            raise DetentError(f"{item.id} is closed, so there is nothing to execute", "see `detent items list`")
        data = ExecuteData(
            item=_kept(item),
            project=_project(settings, setup, app),
            context=terms.context.strip(),
            again=terms.again,
            setup=setup,
            continues=terms.continues,
            last=last_attempt(app, last, terms.start or settings.queue.retry_from),
        )
        limits = {"rounds": max(0, settings.review.max_rounds - 1)}
        run = Run(f"{stem(item.id)}-{_number(last) + 1}", "execute", "QUEUED", 0, data, limits=limits)
        return app.door.start(run, sent).run.id

    return begin


def last_of(app: App, item: str) -> Head | None:
    """The newest execution of an item. Executions are numbered, so two callers that queue it at once get the same one."""
    found, n = None, 1
    while heads := app.journal.heads(f"{stem(item)}-{n}"):
        found, n = heads[0], n + 1
    return found


def _number(head: Head | None) -> int:
    return int(head.run.rpartition("-")[2]) if head else 0


def _kept(item: Item) -> WorkItem:
    """The item as the prompt and the commit need it: its title in one line."""
    return WorkItem(item.id, " ".join(item.title.split())[:LONGEST_TITLE] or item.id, item.description.strip())


def setup_of(app: App, terms: Terms) -> ExecuteSetup:
    """The settings that are fixed for an execution queued now."""
    settings, main = project_settings(app.world.git, app.world.outer)
    may_answer(terms.policies, settings)
    fixed, strategy = ground_of_main(app, terms.agent), settings.queue.strategy
    shared = {name: getattr(fixed, name) for name in fixed.__struct_fields__}
    setup = ExecuteSetup(
        **{**shared, "accepts": kinds_of(terms.policies), **_names(settings)},
        strategy=strategy,
        pull_request=settings.git.merge == "pull-request",
        hours=f"{settings.queue.timeout / 3600:g}",
        silence=f"{settings.queue.silence / 3600:g}",
        limits=_inner_limits(settings, strategy),
    )
    if not terms.baseline:
        return setup
    probe = Run("execute-baseline", "execute", "QUEUED", 0, ExecuteData(setup=setup))
    known = accepted(app, probe, app.world.git.tree(main), terms)
    return msgspec.structs.replace(setup, baseline=known.baseline, red_preflight=known.red_preflight, reports=known.reports)


def _names(settings: Settings) -> dict[str, str]:
    """The templates of branch name and commit subject: as configured, or the default of the tracker's kind."""
    branch, commit = NAMES.get(settings.tracker.kind, OTHERS)
    return {"branch_name": settings.tracker.branch or branch, "commit_subject": settings.tracker.commit or commit}


def _inner_limits(settings: Settings, strategy: str) -> dict[str, int]:
    if strategy == PLAIN:
        return {}
    flow = workflow_of(strategy) if is_workflow(strategy) else None
    if flow is None or flow.inner is None:
        raise DetentError(f"[queue] strategy: no workflow '{strategy}' works on items", "see docs/configuration.md; the default is plain")
    return flow.limits(settings)


def _project(settings: Settings, setup: ExecuteSetup, app: App) -> ProjectFacts:
    command = msgspec.json.decode(setup.command, type=Command).text if setup.command else ""
    return ProjectFacts(settings.project.name or app.place.root.name, settings.project.tech_stack, command)
