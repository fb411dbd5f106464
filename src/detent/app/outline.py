"""A run in outline, for people: its title, its plan, the words before its first step, and where its branch was merged. Changes nothing."""

from detent.app import App
from detent.app.commit_settings import not_counted
from detent.app.registry import workflow_of
from detent.blocks.common import Part
from detent.door import AnyRun
from detent.git.commits import main_branch

LONGEST_TITLE = 160


def title_of(run: AnyRun) -> str:
    """The title of a run, on one line."""
    lines = [line.strip() for line in workflow_of(run.workflow).title(run).splitlines()]
    words = " ".join(next((line for line in lines if line), str(run.id)).lstrip("# ").split())
    return words if len(words) <= LONGEST_TITLE else f"{words[: LONGEST_TITLE - 1]}…"


def plan_of(run: AnyRun) -> tuple[Part, ...]:
    """The plan of a run, as it is now."""
    return workflow_of(run.workflow).plan(run)


def first_words(app: App, run: str) -> tuple[str, ...]:
    """Sentences for a person before the first step: what the run will work through, and which settings of the branch do not count."""
    now = app.door.load(run).run
    other = not_counted(app.world.git, app.world.outer)
    return (*workflow_of(now.workflow).at_start(now), *filter(None, (other,)))


def merged_into(app: App, run: str) -> str:
    """The name of main if the run has ended and main has its branch; else empty."""
    now, git = app.door.load(run).run, app.world.git
    if not app.journal.heads(run)[0].ended or not getattr(now.data, "branch", ""):
        return ""
    main = main_branch(git, app.worlds.runs.config_of(now).settings.get("git.main", ""))
    tip, newest = git.resolve(now.data.branch), git.resolve(main)
    return main.removeprefix("refs/heads/") if tip and newest and tip != now.data.base and git.is_ancestor(tip, newest) else ""
