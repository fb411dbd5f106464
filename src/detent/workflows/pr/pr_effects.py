"""The effects and jobs of `pr` on a real repository: checkpoints, the branch, the review, squash and merge."""

from pathlib import Path

from detent.blocks.open_flags import for_reviewer
from detent.door import AnyEvent, AnyRun
from detent.effects.make_branch import create_branch, delete_merged, squash
from detent.effects.publish import publish, where
from detent.errors import CannotTell, NotYet, Parted
from detent.gates.review_gates import ROOT_FILE, blocking, findings_in, read_findings, unproved
from detent.gates.tree import strays_of_green, strays_of_red
from detent.git.commits import back_to_tree, bring_to, commit_tree, marker
from detent.git.repo import ZERO
from detent.kernel.model import Sent
from detent.workflows.pr.pr_data import step_shown
from detent.world.before_landing import held_up
from detent.world.landing import bring_in
from detent.world.publish_claims import settle_claims
from detent.world.reviewer import Limited, ReviewQuestion, ask_reviewer, bounded_diff, fenced, is_parked, kept_review
from detent.world.strays import undo
from detent.world.work_tree import FINDINGS, Effects, Jobs, RepoWorld, keep_snapshot, leave, outcome

FINISHED = ("merged", "plan-done-here")  # after these, the plan of the pull request is done with
REVIEWED = ("approved", "findings")  # after these, what was found is in the journal

# -- effects -----------------------------------------------------------------------------------------------------------------


def _publish(world: RepoWorld, event: AnyEvent) -> None:
    run = event.run
    files = dict(world.files_of(run))
    if files.get("ACTIVE_PR.json") is None and not (event.on in FINISHED or run.data.landed):
        files.pop("ACTIVE_PR.json")  # the agent may have begun to write it; only a plan that is finished is taken away
    publish(world.place, files)
    if event.on in REVIEWED:
        where(world.place, FINDINGS).unlink(missing_ok=True)


def _checkpoint(world: RepoWorld, event: AnyEvent) -> None:
    if event.run.data.checkpoint_due:
        return  # the agent is asked for it
    done = next((s.description for t in event.run.data.plan.tasks for s in t.tdd_steps if s.proof == event.run.seq), "")
    commit_tree(world.git, event.run.id, event.run.seq, "checkpoint", event.found.tree, f"wip({event.on}): {done}", event.at)


def _commit_plan(world: RepoWorld, event: AnyEvent) -> None:
    commit_tree(world.git, event.run.id, event.run.seq, "plan", event.found.tree, "docs: mark the finished entry in the plan", event.at)


def _reset(world: RepoWorld, event: AnyEvent) -> None:
    """To the last good tree, and the branch to the commit that holds it: what an agent committed by itself is kept, and no part of it any more."""
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
        delete_merged(world.git, facts["branch"], facts["main"])


EFFECTS: Effects = {
    "publish": _publish,
    "checkpoint": _checkpoint,
    "commit_plan": _commit_plan,
    "snapshot": keep_snapshot,
    "reset_to_good": _reset,
    "undo_strays": _undo,
    "clear_plan": _clear,
    "leave_workspace": leave,
    "publish_claims": settle_claims,
}

# -- jobs --------------------------------------------------------------------------------------------------------------------


def _create_branch(world: RepoWorld, run: AnyRun) -> Sent:
    ways = world.config_of(run).ways
    try:
        made = create_branch(world.git, run.id, run.seq, run.data.plan.prTitle, ways.main, ways.remote)
    except Parted as e:
        return outcome("conflict", str(e))
    return outcome("branched", branch=made.branch, base=made.base, tree=made.tree)


def _review(world: RepoWorld, run: AnyRun) -> Sent | None:
    """The configured reviewer, in a fresh context. Where there is none: findings at the root, or else the agent is asked for them."""
    config, file = world.config_of(run), where(world.place, FINDINGS)
    by_hand = file.is_file() and config.settings.get("review.require_independent") != "true"
    if is_parked(run.not_before, world.clock()) if config.reviewer else not by_hand:
        return None
    if changed := world.git.changes(run.data.good_tree, world.snapshot(run)):
        raise (CannotTell if run.data.setup.agent else NotYet)(unproved(changed[0][1]))  # a driven agent is not asked without end
    try:
        text, took = _ask_reviewer(world, run) if config.reviewer else (_at_root(file), {})
    except Limited as e:
        return e.sent
    blocked = blocking(read_findings(text), config.settings.get("review.block_at", "MINOR"))
    return outcome("findings" if blocked else "approved", findings=text, by=config.reviewer or ROOT_FILE, **took)


def _at_root(file: Path) -> str:
    """Findings that lie at the root. Those that cannot be read are shown, and count nothing: looking at a run changes nothing."""
    text = file.read_text("utf-8", "replace")
    try:
        read_findings(text)
    except CannotTell as e:
        raise NotYet(f"{FINDINGS}: {e}") from e
    return text


def _findings_prompt() -> str:
    """What the reviewer of a pull request is told."""
    from detent.blocks.prompts import prompt  # most submits ask nobody

    folder = Path(__file__).parent / "prompts"
    return f"{prompt(folder, 'reviewer')}\n\n{prompt(folder, 'hand-in-findings')}\n"


def _ask_reviewer(world: RepoWorld, run: AnyRun) -> tuple[str, dict[str, str]]:
    """The reviewer's answer for this tree, asked once: a crash after a paid call does not pay again."""
    tree, git = world.snapshot(run), world.git
    parts = {"plan": world.files_of(run).get("ACTIVE_PR.json") or "", "diff": bounded_diff(git, run.data.base, tree)}
    head = f"# Review of the pull request {run.data.plan.prTitle}\n\nThe files as it leaves them are in your folder."
    flags = for_reviewer(run.flags)
    prompt = "\n\n".join(filter(None, (head, flags, fenced("The plan", "json", parts["plan"]), fenced("The diff", "diff", parts["diff"]))))
    goal, attempt = "Review this change against its plan", f"{run.id}.{run.seq}.review"
    question = ReviewQuestion(run.id, run.state, tree, goal, prompt, _findings_prompt(), findings_in, attempt, parts)
    file = world.place.git_dir / "detent" / "reviews" / f"{run.id}-{run.seq}-{tree}.json"
    return kept_review(file, lambda: ask_reviewer(git, world.runs.reviewer(run), question))


def _squash(world: RepoWorld, run: AnyRun) -> Sent | None:
    if world.config_of(run).squash != "auto":
        return None
    data = run.data
    commit = squash(world.git, run.id, run.seq, data.base, data.reviewed_tree, data.plan.prTitle, world.clock())
    return outcome("squashed", commit=commit)


def _merge(world: RepoWorld, run: AnyRun) -> Sent | None:
    if (stop := held_up(world, run)) is not None:
        return stop
    if run.data.landed:
        return outcome("merged")  # its commits are where they belong
    landed = bring_in(world, run)
    return outcome(landed.outcome, landed.output, branch=run.data.branch, main=landed.main, **landed.reports) if landed.outcome else None


JOBS: Jobs = {
    "create_branch": _create_branch,
    "call_reviewer": _review,
    "squash": _squash,
    "merge": _merge,
}
