"""What of a range no RED speaks for: tests that nobody saw failing, code that no test fails for, files that no test is about."""

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from detent.app.verify_span import BrokenCheck, CommitSpan
from detent.app.verify_steps import Judged, ReplaySetup
from detent.errors import CannotTell
from detent.evidence.looks.repo_look import RepoLook
from detent.evidence.probes.unproved import code_of
from detent.gates.judge import name_of
from detent.gates.replay import DOUBTS
from detent.kernel.model import Flag

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
