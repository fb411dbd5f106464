"""The effects of `pr` on a real repository: published files, checkpoints, and resets to good trees."""

from detent.door import AnyEvent
from detent.effects.publish import publish, where
from detent.gates.tree import strays_of_green, strays_of_red
from detent.git.repo import ZERO
from detent.workflows.pr.pr_data import step_shown
from detent.world.work_tree import FINDINGS, Effects, RepoWorld, keep_snapshot, leave, undo

FINISHED = ("merged", "plan-done-here")  # events after which the plan of the pull request is finished
REVIEWED = ("approved", "findings")  # events after which the findings are in the journal


def _publish(world: RepoWorld, event: AnyEvent) -> None:
    run = event.run
    files = dict(world.files_of(run))
    if files.get("ACTIVE_PR.json") is None and not (event.on in FINISHED or run.data.landed):
        files.pop("ACTIVE_PR.json")  # keep the agent's draft; only a finished plan is removed
    publish(world.place, files)
    if event.on in REVIEWED:
        where(world.place, FINDINGS).unlink(missing_ok=True)


def _checkpoint(world: RepoWorld, event: AnyEvent) -> None:
    if event.run.data.checkpoint_due:
        return  # the agent makes this commit itself
    from detent.git.commits import commit_tree  # imported late: most verdicts commit nothing

    done = next((s.description for t in event.run.data.plan.tasks for s in t.tdd_steps if s.proof == event.run.seq), "")
    commit_tree(world.git, event.run.id, event.run.seq, "checkpoint", event.found.tree, f"wip({event.on}): {done}", event.at)


def _commit_plan(world: RepoWorld, event: AnyEvent) -> None:
    from detent.git.commits import commit_tree

    commit_tree(world.git, event.run.id, event.run.seq, "plan", event.found.tree, "docs: mark the finished entry in the plan", event.at)


def _reset(world: RepoWorld, event: AnyEvent) -> None:
    """Reset to the last good tree, and move the branch off the agent's own commits, which stay reachable."""
    from detent.git.commits import back_to_tree, bring_to, marker

    run, git = event.run, world.git
    mark = marker(run.id, run.seq, "reset")
    if not git.resolve(mark):
        kept, good = world.snapshot(run), run.data.committed or git.tree("HEAD")
        if run.data.base and run.data.branch in ("", git.branch()):
            back_to_tree(git, run.id, run.seq, run.data.base, good)
        bring_to(git, good, kept)
        git.update([(mark, git.head(), ZERO)])


STRAYS = {"RED": strays_of_red, "GREEN": strays_of_green}


def _undo(world: RepoWorld, event: AnyEvent) -> None:
    step = step_shown(event.run)
    undo(world, event, STRAYS.get(step.type) if step else None)


def _clear(world: RepoWorld, event: AnyEvent) -> None:
    facts = event.sent.facts
    if facts.get("branch") and facts.get("main"):
        from detent.effects.make_branch import delete_merged  # imported late: needed once per branch

        delete_merged(world.git, facts["branch"], facts["main"])


def _claims(world: RepoWorld, event: AnyEvent) -> None:
    from detent.world.publish_claims import settle_claims  # imported late: owed once per branch

    settle_claims(world, event)


EFFECTS: Effects = {
    "publish": _publish,
    "checkpoint": _checkpoint,
    "commit_plan": _commit_plan,
    "snapshot": keep_snapshot,
    "reset_to_good": _reset,
    "undo_strays": _undo,
    "clear_plan": _clear,
    "leave_workspace": leave,
    "publish_claims": _claims,
}
