"""The world as it is: effects and jobs of a run carried out on a real repository. The door asks by name, this module knows the values.

Reads what an effect needs from the run; how it is done is in effects/ and git/. Nothing here decides.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from detent.agents import Turn, ask
from detent.door import AnyEvent, AnyRun, Case, always
from detent.effects.branch import create_branch, delete_merged, squash
from detent.effects.merge import Ways, land
from detent.effects.publish import edited, publish, where
from detent.errors import CannotTell
from detent.evidence.collect import Collector
from detent.evidence.eyes import Marks, RepoLook, Scene
from detent.evidence.suite import Suite
from detent.gates.judge import judge as run_gates
from detent.gates.review import read_findings, unproved
from detent.git import fingerprint
from detent.git.commits import bring_to, commit_tree, marker
from detent.git.repo import ZERO, Git, GitError
from detent.git.snapshot import Snapshot, stamp, take
from detent.kernel.model import Found, Sent
from detent.sandbox.process import run as run_program
from detent.workflows.pr_data import ROOT_FILE

FINDINGS = "FINDINGS.json"
WRITES_PLAN = ("INITIALIZING", "REPLANNING")


class Kit(NamedTuple):
    """What the configuration says about one run, ready for use."""

    suite: Suite
    settings: Mapping[str, str]
    preflight: tuple[str, ...]
    ways: Ways
    squash: str
    reviewer: str


class RepoWorld:
    """One checkout. `files_of` makes the published files of a run; `kit_of` its configuration."""

    def __init__(
        self,
        git: Git,
        outer: Mapping[str, str],
        kit_of: Callable[[AnyRun], Kit],
        files_of: Callable[[AnyRun], Mapping[str, str | None]],
        clock: Callable[[], str],
        wanted: Callable[[], bool] = always,
    ) -> None:
        self.git, self.outer, self.kit_of, self.files_of, self.clock, self.wanted = git, outer, kit_of, files_of, clock, wanted
        self.place = git.place
        self.newest = Snapshot("")

    def collector(self, run: AnyRun) -> Collector:
        return Collector(self.git, self.kit_of(run).suite, run.id, self.outer)

    # -- what the door asks for ----------------------------------------------------------------------------------------------

    def snapshot(self, run: AnyRun) -> str:
        fingerprint.check(self.place)
        with _or_cannot_tell():
            self.newest = take(self.git, run.id, self.collector(run).created())
        return self.newest.tree

    def settle(self, effect: str, event: AnyEvent) -> None:
        EFFECTS[effect](self, event)

    def perform(self, job: str, run: AnyRun) -> Sent | None:
        fingerprint.check(self.place)
        try:
            return JOBS[job](self, run)
        except OSError as e:
            raise CannotTell(f"{e.strerror}: {e.filename}") from e

    def stamps(self, run: AnyRun) -> dict[str, str]:
        """What a stored briefing depends on outside the journal: published files, findings, configuration, hooks, HEAD and its ref."""
        git, common = self.place.git_dir, self.place.common_dir
        named = [where(self.place, n) for n in (*self.files_of(run), FINDINGS)]
        head = (git / "HEAD").read_text("utf-8", "replace").removeprefix("ref: ").strip()
        files = [
            *named,
            self.place.root / "detent.toml",
            common / "config",
            common / "hooks",
            git / "HEAD",
            common / head,
            common / "packed-refs",
        ]
        return {str(f): stamp(f) for f in files}

    # -- judging -------------------------------------------------------------------------------------------------------------

    def judge(self, case: Case) -> Found:
        """The gates of a row, over a look at this checkout."""
        kit, run = self.kit_of(case.run), case.run
        scene = Scene(
            git=self.git,
            collect=self.collector(run),
            run=run,
            sent=case.sent,
            tree=case.tree,
            marks=_marks(run),
            settings=kit.settings,
            preflight=kit.preflight,
            published=self._published_at,
            tampered=lambda: self.restore(run),
            left_out=self.newest.left_out,
            wanted=case.stands,
        )
        try:
            with _or_cannot_tell():
                return run_gates(case.row, RepoLook(scene))
        except CannotTell as e:
            return Found(unclear=str(e), tree=case.tree)

    def _published_at(self, name: str) -> Path | None:
        known = ("ACTIVE_PR.json", "ORCHESTRATION_STATE.json", "error.log", FINDINGS)
        return where(self.place, name) if name in known else None

    def restore(self, run: AnyRun) -> tuple[str, ...]:
        """Published files that were edited by hand, restored. While the agent is asked to write the plan, the plan is its own."""
        theirs = ("ACTIVE_PR.json",) if run.state in WRITES_PLAN else ()
        return edited(self.place, {n: t for n, t in self.files_of(run).items() if n not in theirs})


@contextmanager
def _or_cannot_tell() -> Iterator[None]:
    """Trouble with the disk or with git is not the fault of what is judged: nothing can be told."""
    try:
        yield
    except GitError as e:
        raise CannotTell(e.message) from e
    except OSError as e:
        raise CannotTell(f"{e.strerror}: {e.filename}") from e


def _marks(run: AnyRun) -> Marks:
    data = run.data
    return Marks(data.good_tree, data.red_tree, data.base, frozenset(data.setup.baseline))


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


def _snapshot(world: RepoWorld, event: AnyEvent) -> None:
    world.snapshot(event.run)


def _reset(world: RepoWorld, event: AnyEvent) -> None:
    mark = marker(event.run.id, event.run.seq, "reset")
    if not world.git.resolve(mark):
        kept = world.snapshot(event.run)
        bring_to(world.git, event.run.data.committed or world.git.tree("HEAD"), kept)
        world.git.update([(mark, world.git.head(), ZERO)])


def _clear(world: RepoWorld, event: AnyEvent) -> None:
    facts = event.sent.facts
    if facts.get("branch") and facts.get("main"):
        delete_merged(world.git, facts["branch"], facts["main"])


EFFECTS: Mapping[str, Callable[[RepoWorld, AnyEvent], None]] = {
    "publish": _publish,
    "checkpoint": _checkpoint,
    "commit_plan": _commit_plan,
    "snapshot": _snapshot,
    "reset_to_good": _reset,
    "clear_plan": _clear,
}

# -- jobs --------------------------------------------------------------------------------------------------------------------


def _outcome(name: str, output: str = "", findings: str = "", **facts: str) -> Sent:
    return Sent("outcome", by="system", outcome=name, output=output, findings=findings, facts=facts)


def _create_branch(world: RepoWorld, run: AnyRun) -> Sent:
    ways = world.kit_of(run).ways
    made = create_branch(world.git, run.id, run.seq, run.data.plan.prTitle, ways.main, ways.remote)
    return _outcome("branched", branch=made.branch, base=made.base, tree=made.tree)


def _review(world: RepoWorld, run: AnyRun) -> Sent | None:
    """The configured reviewer, in a fresh context. Where there is none: findings at the root, or else the agent is asked for them."""
    kit, file = world.kit_of(run), where(world.place, FINDINGS)
    by_hand = file.is_file() and kit.settings.get("review.require_independent") != "true"
    if not kit.reviewer and not by_hand:
        return None
    if changed := world.git.changes(run.data.good_tree, world.snapshot(run)):
        raise CannotTell(unproved(changed[0][1]))
    text, by = (_ask_reviewer(world, run, kit), kit.reviewer) if kit.reviewer else (file.read_text("utf-8", "replace"), ROOT_FILE)
    blocked = [f for f in read_findings(text) if _blocks(f.severity, kit.settings.get("review.block_at", "MINOR"))]
    return _outcome("findings" if blocked else "approved", findings=text, by=by)


def _blocks(severity: str, at: str) -> bool:
    order = ("INFO", "SUGGESTION", "MINOR", "MAJOR", "CRITICAL")
    return order.index(severity) >= order.index(at)


def _ask_reviewer(world: RepoWorld, run: AnyRun, kit: Kit) -> str:
    """The reviewer's answer for this tree, asked once: a crash after a paid call does not pay again."""
    tree = world.snapshot(run)
    kept = world.place.git_dir / "detent" / "reviews" / f"{run.id}-{run.seq}-{tree}.json"
    if kept.exists():
        return kept.read_text("utf-8")
    diff = world.git.run("diff", "--no-ext-diff", "--no-textconv", "--no-color", run.data.base, tree).text
    briefing = json.dumps({"goal": REVIEW_GOAL, "plan": world.files_of(run).get("ACTIVE_PR.json"), "diff": diff, "tree": tree})
    env = {**world.collector(run).env, "DETENT_RUN": run.id, "DETENT_STATE": run.state, "DETENT_ROLE": "reviewer"}
    text = ask(kit.reviewer, Turn(briefing, world.place.root, env, 1800, world.wanted))
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
    return _outcome("squashed", commit=commit)


