"""`detent review BRANCH`: a fresh agent reviews any branch, and its issues become items. It changes no run."""

from typing import Any

import msgspec

from detent.agents import Budget
from detent.app import App
from detent.app.driving import Driving
from detent.app.project import BranchData, project_settings, stand_in
from detent.app.reviewing import asking_with
from detent.app.run_configs import CONFIGURED
from detent.app.trackers import tracker_of
from detent.app.who import with_reviewer
from detent.door import AnyRun
from detent.errors import CannotTell, DetentError
from detent.gates.item import read_review
from detent.git.commits import main_branch, short
from detent.git.remote import fetch_branch, has_remote
from detent.git.repo import Git
from detent.workflows.execute.execute_review import About, filed, question_about
from detent.workflows.execute.execute_table import EXECUTE
from detent.world.reviewer import Limited, ask_reviewer, kept_review


def waiting_for(app: App, branch: str) -> AnyRun | None:
    """The execution that stopped at NOT_READY with this branch, if there is one."""
    for head in app.journal.heads():
        if head.workflow == EXECUTE.name and head.state == "NOT_READY" and not head.ended:
            run = app.door.load(head.run).run
            if short(run.data.branch) == short(branch):
                return run
    return None


def review(app: App, branch: str, agent: str, again: bool = False) -> dict[str, Any]:
    """Have a branch reviewed and file its issues as items. A review of the same commit is reused unless `again` is set."""
    git: Git = app.world.git
    settings, _ = project_settings(git, app.world.outer)
    settings = with_reviewer(settings, CONFIGURED, app.world.outer, app.place.root)
    tip, base = _span(git, branch, settings.git.main, settings.git.remote)
    probe = stand_in(app, "review", agent, BranchData())
    asking = asking_with(app, probe, Driving(agent, settings), Budget())
    file = app.place.common_dir / "detent" / "reviews" / f"by-hand-{tip}.json"
    if again:
        file.unlink(missing_ok=True)
    try:
        text, _ = kept_review(file, lambda: ask_reviewer(git, asking, question_about(git, About("review", short(branch), base, tip))))
    except (CannotTell, Limited) as e:
        raise DetentError(str(e), "nothing was filed; check the reviewer ([review] agent, or --agent) and try again") from e
    found = read_review(text)
    items = filed(tracker_of(settings, app.place, app.world.outer), found, short(branch), short(branch), "")
    row: dict[str, Any] = {"branch": short(branch), "commit": tip, **msgspec.to_builtins(found)}
    return {**row, "items": [item.id for item in items]}


def _span(git: Git, branch: str, main: str, remote: str) -> tuple[str, str]:
    """The tip of a branch, local or at the remote, and its merge base with main."""
    name = f"refs/heads/{short(branch)}"
    if git.call("check-ref-format", name).code != 0:
        raise DetentError(f"'{branch}' is not a branch", "see `git branch --all`")
    try:
        tip = git.resolve(f"{name}^{{commit}}") or (fetch_branch(git, remote, name) if has_remote(git, remote) else "")
    except CannotTell as e:
        raise DetentError(str(e), "the branch is not here") from e
    if not tip:
        raise DetentError(f"there is no branch '{branch}'", "see `git branch --all`")
    base = git.call("merge-base", git.resolve(f"{main_branch(git, main)}^{{commit}}"), tip).text
    if not base or base == tip:
        raise DetentError(f"'{branch}' has no commits that main does not have", "there is nothing to review")
    return tip, base
