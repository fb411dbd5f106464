"""Judges the steps of a replay by what their trees show. A claim can add gates, never remove one.

Also finds what no RED covers: tests never seen failing, code that no test fails for, files that no test is about.
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
from detent.evidence.probes.unproved import code_of, unneeded_hunks, unproved
from detent.evidence.running.clean_runs import CleanRuns
from detent.gates.judge import name_of
from detent.gates.plan import ActivePr, PlanData, PlannedStep, PlanTask
from detent.gates.replay import DOUBTS, found, gates_of
from detent.git.repo import Git, GitError
from detent.kernel.model import Data, Flag, Run, Sent, commands_of


class ReplaySetup(NamedTuple):
    """The tools and settings of a replay."""

    git: Git
    runs: CleanRuns
    settings: Settings
    base: str
    baseline: frozenset[str]
    stop: threading.Event

    def wanted(self) -> bool:
        return not self.stop.is_set()

    def bad_at(self, tree: str) -> frozenset[str]:
        """The tests that fail on a tree."""
        report = self.runs.known(tree)
        return report.bad if report else frozenset()


class Judged(NamedTuple):
    """A judged step: what it is by its trees, and what broke."""

    link: Link
    look: RepoLook
    found: str
    broken: BrokenCheck | None


def judge_steps(ground: ReplaySetup, links: tuple[Link, ...], jobs: int, seen: Callable[[str], None]) -> list[Judged]:
    """Judge every step, in parallel."""
    done = []
    with ThreadPoolExecutor(jobs) as pool:
        waits = [pool.submit(_step, ground, links, n) for n in range(len(links))]
        try:
            for link, each in zip(links, waits, strict=True):
                done.append(each.result())
                seen(link.name)
        except BaseException:
            ground.stop.set()  # stops running tests
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return done


def _step(ground: ReplaySetup, links: tuple[Link, ...], n: int) -> Judged:
    """Judge one step by the gates of what it is and of what it claims to be; the first that fails is what broke."""
    link, look, check, by_trees = links[n], RepoLook(_scene(ground, links, n)), "tests", "work"

    def broke(sort: Sort, says: str) -> Judged:
        return Judged(link, look, by_trees, BrokenCheck(sort, link.commit.hash, link.name, check, says))

    try:
        red = bool(ground.bad_at(link.start) - ground.baseline - ground.bad_at(ground.git.tree(ground.base)))
        by_trees = "merge" if link.phase == "merge" else found(look, red)
        for gate in gates_of(link.phase, by_trees):
            check = name_of(gate)
            failure = gate(look)
            if isinstance(failure, str) and failure:
                return broke("not-verifiable" if link.phase == "adopted" else "failed", failure)
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
    """The data of the stand-in run for a step; its plan is rebuilt from the commit's subject."""
    step = PlannedStep("RED", link.step.about)
    return PlanData(plan=ActivePr("", link.commit.subject, "", "", (PlanTask("", (step,)),))) if _as_one(link) else Data()


def _as_one(link: Link) -> bool:
    """Whether all steps of the branch are in one commit, by the workflow of the note, which may not be installed here."""
    return is_workflow(link.workflow) and workflow_of(link.workflow).whole_branch


def _reds(links: tuple[Link, ...], n: int) -> tuple[str, ...]:
    """The RED trees before a step, of its commit or of all earlier cycles. A changed test must still fail on them."""
    mine = (link for link in links[:n] if link.phase == "red" and (not _as_one(link) or link.commit.hash == links[n].commit.hash))
    return tuple(link.step.tree for link in mine)


NO_RED = "no RED shows a test failing for it, and no test notices it"
ALREADY = "its tests passed at once; no test was seen failing for it"


def new_without_red(ground: ReplaySetup, steps: list[Judged]) -> tuple[str, ...]:
    """New tests of steps other than RED, and tests that a work step changed: nobody saw them fail before the code."""
    free = [step for step in steps if step.found in ("tests", "work") and step.link.phase != "verify"]
    pairs = [(ground.runs.known(step.link.start), ground.runs.known(step.link.step.tree)) for step in free]
    new = {test for before, now in pairs if before and now for test in now.ids - before.ids}
    work = (step.look for step in free if step.link.phase == "work")
    return tuple(sorted(new.union(*({each.place for each in look.rewritten()} for look in work))))


def bare_of(ground: ReplaySetup, steps: list[Judged], jobs: int) -> tuple[BrokenCheck, ...]:
    """Changes that no RED covers and that no test notices now either, and the other doubts of each step."""
    with ThreadPoolExecutor(jobs) as pool:
        return tuple(each for found in pool.map(lambda step: list(_bare(step)), steps) for each in found)


def beside_reds(steps: list[Judged], jobs: int) -> tuple[Flag, ...]:
    """What no test notices in the code of steps whose RED was proved, since a RED covers what its tests need and nothing else."""
    with ThreadPoolExecutor(jobs) as pool:
        found = pool.map(lambda step: _beside(step.look), [step for step in steps if step.found == "green"])
        return tuple(flag for flags in found for flag in flags)


def _beside(look: RepoLook) -> list[Flag]:
    code, sentence = code_of(look.changes), "the tests of its RED do not need this, and no other test notices it"
    places = dict.fromkeys((*unproved(look.probe_context(), code), *unneeded_hunks(look.probe_context(), code)))
    return [Flag("unnoticed", f"{place}: {sentence}", place) for place in places]


def not_looked_at(ground: ReplaySetup, span: CommitSpan, steps: list[Judged], findings: list[BrokenCheck | Flag]) -> tuple[str, ...]:
    """The changed files that were not examined: not code of a judged step, without tests that ran, and not named in any finding. For example
    documents, data, changed modes or comments, and changes that a later step reverted."""
    changed = {path for _, path in ground.git.changes(ground.git.tree(ground.base), span.commits[-1].tree)}
    code = {change.path for step in steps if step.found in ("work", "green") for change in code_of(step.look.changes)}
    plans = {change.path for step in steps if step.found in ("entry", "list") for change in step.look.changed()}
    reports = (ground.runs.known(step.link.step.tree) for step in steps)
    tests = {file for report in reports if report for file in report.files.values()}
    left = changed - code - plans - tests
    words = [f"{each.place} {each.sentence}" if isinstance(each, Flag) else each.says for each in findings]
    return tuple(sorted(path for path in left if not re.search(rf"(?<![\w./-]){re.escape(path)}(?![\w/-])", "\n".join(words))))


def _bare(step: Judged) -> Iterator[BrokenCheck]:
    link = step.link
    if step.found in ("work", "green"):
        for place in step.look.untested(step.found == "work"):
            yield BrokenCheck("failed", link.commit.hash, link.name, "code_without_red", f"{place}: {NO_RED}")
    if step.found == "work":
        for check, failure in _doubts(step.look):
            yield BrokenCheck("failed", link.commit.hash, link.name, check, failure)
    if link.phase == "already":
        yield BrokenCheck("failed", link.commit.hash, link.name, "code_without_red", f"{link.step.about or link.commit.subject}: {ALREADY}")


def _doubts(look: RepoLook) -> Iterator[tuple[str, str]]:
    """The findings of gates that raise doubts but refute no claim, with the gate's name. "Cannot tell" is a doubt too."""
    for gate in DOUBTS:
        try:
            failure = gate(look)
        except CannotTell as e:
            failure = str(e)
        if isinstance(failure, str) and failure:
            yield name_of(gate), failure
