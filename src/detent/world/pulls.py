"""The pull request of a run: its title and plan as text, opening it at the forge, the result of CI, and its URL.
A forge or tracker that does not answer is never a verdict on the work."""

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
from detent.storage.state import read_sealed, write_sealed
from detent.tracker import CLOSES
from detent.world.work_tree import RepoWorld, outcome

URL = re.compile(r"https?://[^\s<>\"']+")
LONGEST_TITLE = 200
LOOK_AGAIN = 30.0  # seconds between queries of CI
MOST_QUIET = 3600.0  # seconds that CI may report nothing for a commit


def title_of(run: AnyRun, commits: list[str]) -> str:
    """The title of the plan or the item, else of the first commit."""
    if isinstance(run.data, ItemData):
        title = run.data.item.title
    elif isinstance(run.data, PlanData) and run.data.plan is not None:
        title = run.data.plan.prTitle
    else:
        title = commits[0] if commits else short(run.data.branch)
    return " ".join(title.split())[:LONGEST_TITLE]


def plan_text(world: RepoWorld, run: AnyRun) -> str:
    """The plan or the item in markdown, with the keyword that closes the issue at the merge."""
    if isinstance(run.data, ItemData):
        closes = CLOSES.get(world.config_of(run).settings.get("tracker.kind", ""), "").format(run.data.item.id)
        return "\n\n".join(part for part in (closes, run.data.item.description) if part)
    plan = run.data.plan if isinstance(run.data, PlanData) else None
    if plan is None:
        return ""
    steps = [f"- {task.taskName}" for task in plan.tasks]
    return "\n".join(("## Plan", "", plan.summary.strip(), "", *steps)).strip()


def open_at_forge(world: RepoWorld, run: AnyRun, commits: list[str], body: str) -> str:
    """Open or update the pull request of a run's branch; returns its URL."""
    config = world.config_of(run)
    onto = short(main_branch(world.git, config.ways.main))
    with reached(), _known():
        return config.pulls().offer(short(run.data.branch), onto, title_of(run, commits), body).url


@contextmanager
def _known() -> Iterator[None]:
    """Turn the error for an unknown forge into CannotTell: a person must name it."""
    try:
        yield
    except Unreached:
        raise
    except DetentError as e:
        raise CannotTell(f"git.pr_command is not set, and no forge can be asked: {e.message} ({e.hint})") from e


def judged_by_ci(world: RepoWorld, run: AnyRun) -> Sent | None:
    """With [git] wait_for_ci: an outcome if CI is red, Unreached with a time while it runs, None if it is green."""
    config, commit = world.config_of(run), run.data.pushed
    if config.settings.get("git.wait_for_ci") != "true":
        return None
    with reached(), _known():
        checks = config.pulls().checks(commit)
    if checks.result == "green":
        return None
    if checks.result == "red":
        return outcome("ci-red", f"CI fails on {short(run.data.branch)}: {checks.names}")
    now = datetime.fromisoformat(world.clock())
    if checks.result == "none" and (now.timestamp() - _made(world, commit)) > MOST_QUIET:
        raise CannotTell(
            f"CI has reported nothing for {commit[:12]} in an hour; check whether it runs for this branch, or set [git] wait_for_ci = false"
        )
    until = (now + timedelta(seconds=LOOK_AGAIN)).isoformat(timespec="seconds")
    raise Unreached(
        f"CI has not finished yet on {short(run.data.branch)}{f': {checks.names}' if checks.names else ''}",
        "Detent looks at it again",
        until,
    )


def _made(world: RepoWorld, commit: str) -> float:
    return float(world.git.run("log", "-1", "--format=%ct", "--end-of-options", commit).text)


# -- its URL -----------------------------------------------------------------------------------------------------------------


def keep_url(common: Path, run: str, output: str) -> str:
    """Store the last URL in the output of a program, for display only."""
    found = URL.findall(output)
    if found:
        write_sealed(_file(common, run), found[-1].rstrip(".,)"), durable=False)
    return kept_url(common, run)


def url_of(common: Path, run: AnyRun) -> str:
    """The URL of a run's pull request, from its data or this machine; empty if there is none."""
    return getattr(run.data, "pull", "") or kept_url(common, run.id)


def kept_url(common: Path, run: str) -> str:
    return read_sealed(_file(common, run)) or ""


def _file(common: Path, run: str) -> Path:
    return common / "detent" / "pull-requests" / f"{run}.json"


@contextmanager
def reached() -> Iterator[None]:
    """Turn Unreached into Away("tracker"), unless it names a time to retry."""
    try:
        yield
    except Unreached as e:
        if e.until:
            raise
        raise Away("tracker", f"{e.message} ({e.hint})" if e.hint else e.message) from e
