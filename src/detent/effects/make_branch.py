"""Branches: making the one a pull request is built on, squashing it, and leaving it. Each finds its own traces after a crash."""

from collections.abc import Callable
from typing import NamedTuple

from detent.git.commits import branch_name, free_branch, main_branch, switch
from detent.git.land_merge import fetch_main
from detent.git.repo import ZERO, Git


class Branched(NamedTuple):
    """A branch that is checked out: its full name, the commit it started from, and that commit's tree."""

    branch: str
    base: str
    tree: str


def create_branch(git: Git, run: str, seq: int, title: str, main: str, remote: str) -> Branched:
    """Make a branch on the current main and check it out."""
    made = make_branch(git, run, seq, lambda: free_branch(git, branch_name(title)), main, remote)
    if git.branch() != made.branch:
        switch(git, made.branch, git.tree("HEAD"))
    return made


def as_it_is(main: str) -> str:
    return main


def make_branch(
    git: Git, run: str, seq: int, choose: Callable[[], str], main: str, remote: str, start: Callable[[str], str] = as_it_is
) -> Branched:
    """Make a branch on the current main, or where `start` says to begin from there. The name is chosen once and remembered by a ref."""
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
    """One commit over the base with exactly this tree; what was there before stays reachable."""
    head = git.head()
    if git.count(base, head) == 1 and git.tree(head) == tree and git.message(head) == title:
        return head
    commit = git.commit(tree, [base], title, at)
    git.update([(git.branch() or "HEAD", commit, head), (f"refs/detent/{run}/squashed/{seq}", head, ZERO)])
    return commit


def delete_merged(git: Git, branch: str, main: str) -> None:
    """Delete a branch that is in main; any other is left."""
    tip = git.resolve(f"{branch}^{{commit}}")
    if tip and git.is_ancestor(tip, main) and git.branch() != branch:
        git.update([(branch, ZERO, tip)])
