"""The card of a run's branch with what it is about: its range as people say it, its commits, its files. Decides nothing."""

from detent.door import AnyRun
from detent.errors import DetentError
from detent.evidence.outcomes.card import Card, Change, Checked
from detent.git.commit_history import commits_between, paths_between
from detent.git.commits import main_branch, short
from detent.git.repo import Git
from detent.world.work_tree import RepoWorld


def checked_branch(world: RepoWorld, run: AnyRun, tip: str, card: Card) -> Checked:
    """What was found of a run's branch, whose tip is this commit."""
    git, suite = world.git, world.config_of(run).suite
    commits = tuple(commits_between(git, run.data.base, tip)) if run.data.base else ()
    paths = paths_between(git, card.base, card.tip) if card.base else ()
    change = Change(_name(world, run), run.data.base, card.base, card.tip, commits, "", paths)
    return Checked(change, card, suite.base.text if suite.base else "", suite.walls)


def has_moved_on(git: Git, run: AnyRun, found: Checked) -> bool:
    """Whether the branch that a card is about has another tree by now."""
    tree = git.tree(run.data.branch or "HEAD") if run.data.base == found.change.base else ""
    return tree not in ("", found.card.tip)


def _name(world: RepoWorld, run: AnyRun) -> str:
    """The range as people say it. Work on main itself, or where there is no main, is named by the commit that it began from."""
    branch = run.data.branch or world.git.branch()
    try:
        main = main_branch(world.git, world.config_of(run).ways.main)
    except DetentError:
        main = branch
    return f"{short(main) if branch != main else run.data.base[:12]}…{short(branch) or 'HEAD'}"
