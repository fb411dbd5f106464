"""What an execution begins from: main, and the finished work of the items that it needs where main does not have it yet. As objects; no ref moves."""

from collections.abc import Mapping, Sequence

from detent.door import AnyRun
from detent.errors import CannotTell
from detent.git.commits import short
from detent.git.land_merge import build_merge
from detent.git.remote import fetch_branch, has_remote
from detent.git.repo import Git
from detent.workflows.execute.execute_data import stem
from detent.world.work_tree import RepoWorld


def finished(world: RepoWorld, run: AnyRun, items: Sequence[str]) -> dict[str, str]:
    """The branches of the newest completed executions of these items, with their commits. One that is gone has landed, by whatever way."""
    git, remote = world.git, world.config_of(run).ways.remote
    branches = [branch for item in items if (branch := _branch(world, item))]
    far = has_remote(git, remote)
    tips = {branch: fetch_branch(git, remote, branch) if far else git.resolve(f"{branch}^{{commit}}") for branch in branches}
    return {branch: tip for branch, tip in tips.items() if tip}


def _branch(world: RepoWorld, item: str) -> str:
    found, n = "", 1
    while family := world.runs.family(f"{stem(item)}-{n}"):
        found, n = (str(family[0].data.branch) if family[0].state == "COMPLETED" else found), n + 1
    return found


def begun_from(git: Git, main: str, needed: Mapping[str, str], item: str, at: str) -> str:
    """Main with these branches merged in, each that it lacks. What they conflict in is for a person."""
    commit = main
    for branch, tip in needed.items():
        if git.is_ancestor(tip, commit):
            continue
        name = short(branch)
        merge = build_merge(git, commit, tip, f"Merge branch '{name}', which {item} needs", at)
        if merge.conflict:
            raise CannotTell(
                f"{item} needs what is on {name}, which is not in main yet and conflicts with what {item} begins from, in {merge.conflict}; "
                f"land it first: detent land {name}"
            )
        commit = merge.commit if merge.tree != git.tree(commit) else commit  # what it says is there already, by other commits
    return commit


def held(git: Git, base: str, main: str, needed: Mapping[str, str]) -> list[str]:
    """Those of the branches whose work a start has and main has not."""
    return [short(branch) for branch, tip in needed.items() if git.is_ancestor(tip, base) and not git.is_ancestor(tip, main)]
