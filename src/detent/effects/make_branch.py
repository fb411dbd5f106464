"""The branch of a pull request: creating, squashing and deleting it. After a crash each step recognises what it already did."""

from collections.abc import Callable
from typing import NamedTuple

from detent.git.commits import branch_name, free_branch, main_branch, switch
from detent.git.land_merge import fetch_main
from detent.git.repo import ZERO, Git


class Branched(NamedTuple):
    """A branch that was made: its full ref, the commit it starts from, and that commit's tree."""

    branch: str
    base: str
    tree: str


def create_branch(git: Git, run: str, seq: int, title: str, main: str, remote: str) -> Branched:
    """Create a branch on the current main and check it out."""
    made = make_branch(git, run, seq, lambda: free_branch(git, branch_name(title)), main, remote)
    if git.branch() != made.branch:
        switch(git, made.branch, git.tree("HEAD"))
    return made


def as_it_is(main: str) -> str:
    return main


def make_branch(
    git: Git, run: str, seq: int, choose: Callable[[], str], main: str, remote: str, start: Callable[[str], str] = as_it_is
) -> Branched:
    """Create a branch on the current main, or on the commit that `start` maps it to. A ref keeps the name for a second call."""
    traces = f"refs/detent/{run}/branch/{seq}/"
    known = git.run("for-each-ref", "--format=%(refname)", traces).text.splitlines()
    if known:
        branch = "refs/heads/" + known[0].removeprefix(traces)
        base = git.resolve(known[0])
    else:
        base = start(fetch_main(git, main_branch(git, main), remote))
        branch = choose()
        git.update([(branch, base, ZERO), (traces + branch.removeprefix("refs/heads/"), base, ZERO)])
    return Branched(branch, base, git.tree(base))


def squash(git: Git, run: str, seq: int, base: str, tree: str, title: str, at: str) -> str:
    """Replace the branch by one commit over the base with exactly this tree. A ref keeps the old commits reachable."""
    head = git.head()
    if git.count(base, head) == 1 and git.tree(head) == tree and git.message(head) == title:
        return head
    commit = git.commit(tree, [base], title, at)
    git.update([(git.branch() or "HEAD", commit, head), (f"refs/detent/{run}/squashed/{seq}", head, ZERO)])
    return commit


def delete_merged(git: Git, branch: str, main: str) -> None:
    """Delete a branch that is merged into main and not checked out; leave any other."""
    tip = git.resolve(f"{branch}^{{commit}}")
    if tip and git.is_ancestor(tip, main) and git.branch() != branch:
        git.update([(branch, ZERO, tip)])
