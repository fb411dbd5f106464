"""One step of a replay: what it is by its trees, and what its gates say. Claims add gates; none of them takes one away.

And what of a range no RED speaks for: tests that nobody saw failing, code that no test fails for, files that no test is about.
"""

import re
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from detent.app.registry import is_workflow, workflow_of
from detent.app.verify_span import BrokenCheck, CommitSpan, Link, Sort
from detent.config import Settings
from detent.errors import CannotTell
from detent.evidence.changes.changes import ReferenceTrees
from detent.evidence.looks.repo_look import RepoLook
from detent.evidence.looks.subject import Subject
from detent.evidence.probes.unproved import code_of
from detent.evidence.running.clean_runs import CleanRuns
from detent.gates.judge import name_of
from detent.gates.plan import ActivePr, PlanData, PlannedStep, PlanTask
from detent.gates.replay import DOUBTS, found, gates_of
from detent.git.repo import Git, GitError
from detent.kernel.model import Data, Flag, Run, Sent, commands_of


class ReplaySetup(NamedTuple):
    """With what a range is replayed."""

    git: Git
    runs: CleanRuns
    settings: Settings
    base: str
    baseline: frozenset[str]
    stop: threading.Event

    def wanted(self) -> bool:
        return not self.stop.is_set()

    def bad_at(self, tree: str) -> frozenset[str]:
        """What fails on a tree. Only what fails at the base already can be a known failure, whatever a claim says."""
        report = self.runs.known(tree)
        return report.bad if report else frozenset()


class Judged(NamedTuple):
    """A step, what it is by its trees, and what broke."""

    link: Link
    look: RepoLook
    found: str
    broken: BrokenCheck | None


def judged(ground: ReplaySetup, links: tuple[Link, ...], jobs: int, seen: Callable[[str], None]) -> list[Judged]:
    """Every step, judged."""
    done = []
    with ThreadPoolExecutor(jobs) as pool:
        waits = [pool.submit(_step, ground, links, n) for n in range(len(links))]
        try:
            for link, each in zip(links, waits, strict=True):
                done.append(each.result())
                seen(link.name)
        except BaseException:
            ground.stop.set()  # what runs is ended
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return done


def _step(ground: ReplaySetup, links: tuple[Link, ...], n: int) -> Judged:
    """What breaks first of one step, judged by the gates of what it is and of what it is called."""
    link, look, check, by_trees = links[n], RepoLook(_scene(ground, links, n)), "tests", "work"

    def broke(sort: Sort, says: str) -> Judged:
        return Judged(link, look, by_trees, BrokenCheck(sort, link.commit.hash, link.name, check, says))

    try:
        red = bool(ground.bad_at(link.start) - ground.baseline - ground.bad_at(ground.git.tree(ground.base)))
        by_trees = "merge" if link.phase == "merge" else found(look, red)
        for gate in gates_of(link.phase, by_trees):
            check = name_of(gate)
            said = gate(look)
            if isinstance(said, str) and said:
                return broke("not-verifiable" if link.phase == "adopted" else "failed", said)
    except (CannotTell, GitError, OSError) as e:
        return broke("could-not-verify", str(e))
    return Judged(link, look, by_trees, None)


def _scene(ground: ReplaySetup, links: tuple[Link, ...], n: int) -> Subject:
    link = links[n]
    run: Run[Any] = Run("verify", link.workflow, "", 0, _about(link))
    over = link.step.over if link.phase == "red" and link.step.over else link.start
    return Subject(
        git=ground.git,
        collect=ground.runs,
        run=run,
        sent=Sent("submit", by="system", value=link.step.path or link.step.over, reply="\n".join(link.step.tests)),
        tree=link.step.tree,
        reference=ReferenceTrees(over, _reds(links, n), ground.base, ground.baseline),
        settings=ground.settings.flat(),
        preflight=(*(ground.settings.preflight.commands or ()), *commands_of(ground.settings.gate)),
        published=lambda name: None,
        tampered=lambda: (),
        left_out=(),
        wanted=ground.wanted,
        quick=False,
    )


