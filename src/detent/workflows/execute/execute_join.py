"""Merging into a reviewed branch the work done for its review, by executions of the filed items or by people. Objects first, refs last."""

from detent.door import AnyRun
from detent.errors import CannotTell
from detent.git.commits import bring_to, short
from detent.git.land_merge import build_merge
from detent.git.repo import ZERO
from detent.kernel.model import Sent
from detent.workflows.execute.execute_data import stem
from detent.workflows.execute.execute_items import keys_of
from detent.workflows.execute.execute_needs import tips
from detent.world.pulls import reached
from detent.world.work_tree import RepoWorld, outcome


def take_in(world: RepoWorld, run: AnyRun) -> Sent:
    """Merge everything that was done for the review into the branch. If it is all there, it was merged before a crash or nothing is new."""
    git, data = world.git, run.data
    tip = git.resolve(f"{data.branch}^{{commit}}")
    if not tip:
        raise CannotTell(f"the branch {short(data.branch)} is gone")
    wanted, now = tips(world, run, [data.branch, *_done_for(world, run)]), tip
    for branch, commit in wanted.items():
        if git.is_ancestor(commit, now):
            continue
        if git.is_ancestor(now, commit):
            now = commit
            continue
        merge = build_merge(git, now, commit, f"Merge branch '{short(branch)}', done for the review of {short(data.branch)}", world.clock())
        if merge.conflict:
            raise CannotTell(
                f"what was done on {short(branch)} for the review of {short(data.branch)} conflicts in {merge.conflict}; "
                f"merge it into {short(data.branch)} by hand and push that, then: detent resume --run {run.id}"
            )
        now = merge.commit
    if now != tip:
        own = f"refs/detent/{run.id}/tip"
        git.update([(data.branch, now, tip), (own, now, git.resolve(own) or ZERO)])
    if now == data.pushed:
        return outcome("nothing-new")
    bring_to(git, git.tree(now), world.snapshot(run))
    return outcome("joined", commit=now)


def _done_for(world: RepoWorld, run: AnyRun) -> list[str]:
    """The branches of completed executions that worked on issues of this execution's reviews."""
    reviews = (event.run.data.review for event in world.runs.history(run.id) if event.run.data.review is not None)
    keys = {key for review in reviews for key in keys_of(review, run.data.item.id)}
    with reached():
        items = [item.id for item in world.config_of(run).tracker().items() if item.key in keys]
    return [branch for item in items for branch in _branches(world, run, item)]


def _branches(world: RepoWorld, run: AnyRun, item: str) -> list[str]:
    found, n = [], 1
    while family := world.runs.family(f"{stem(item)}-{n}"):
        if family[0].state == "COMPLETED" and family[0].data.part_of == run.id:
            found.append(str(family[0].data.branch))
        n += 1
    return found
