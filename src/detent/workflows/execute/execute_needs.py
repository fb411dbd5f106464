"""What an execution starts from: main, with the finished branches of the items it needs merged in where main lacks them. Builds objects, moves no ref.

Work on an issue of a review starts from the reviewed code: at the tip of the waiting branch, or with that branch merged in.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from detent.door import AnyRun
from detent.errors import CannotTell
from detent.git.commits import short
from detent.git.land_merge import build_merge
from detent.git.remote import fetch_branch, has_remote
from detent.git.repo import Git
from detent.tracker import Item
from detent.workflows.execute.execute_data import PLAIN, stem
from detent.workflows.execute.execute_items import reviewed_in
from detent.world.work_tree import RepoWorld


class OpenPull(NamedTuple):
    """The branch of a pull request that is to be updated, with its base and its tip."""

    branch: str
    base: str
    tip: str


class OfReview(NamedTuple):
    """The branches that work on a review's issue needs, with their commits; and the execution that waits for this work, if there is one."""

    needed: Mapping[str, str] = {}
    part_of: str = ""


def of_review(world: RepoWorld, run: AnyRun, item: Item) -> OfReview:
    """Where the work on an issue of a review starts; empty for any other item."""
    about = reviewed_in(item.key)
    if not about:
        return OfReview()
    waits = _waiting(world, about)
    if waits is not None:
        return OfReview({waits.data.branch: waits.data.pushed}, waits.id)
    branch = _branch(world, about) or f"refs/heads/{about}"
    return OfReview({**finished(world, run, item.depends_on), **tips(world, run, [branch])})


def open_pull(world: RepoWorld, run: AnyRun, main: str, begun: bool) -> OpenPull | None:
    """The pull request branch to continue on, when people requested changes. None if that is impossible (the branch is gone, merged, conflicts with
    main, was moved here, or is checked out by a person); the item then starts from main. `begun`: this execution has it checked out."""
    git, before = world.git, next(iter(world.runs.family(run.data.continues)), None) if run.data.continues else None
    if before is None or run.data.setup.strategy != PLAIN or not before.data.base:
        return None
    branch = before.data.branch
    tip, here = tips(world, run, [branch]).get(branch, ""), git.resolve(f"{branch}^{{commit}}")
    taken = not begun and f"branch {branch}\n" in git.run("worktree", "list", "--porcelain").text + "\n"
    if not tip or taken or git.is_ancestor(tip, main) or (here and not git.is_ancestor(here, tip)):
        return None
    return None if build_merge(git, main, tip, "a look ahead", world.clock()).conflict else OpenPull(branch, before.data.base, tip)


def _waiting(world: RepoWorld, item: str) -> AnyRun | None:
    """The newest execution of an item, if it waits because its branch is not ready."""
    found, n = None, 1
    while family := world.runs.family(f"{stem(item)}-{n}"):
        found, n = family[0], n + 1
    return found if found is not None and found.state == "NOT_READY" and found.data.pushed else None


def finished(world: RepoWorld, run: AnyRun, items: Sequence[str]) -> dict[str, str]:
    """The branches of the newest completed executions of these items, with their commits. A branch that is gone counts as landed."""
    return tips(world, run, [branch for item in items if (branch := _branch(world, item))])


def tips(world: RepoWorld, run: AnyRun, branches: Sequence[str]) -> dict[str, str]:
    """The commits of these branches, from the remote where there is one; branches that exist nowhere are left out."""
    git, remote = world.git, world.config_of(run).ways.remote
    far = has_remote(git, remote)
    found = {branch: (fetch_branch(git, remote, branch) if far else "") or git.resolve(f"{branch}^{{commit}}") for branch in branches}
    return {branch: tip for branch, tip in found.items() if tip}


def _branch(world: RepoWorld, item: str) -> str:
    found, n = "", 1
    while family := world.runs.family(f"{stem(item)}-{n}"):
        found, n = (str(family[0].data.branch) if family[0].state == "COMPLETED" else found), n + 1
    return found


def begun_from(git: Git, main: str, needed: Mapping[str, str], item: str, at: str) -> str:
    """Main with each needed branch merged in that it lacks. A conflict is left to a person."""
    commit = main
    for branch, tip in needed.items():
        if git.is_ancestor(tip, commit):
            continue
        name = short(branch)
        merge = build_merge(git, commit, tip, f"Merge branch '{name}', which {item} needs", at)
        if merge.conflict:
            raise CannotTell(
                f"{item} needs {name}, which is not in main yet and conflicts with what {item} starts from, in {merge.conflict}; "
                f"land it first: detent land {name}"
            )
        commit = merge.commit if merge.tree != git.tree(commit) else commit  # other commits have it all
    return commit


def held(git: Git, base: str, main: str, needed: Mapping[str, str]) -> list[str]:
    """The branches that `base` contains and main does not."""
    return [short(branch) for branch, tip in needed.items() if git.is_ancestor(tip, base) and not git.is_ancestor(tip, main)]
