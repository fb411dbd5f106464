"""Runs the tests of a change without the change, which is what a proof rests on. Owns also what it means if they hang there."""

from collections.abc import Callable

from detent.errors import CannotTell
from detent.evidence.looks.repo_look import RepoLook
from detent.evidence.outcomes.outcomes import laid_over
from detent.evidence.outcomes.settle import runnable
from detent.evidence.report import TestReport
from detent.evidence.running.collect import Collector
from detent.evidence.source.new_names import NAME, new_names
from detent.kernel.model import Flag

PATIENCE = 30.0  # least time limit in seconds
ENDLESS = 10  # times the duration of all tests with the change: beyond that, it is not just a slow machine


def without_change(collector: Collector, look: RepoLook, before: TestReport, wanted: Callable[[], bool]) -> TestReport:
    """The report of the base with the tests of the tip laid over it."""
    base = look.changes.good
    if not (overlay := look.changes.overlay(base)):
        return before
    files = runnable(look.changed(), before) if not any(c.inside for c in look.changed()) else ()
    limit = max(PATIENCE, ENDLESS * look.tests().wall)
    part = collector.probe(base, wanted, files, overlay, limit)
    if part.late and files and limit <= collector.suite.timeout:
        part = _endless(files, limit)
    if part.fault:
        raise CannotTell(f"the new tests cannot be run without the change: {part.fault}")
    return laid_over(before, part, set(files) if files else {*before.files.values(), *part.files.values()})


def _endless(files: tuple[str, ...], limit: float) -> TestReport:
    """The report of a hang: each file counts as one failed test, as if it did not load."""
    message = f"stopped after {limit:.0f} s"
    return TestReport(
        dict.fromkeys(files, "error"), {path: path for path in files}, messages=dict.fromkeys(files, message), late=True, complete=False
    )


def flag_endless(mixed: TestReport, tip: TestReport) -> list[Flag]:
    """A note if tests hang without the change."""
    if not mixed.late:
        return []
    path = next(test for test in sorted(mixed.bad) if mixed.files.get(test) == test)
    sentence = f"without the change its tests do not finish ({mixed.messages[path]}; all tests take {tip.wall:.1f} s with it), so they count as failing there"
    return [Flag("weak-evidence", sentence, path, level="note")]


def failing_by_old_answers(look: RepoLook, mixed: TestReport, tests: frozenset[str]) -> frozenset[str]:
    """Tests that kill no mutant but fail because of what the old code returns, which counts like a mutant.

    Only if the tests use no name that the change adds: a test that just needs a new name to exist checks no answer.
    """
    failed = frozenset(test for test in tests if mixed.kinds.get(test) == "AssertionError" and mixed.files.get(test) != test)
    words = set[str]()
    for change in look.changed() if failed else ():
        if change.sort in ("production", "unknown") and not change.inside:
            words |= new_names(change.path, *map(look.changes.text(change.path), (look.changes.good, look.tree)))
    used = {word for change in look.changed() if change.sort == "test" for word in NAME.findall(look.changes.text(change.path)(look.tree))}
    return failed if not words & used else frozenset()
