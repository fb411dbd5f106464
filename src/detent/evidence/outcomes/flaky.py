"""Tests that fail in one run of a tree and pass in the next: whether the change broke them, nobody can tell from that.

They are shown and never held against a change. Owns the second run; knows no gates.
"""

from collections.abc import Callable, Mapping

from detent.errors import CannotTell, Disturbed
from detent.evidence.changes.changes import Changes
from detent.evidence.outcomes.outcomes import MOST_AGAIN, describe_flaky
from detent.evidence.running.collect import Collector
from detent.kernel.model import Flag

RUNS_BEFORE = 3


def passing_again(collector: Collector, changes: Changes, failing: frozenset[str], wanted: Callable[[], bool]) -> frozenset[str]:
    """Of the tests that fail on the tip: those that pass when all are run once more there. All, since one that another disturbs passes alone."""
    there = next((c.path for c in changes.all() if c.how != "deleted"), "")
    if not failing or len(failing) > MOST_AGAIN or not there:
        return frozenset()
    same = {there: changes.git.read(changes.tree, there) or b""}  # laid over itself: a run of which nothing is kept
    try:
        return failing & collector.clean(changes.tree, wanted, (), same).having("passed")
    except Disturbed:
        raise
    except CannotTell:
        return frozenset()


def failing_before(collector: Collector, changes: Changes, calm: Mapping[str, str], wanted: Callable[[], bool]) -> frozenset[str]:
    """Of tests that fail and pass on the tip, each with its file: those that fail now and then on the base as well, so the change is not why."""
    found, files = frozenset[str](), tuple(sorted(set(calm.values())))
    for _ in range(RUNS_BEFORE if calm else 0):
        found |= calm.keys() & collector.clean(changes.good, wanted, files).bad
    return found


def flag_flaky(tests: frozenset[str], steady: frozenset[str], before: frozenset[str]) -> list[Flag]:
    """Asked about; a note where a test passed in every other run (`steady`), or fails now and then without the change (`before`)."""
    said = "failed in the first run of the suite and passed in the second, on the same tree: it is flaky, or the machine was overloaded"
    also = "failed in the first run of the suite and passed in the second, on the same tree; it is flaky without this change too"
    asked = [Flag("weak-evidence", f"{test} {said}", test, level="ask") for test in sorted(tests - before)]
    asked += [Flag("weak-evidence", f"{test} {also}", test, level="note") for test in sorted(tests & before)]
    return asked + [Flag("weak-evidence", describe_flaky(test), test, level="note") for test in sorted(steady)]
