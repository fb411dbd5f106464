"""Whether the branch of a run that has ended is in the main branch by now. Looks at git; changes nothing."""

from detent.app import App
from detent.git.commits import main_branch


def merged_into(app: App, run: str) -> str:
    """The main branch, where the run has ended and its branch is in it; empty otherwise."""
    now, git = app.door.load(run).run, app.world.git
    if not app.journal.heads(run)[0].ended or not getattr(now.data, "branch", ""):
        return ""
    main = main_branch(git, app.worlds.runs.config_of(now).settings.get("git.main", ""))
    tip, newest = git.resolve(now.data.branch), git.resolve(main)
    return main.removeprefix("refs/heads/") if tip and newest and tip != now.data.base and git.is_ancestor(tip, newest) else ""
