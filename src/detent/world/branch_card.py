"""The card of a run's branch with what it is about: its range as people say it, its commits, its files. Decides nothing."""

from detent.door import AnyRun
from detent.errors import DetentError
from detent.evidence.outcomes.card import Card, Change, Checked
from detent.git.commits import commits_between, main_branch, paths_between, short
from detent.world.work_tree import RepoWorld


def base_of(world: RepoWorld, run: AnyRun) -> str:
    """The commit from which a run's branch is looked at. Where it is to land on main, that is where it left main: what it had before the run
    began lands with it."""
    base: str = run.data.base
    ways = world.config_of(run).ways
    if not base or ways.merge == "branch":
        return base
    try:
        main = world.git.resolve(f"{main_branch(world.git, ways.main)}^{{commit}}")
    except DetentError:
        return base
    left = world.git.call("merge-base", main, base)
    return left.text if left.code == 0 else base


def checked_branch(world: RepoWorld, run: AnyRun, tip: str, card: Card) -> Checked:
    """What was found of a run's branch, whose tip is this commit."""
    git, suite = world.git, world.config_of(run).suite
    base = base_of(world, run)
    commits = tuple(commits_between(git, base, tip)) if base else ()
    paths = paths_between(git, card.base, card.tip) if card.base else ()
    change = Change(_name(world, run), base, card.base, card.tip, commits, "", paths)
    return Checked(change, card, suite.base.text if suite.base else "", suite.walls)


def is_about(world: RepoWorld, run: AnyRun, found: Checked) -> bool:
    """Whether a card is about what a run works on now, and not about the pull request before it."""
    return found.change.base in (run.data.base, base_of(world, run))


def has_moved_on(world: RepoWorld, run: AnyRun, found: Checked) -> bool:
    """Whether the branch that a card is about has another tree by now."""
    tree = world.git.tree(run.data.branch or "HEAD") if is_about(world, run, found) else ""
    return tree not in ("", found.card.tip)


def _name(world: RepoWorld, run: AnyRun) -> str:
    """The range as people say it. Work on main itself, or where there is no main, is named by the commit that it began from."""
    branch = run.data.branch or world.git.branch()
    try:
        main = main_branch(world.git, world.config_of(run).ways.main)
    except DetentError:
        main = branch
    return f"{short(main) if branch != main else run.data.base[:12]}…{short(branch) or 'HEAD'}"
