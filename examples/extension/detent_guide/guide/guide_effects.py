"""What the rows of `guide` owe and ask for, on a real repository."""

from detent.door import AnyEvent, AnyRun
from detent.git.commits import commit_phase
from detent.kernel.model import Sent
from detent.world.before_landing import held_up
from detent.world.landing import bring_in, offer
from detent.world.work_tree import Effects, Jobs, RepoWorld, keep_snapshot, leave, outcome


def _commit(world: RepoWorld, event: AnyEvent) -> None:
    """Exactly the tree that was judged. Doing it again does nothing."""
    run = event.run
    commit_phase(world.git, run.id, run.seq, event.found.tree, run.data.subject, event.at, run.data.base)


def _publish(world: RepoWorld, event: AnyEvent) -> None:
    """This workflow publishes no files."""


def _land(world: RepoWorld, run: AnyRun) -> Sent:
    """Look at the whole branch, then land it as [git] merge says; in a person's own checkout it stays where it is."""
    if (stop := held_up(world, run)) is not None:
        return stop
    lands = bool(run.data.setup.workspace) and world.config_of(run).ways.merge != "branch"
    landed = bring_in(world, run) if lands else offer(world, run)
    name = {"merged": "landed", "": "offered"}.get(landed.outcome, landed.outcome)
    return outcome(name, landed.output, branch=run.data.branch, main=landed.main, **landed.reports)


EFFECTS: Effects = {"commit_judged_tree": _commit, "publish": _publish, "snapshot": keep_snapshot, "leave_workspace": leave}
JOBS: Jobs = {"land_branch": _land}
