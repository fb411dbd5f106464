"""Lands a run's branch: merges it onto the current main, tests the result in a clean checkout, then moves the ref. A branch that is only offered is tested too."""

from pathlib import Path

from detent.blocks.check_card import markdown_of
from detent.blocks.open_flags import list_remarks, remarks_as_trailers
from detent.door import AnyRun
from detent.effects.merge import Landed, land
from detent.effects.publish import write_whole
from detent.errors import CannotTell
from detent.evidence.looks.own_gates import gate_fault
from detent.evidence.report import TestReport
from detent.evidence.running.canary import TAMPERED
from detent.evidence.running.collect import Collector
from detent.git.commits import short
from detent.kernel.model import LAND
from detent.world.before_landing import card_of
from detent.world.pulls import keep_url, open_at_forge, plan_text
from detent.world.work_tree import RepoWorld

BODY = "{body}"  # placeholder in git.pr_command for the file with the pull request's text
LONGEST = 60_000  # characters of that text: forges take no more than 65,536
ACCEPTED = "They were accepted before this was opened; `detent history --run {run}` says by whom."
FOR_PR = ("HOME", "GH_TOKEN", "GITHUB_TOKEN", "GITLAB_TOKEN")  # variables that git.pr_command may see


def bring_in(world: RepoWorld, run: AnyRun) -> Landed:
    """Land the branch of a run, in the configured way."""
    collect = world.collector(run)

    def verify(tree: str) -> str | None:
        return _fault(world, run, collect, tree)

    landed = land(
        world.git,
        run.data.branch,
        world.clock(),
        world.config_of(run).ways,
        verify,
        lambda argv: open_pr(world, run, collect, argv),
        remarks_as_trailers(_remarks(world, run)),
    )
    return landed._replace(reports=collect.digests)


def offer(world: RepoWorld, run: AnyRun) -> Landed:
    """Test whether the branch of a run can be offered to a person as it is."""
    collect, tip = world.collector(run), world.git.resolve(f"{run.data.branch}^{{commit}}")
    if not tip:
        raise CannotTell(f"the branch {short(run.data.branch)} is gone")
    fault = _fault(world, run, collect, world.git.tree(tip))
    return Landed("red-merge" if fault else "", output=fault or "", reports=collect.digests)


def _fault(world: RepoWorld, run: AnyRun, collect: Collector, tree: str) -> str | None:
    """What fails on a tree in a clean checkout, or None. A known pass is not run again."""
    if collect.suite.base is None:
        return None
    report = collect.passed(tree, clean=True) or collect.clean(tree, world.runs.wanted)
    bad = report.bad - frozenset(run.data.setup.baseline)
    fault = report.fault or (f"{TAMPERED}: {report.canary_said}" if _broke(collect, run, report) else "")
    if fault or bad or not report.ids:
        return f"The tree {tree[:12]} does not pass in a clean checkout, so nothing was moved: {fault or min(bad, default='no test ran')}\n{report.output}"
    return gate_fault(world.gated(run, tree), LAND) or None


def open_pr(world: RepoWorld, run: AnyRun, collect: Collector, argv: list[str]) -> str:
    """Open a pull request, by git.pr_command if set, else at the forge; returns its URL."""
    body, commits = _body(world, run)

    def at_forge() -> str:
        return open_at_forge(world, run, commits, body.read_text("utf-8"))

    if not argv:
        return keep_url(world.place.common_dir, run.id, at_forge())
    from detent.world.pr_program import opened_by  # few projects have such a program

    env = {**collect.env, **{k: v for k, v in world.outer.items() if k in FOR_PR}}
    return opened_by(world, run, [word.replace(BODY, str(body)) for word in argv], env, at_forge)


def _body(world: RepoWorld, run: AnyRun) -> tuple[Path, list[str]]:
    """Write the text of a pull request: the plan, commits, what people said, and the proof card. Returns the file and the commits' subjects."""
    card = card_of(world, run)
    commits = [commit.subject for commit in card.change.commits]
    subjects = "\n".join(f"- {subject}" for subject in commits)
    accepted = ACCEPTED.format(run=run.id) if run.accepted == card.card.tip else ""
    parts = (plan_text(world, run), subjects, list_remarks(_remarks(world, run)), markdown_of(card, accepted))
    text = "\n\n".join(part.rstrip("\n") for part in parts if part)[:LONGEST]
    file = world.place.common_dir / "detent" / "pull-requests" / f"{run.id}.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    write_whole(file, f"{text}\n")
    return file, commits


def _remarks(world: RepoWorld, run: AnyRun) -> tuple[str, ...]:
    """What people said to a run and to its children."""
    return tuple(line for each in world.runs.family(run.id) for line in each.said) or run.said


def _broke(collect: Collector, run: AnyRun, report: TestReport) -> bool:
    """Whether the canary broke on this tree but held on the last judged one."""
    before = collect.known(run.data.good_tree) if report.canary == "broken" else None
    return before is not None and before.canary == "held"
