"""Where a child begins that works in a workspace of its own, beside its parent's."""

from detent.door import AnyRun
from detent.git.commits import tip_of
from detent.git.repo import Git


def start_of(git: Git, root: str, base: str, tree: str) -> str:
    """The newest commit of the session with a tree; where it was never committed, the one the session began from."""
    made = git.run("log", "--format=%H %T", f"{base}..{tip_of(git, root, base)}", "--").text.splitlines()
    return next((line.split()[0] for line in made if line.split()[1] == tree), base)


def begin_tree(run: AnyRun) -> str:
    """What stands in a new workspace of a task: what it has proved, or earlier work that is to be fixed, or what it begins from."""
    data = run.data
    fresh = data.good_tree in ("", data.start_tree)
    return str(data.laid or data.start_tree if fresh else data.good_tree)
