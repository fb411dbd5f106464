"""The pull request of a run: its title and its plan as text, opening it at the forge, what CI says of it, and where it is. A forge or tracker
that is silent is no verdict on the work. Thin: the forge does it."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

from detent.door import AnyRun
from detent.errors import Away, CannotTell, DetentError, Unreached
from detent.gates.item import ItemData
from detent.gates.plan import PlanData
from detent.git.commits import main_branch, short
from detent.kernel.model import Sent
from detent.storage.state import keep, kept
from detent.tracker import CLOSES
from detent.world.work_tree import RepoWorld, outcome

URL = re.compile(r"https?://[^\s<>\"']+")
LONGEST_TITLE = 200
LOOK_AGAIN = 30.0  # seconds until CI is asked again
MOST_QUIET = 3600.0  # seconds for which CI may say nothing at all of a commit


def title_of(run: AnyRun, commits: list[str]) -> str:
    """What the plan or the item calls it; else its first commit."""
    if isinstance(run.data, ItemData):
        title = run.data.item.title
    elif isinstance(run.data, PlanData) and run.data.plan is not None:
        title = run.data.plan.prTitle
    else:
        title = commits[0] if commits else short(run.data.branch)
    return " ".join(title.split())[:LONGEST_TITLE]


def plan_text(world: RepoWorld, run: AnyRun) -> str:
    """What was planned, in markdown, and the word that closes the issue once this is merged."""
    if isinstance(run.data, ItemData):
        closes = CLOSES.get(world.config_of(run).settings.get("tracker.kind", ""), "").format(run.data.item.id)
        return "\n\n".join(part for part in (closes, run.data.item.description) if part)
    plan = run.data.plan if isinstance(run.data, PlanData) else None
    if plan is None:
        return ""
    steps = [f"- {task.taskName}" for task in plan.tasks]
    return "\n".join(("## Plan", "", plan.summary.strip(), "", *steps)).strip()


def open_at_forge(world: RepoWorld, run: AnyRun, commits: list[str], body: str) -> str:
    """Open the pull request of a run's branch, or bring the open one up to date; its URL."""
    config = world.config_of(run)
    onto = short(main_branch(world.git, config.ways.main))
    with reached(), _known():
        return config.pulls().offer(short(run.data.branch), onto, title_of(run, commits), body).url


@contextmanager
def _known() -> Iterator[None]:
    """A forge that is not known is for a person to name: nothing can be told until then."""
    try:
        yield
    except Unreached:
        raise
    except DetentError as e:
        raise CannotTell(f"git.pr_command is not set, and no forge can be asked: {e.message} ({e.hint})") from e


def judged_by_ci(world: RepoWorld, run: AnyRun) -> Sent | None:
    """Where [git] wait_for_ci: red is an outcome, not yet is asked again later, None is green."""
    config, commit = world.config_of(run), run.data.pushed
    if config.settings.get("git.wait_for_ci") != "true":
        return None
    with reached(), _known():
        checks = config.pulls().checks(commit)
    if checks.result == "green":
        return None
    if checks.result == "red":
        return outcome("ci-red", f"CI fails on {short(run.data.branch)}: {checks.said}")
    now = datetime.fromisoformat(world.clock())
    if checks.result == "none" and (now.timestamp() - _made(world, commit)) > MOST_QUIET:
        raise CannotTell(
            f"CI has reported nothing for {commit[:12]} in an hour; check whether it runs for this branch, or set [git] wait_for_ci = false"
        )
    until = (now + timedelta(seconds=LOOK_AGAIN)).isoformat(timespec="seconds")
    raise Unreached(
        f"CI has not finished yet on {short(run.data.branch)}{f': {checks.said}' if checks.said else ''}", "Detent looks at it again", until
    )


def _made(world: RepoWorld, commit: str) -> float:
    return float(world.git.run("log", "-1", "--format=%ct", "--end-of-options", commit).text)


# -- where it is -------------------------------------------------------------------------------------------------------------


def keep_url(common: Path, run: str, said: str) -> str:
    """Keep the last URL of what opened a pull request, for whoever looks at the run; it decides nothing."""
    found = URL.findall(said)
    if found:
        keep(_file(common, run), found[-1].rstrip(".,)"), durable=False)
    return kept_url(common, run)


def url_of(common: Path, run: AnyRun) -> str:
    """Where the pull request of a run is, as its journal or this machine knows it; empty if there is none."""
    return getattr(run.data, "pull", "") or kept_url(common, run.id)


def kept_url(common: Path, run: str) -> str:
    return kept(_file(common, run)) or ""


def _file(common: Path, run: str) -> Path:
    return common / "detent" / "pull-requests" / f"{run}.json"


@contextmanager
def reached() -> Iterator[None]:
    """A tracker that cannot be reached says nothing about the item. One that says when to ask again is left until then, and that counts nothing."""
    try:
        yield
    except Unreached as e:
        if e.until:
            raise
        raise Away("tracker", f"{e.message} ({e.hint})" if e.hint else e.message) from e
