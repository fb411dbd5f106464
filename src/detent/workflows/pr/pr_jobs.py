"""The jobs of `pr` on a real repository: branch, review, squash and merge."""

from pathlib import Path

from detent.blocks.briefs import prompt
from detent.blocks.open_flags import for_reviewer
from detent.door import AnyRun
from detent.effects.make_branch import create_branch, squash
from detent.effects.publish import where
from detent.errors import CannotTell, NotYet, Parted
from detent.gates.review_gates import ROOT_FILE, blocking, findings_in, read_findings, unproved
from detent.kernel.model import Sent
from detent.world.before_landing import held_up
from detent.world.landing import bring_in
from detent.world.reviewer import Limited, ReviewQuestion, ask_reviewer, bounded_diff, fenced, is_parked, kept_review
from detent.world.work_tree import FINDINGS, Jobs, RepoWorld, outcome


def _create_branch(world: RepoWorld, run: AnyRun) -> Sent:
    ways = world.config_of(run).ways
    try:
        made = create_branch(world.git, run.id, run.seq, run.data.plan.prTitle, ways.main, ways.remote)
    except Parted as e:
        return outcome("conflict", str(e))
    return outcome("branched", branch=made.branch, base=made.base, tree=made.tree)


def _review(world: RepoWorld, run: AnyRun) -> Sent | None:
    """Ask the configured reviewer, in a fresh context. Without one, take FINDINGS.json at the root; else the agent is asked."""
    config, file = world.config_of(run), where(world.place, FINDINGS)
    by_hand = file.is_file() and config.settings.get("review.require_independent") != "true"
    if is_parked(run.not_before, world.clock()) if config.reviewer else not by_hand:
        return None
    if changed := world.git.changes(run.data.good_tree, world.snapshot(run)):
        raise (CannotTell if run.data.setup.agent else NotYet)(unproved(changed[0][1]))  # or a driven agent would be asked forever
    try:
        text, took = _ask_reviewer(world, run) if config.reviewer else (_at_root(file), {})
    except Limited as e:
        return e.sent
    blocked = blocking(read_findings(text), config.settings.get("review.block_at", "MINOR"))
    return outcome("findings" if blocked else "approved", findings=text, by=config.reviewer or ROOT_FILE, **took)


def _at_root(file: Path) -> str:
    """The findings in FINDINGS.json at the root. Unreadable ones are reported without effect, since showing a run changes nothing."""
    text = file.read_text("utf-8", "replace")
    try:
        read_findings(text)
    except CannotTell as e:
        raise NotYet(f"{FINDINGS}: {e}") from e
    return text


def _findings_prompt() -> str:
    """The instructions to the reviewer of a pull request."""
    folder = Path(__file__).parent / "prompts"
    return f"{prompt(folder, 'reviewer')}\n\n{prompt(folder, 'hand-in-findings')}\n"


def _ask_reviewer(world: RepoWorld, run: AnyRun) -> tuple[str, dict[str, str]]:
    """The reviewer's answer for this tree. It is kept, so a crash after a paid call does not pay again."""
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
        return outcome("merged")  # its commits are already in place
    landed = bring_in(world, run)
    return outcome(landed.outcome, landed.output, branch=run.data.branch, main=landed.main, **landed.reports) if landed.outcome else None


JOBS: Jobs = {
    "create_branch": _create_branch,
    "call_reviewer": _review,
    "squash": _squash,
    "merge": _merge,
}
