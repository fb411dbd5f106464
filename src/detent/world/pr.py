"""The effects and jobs of `pr` on a real repository: checkpoints, the branch, the review, squash and merge."""

import json
import os

from detent.door import AnyEvent, AnyRun
from detent.effects.branch import create_branch, delete_merged, squash
from detent.effects.publish import publish, where
from detent.errors import CannotTell
from detent.gates.review import blocking, read_findings, unproved
from detent.gates.tree import strays_of_green, strays_of_red
from detent.git.commits import bring_to, commit_tree, marker
from detent.git.repo import ZERO
from detent.kernel.model import Sent
from detent.workflows.pr_data import ROOT_FILE, step_shown
from detent.world.claims import settle_claims
from detent.world.kit import Kit
from detent.world.landing import bring_in
from detent.world.repo import FINDINGS, WRITES_PLAN, Effects, Jobs, RepoWorld, keep_snapshot, leave, outcome
from detent.world.strays import undo

# -- effects -----------------------------------------------------------------------------------------------------------------


def _publish(world: RepoWorld, event: AnyEvent) -> None:
    run = event.run
    files = dict(world.files_of(run))
    if run.state in WRITES_PLAN and files.get("ACTIVE_PR.json") is None and event.was in WRITES_PLAN:
        files.pop("ACTIVE_PR.json")  # the agent may have begun to write it
    publish(world.place, files)
    if run.state != "CODE_REVIEW":
        where(world.place, FINDINGS).unlink(missing_ok=True)


def _checkpoint(world: RepoWorld, event: AnyEvent) -> None:
    if event.run.data.checkpoint_due:
        return  # the agent is asked for it
    done = next((s.description for t in event.run.data.plan.tasks for s in t.tdd_steps if s.proof == event.run.seq), "")
    commit_tree(world.git, event.run.id, event.run.seq, "checkpoint", event.found.tree, f"wip({event.on}): {done}", event.at)


def _commit_plan(world: RepoWorld, event: AnyEvent) -> None:
    commit_tree(world.git, event.run.id, event.run.seq, "plan", event.found.tree, "docs: mark the finished entry in the plan", event.at)


def _reset(world: RepoWorld, event: AnyEvent) -> None:
    mark = marker(event.run.id, event.run.seq, "reset")
    if not world.git.resolve(mark):
        kept = world.snapshot(event.run)
        bring_to(world.git, event.run.data.committed or world.git.tree("HEAD"), kept)
        world.git.update([(mark, world.git.head(), ZERO)])


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
    ways = world.kit_of(run).ways
    made = create_branch(world.git, run.id, run.seq, run.data.plan.prTitle, ways.main, ways.remote)
    return outcome("branched", branch=made.branch, base=made.base, tree=made.tree)


def _review(world: RepoWorld, run: AnyRun) -> Sent | None:
    """The configured reviewer, in a fresh context. Where there is none: findings at the root, or else the agent is asked for them."""
    kit, file = world.kit_of(run), where(world.place, FINDINGS)
    by_hand = file.is_file() and kit.settings.get("review.require_independent") != "true"
    if not kit.reviewer and not by_hand:
        return None
    if changed := world.git.changes(run.data.good_tree, world.snapshot(run)):
        raise CannotTell(unproved(changed[0][1]))
    text, by = (_ask_reviewer(world, run, kit), kit.reviewer) if kit.reviewer else (file.read_text("utf-8", "replace"), ROOT_FILE)
    blocked = blocking(read_findings(text), kit.settings.get("review.block_at", "MINOR"))
    return outcome("findings" if blocked else "approved", findings=text, by=by)


def _ask_reviewer(world: RepoWorld, run: AnyRun, kit: Kit) -> str:
    """The reviewer's answer for this tree, asked once: a crash after a paid call does not pay again."""
    from detent.agents import AgentFailed, Turn, ask  # most submits ask nobody

    tree = world.snapshot(run)
    kept = world.place.git_dir / "detent" / "reviews" / f"{run.id}-{run.seq}-{tree}.json"
    if kept.exists():
        return kept.read_text("utf-8")
    diff = world.git.run("diff", "--no-ext-diff", "--no-textconv", "--no-color", run.data.base, tree).text
    briefing = json.dumps({"goal": REVIEW_GOAL, "plan": world.files_of(run).get("ACTIVE_PR.json"), "diff": diff, "tree": tree})
    env = {**world.collector(run).env, "DETENT_RUN": run.id, "DETENT_STATE": run.state, "DETENT_ROLE": "reviewer"}
    turn = Turn(briefing, briefing, REVIEW_GOAL, world.place.root, env=env, timeout=1800, start=kit.start, apart=kit.apart)
    turn = turn._replace(wanted=world.gear.wanted)
    try:
        text = ask(kit.reviewer, turn, world.outer).text
    except AgentFailed as e:
        raise CannotTell(e.message) from e
    read_findings(text)
    kept.parent.mkdir(parents=True, exist_ok=True)
    scratch = kept.with_suffix(".new")
    scratch.write_text(text, "utf-8")
    os.replace(scratch, kept)
    return text


REVIEW_GOAL = (
    "Review this change against its plan: correctness, tests, clarity, security, and no temporary logs left behind. Answer with one JSON object "
    '{"overall_assessment": …, "executive_summary": …, "findings": [{"file_path", "line_number", "category", "severity": '
    '"CRITICAL|MAJOR|MINOR|SUGGESTION|INFO", "description", "recommendation"}]}. An empty list of findings approves.'
)


def _squash(world: RepoWorld, run: AnyRun) -> Sent | None:
    if world.kit_of(run).squash != "auto":
        return None
    data = run.data
    commit = squash(world.git, run.id, run.seq, data.base, data.reviewed_tree, data.plan.prTitle, world.clock())
    return outcome("squashed", commit=commit)


def _merge(world: RepoWorld, run: AnyRun) -> Sent | None:
    landed = bring_in(world, run)
    return outcome(landed.outcome, landed.output, branch=run.data.branch, main=landed.main) if landed.outcome else None


JOBS: Jobs = {
    "create_branch": _create_branch,
    "call_reviewer": _review,
    "squash": _squash,
    "merge": _merge,
}