def _merge(world: RepoWorld, run: AnyRun) -> Sent | None:
    kit = world.kit_of(run)
    collect = world.collector(run)

    def verify(tree: str) -> str | None:
        if kit.suite.base is None:
            return None
        report = collect.clean(tree, world.wanted)
        bad = report.bad - frozenset(run.data.setup.baseline)
        if report.fault or bad or not report.ids:
            return f"The merged tree {tree[:12]} does not pass, so nothing was moved: {report.fault or min(bad, default='no test ran')}\n{report.output}"
        return None

    def open_pr(argv: list[str]) -> None:
        env = {**collect.env, **{k: v for k, v in world.outer.items() if k in ("HOME", "GH_TOKEN", "GITHUB_TOKEN", "GITLAB_TOKEN")}}
        try:
            ran = run_program(argv, world.place.root, env, 120, world.wanted)
        except OSError as e:
            raise CannotTell(f"git.pr_command: '{argv[0]}' could not be started: {e.strerror}") from e
        if ran.exit_code != 0:
            raise CannotTell(f"git.pr_command failed: {ran.output[-2000:]}")

    landed = land(world.git, run.data.branch, world.clock(), kit.ways, verify, open_pr)
    return _outcome(landed.outcome, landed.output, branch=run.data.branch, main=landed.main) if landed.outcome else None


JOBS: Mapping[str, Callable[[RepoWorld, AnyRun], Sent | None]] = {
    "create_branch": _create_branch,
    "call_reviewer": _review,
    "squash": _squash,
    "merge": _merge,
}
