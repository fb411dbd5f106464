"""The tests of a change on the code as it was: the run that a proof stands on, and what it means where they do not even come to an end there."""

from collections.abc import Callable

from detent.errors import CannotTell
from detent.evidence.looks.repo_look import RepoLook
from detent.evidence.outcomes.outcomes import laid_over
from detent.evidence.outcomes.settle import runnable
from detent.evidence.report import TestReport
from detent.evidence.running.collect import Collector
from detent.evidence.source.new_names import NAME, new_names
from detent.kernel.model import Flag

PATIENCE = 30.0  # seconds at least
ENDLESS = 10  # times what all tests take with the change: then it is not the machine that is slow


def without_change(collector: Collector, look: RepoLook, before: TestReport, wanted: Callable[[], bool]) -> TestReport:
    """The base with the tests of the tip laid over it: what they say without the change."""
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
    """A hang has no report; the files stand for their tests, as where they do not load."""
    said = f"stopped after {limit:.0f} s"
    return TestReport(
        dict.fromkeys(files, "error"), {path: path for path in files}, messages=dict.fromkeys(files, said), late=True, complete=False
    )


def flag_endless(mixed: TestReport, tip: TestReport) -> list[Flag]:
    """A word on tests that hang without the change."""
    if not mixed.late:
        return []
    path = next(test for test in sorted(mixed.bad) if mixed.files.get(test) == test)
    said = f"without the change its tests do not finish ({mixed.messages[path]}; all tests take {tip.wall:.1f} s with it), so they count as failing there"
    return [Flag("weak-evidence", said, path, level="note")]


def failing_by_old_answers(look: RepoLook, mixed: TestReport, tests: frozenset[str]) -> frozenset[str]:
    """Of tests that no small change makes fail: those that an answer of the old code makes fail, which is a change of the code as well.

    Only where the tests speak of no name that the change brings: whoever asks for a new name alone has looked at no answer.
    """
    failed = frozenset(test for test in tests if mixed.kinds.get(test) == "AssertionError" and mixed.files.get(test) != test)
    words = set[str]()
    for change in look.changed() if failed else ():
        if change.sort in ("production", "unknown") and not change.inside:
            words |= new_names(change.path, *map(look.changes.text(change.path), (look.changes.good, look.tree)))
    said = {word for change in look.changed() if change.sort == "test" for word in NAME.findall(look.changes.text(change.path)(look.tree))}
    return failed if not words & said else frozenset()