def _about(link: Link) -> Data:
    """What a step is known to be about: the pull request whose title is the subject of the commit."""
    step = PlannedStep("RED", link.step.about)
    return PlanData(plan=ActivePr("", link.commit.subject, "", "", (PlanTask("", (step,)),))) if _as_one(link) else Data()


def _as_one(link: Link) -> bool:
    """Whether all steps of its branch ended in one commit. A note may name a workflow that is not installed here."""
    return is_workflow(link.workflow) and workflow_of(link.workflow).whole_branch


def _reds(links: tuple[Link, ...], n: int) -> tuple[str, ...]:
    """The trees before the code: of this pull request, or of every cycle before. What a changed test must still fail on."""
    mine = (link for link in links[:n] if link.phase == "red" and (not _as_one(link) or link.commit.hash == links[n].commit.hash))
    return tuple(link.step.tree for link in mine)


NO_RED = "no RED shows a test failing for it, and no test notices it"
ALREADY = "its tests passed at once; no test was seen failing for it"


def new_without_red(ground: ReplaySetup, steps: list[Judged]) -> tuple[str, ...]:
    """New tests that came with a step that is no RED, and tests that work changed: nobody saw them failing before the code was there."""
    free = [step for step in steps if step.found in ("tests", "work") and step.link.phase != "verify"]
    pairs = [(ground.runs.known(step.link.start), ground.runs.known(step.link.step.tree)) for step in free]
    new = {test for before, now in pairs if before and now for test in now.ids - before.ids}
    work = (step.look for step in free if step.link.phase == "work")
    return tuple(sorted(new.union(*({each.place for each in look.rewritten()} for look in work))))


def bare_of(ground: ReplaySetup, steps: list[Judged], jobs: int) -> tuple[BrokenCheck, ...]:
    """Everything that changed, that no RED shows a test failing for, and that no test fails for now either; and what else work leaves in doubt."""
    with ThreadPoolExecutor(jobs) as pool:
        return tuple(each for found in pool.map(lambda step: list(_bare(step)), steps) for each in found)


def not_looked_at(ground: ReplaySetup, span: CommitSpan, steps: list[Judged], said: list[BrokenCheck | Flag]) -> tuple[str, ...]:
    """The changed files that are neither code of a step that was judged, nor hold tests that ran, nor are named in what was said: documents,
    data and programs beside the tests, other modes, other comments, and what only the way from step to step changed."""
    changed = {path for _, path in ground.git.changes(ground.git.tree(ground.base), span.commits[-1].tree)}
    code = {change.path for step in steps if step.found in ("work", "green") for change in code_of(step.look.changes)}
    plans = {change.path for step in steps if step.found in ("entry", "list") for change in step.look.changed()}
    reports = (ground.runs.known(step.link.step.tree) for step in steps)
    tests = {file for report in reports if report for file in report.files.values()}
    left = changed - code - plans - tests
    words = [f"{each.place} {each.sentence}" if isinstance(each, Flag) else each.says for each in said]
    return tuple(sorted(path for path in left if not re.search(rf"(?<![\w./-]){re.escape(path)}(?![\w/-])", "\n".join(words))))


def _bare(step: Judged) -> Iterator[BrokenCheck]:
    link = step.link
    if step.found in ("work", "green"):
        for place in step.look.untested(step.found == "work"):
            yield BrokenCheck("failed", link.commit.hash, link.name, "code_without_red", f"{place}: {NO_RED}")
    if step.found == "work":
        for check, said in _doubts(step.look):
            yield BrokenCheck("failed", link.commit.hash, link.name, check, said)
    if link.phase == "already":
        yield BrokenCheck("failed", link.commit.hash, link.name, "code_without_red", f"{link.step.about or link.commit.subject}: {ALREADY}")


def _doubts(look: RepoLook) -> Iterator[tuple[str, str]]:
    """What the gates say that refute no claim, each with its name. What cannot be told stays in doubt."""
    for gate in DOUBTS:
        try:
            said = gate(look)
        except CannotTell as e:
            said = str(e)
        if isinstance(said, str) and said:
            yield name_of(gate), said
