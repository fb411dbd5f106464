"""Test failures that are not the change's fault: flaky tests, and tests stopped by a warning where warnings are errors (a change that
deprecates something has to edit every test that used it).

They are reported but never held against a change. Owns the second run, and the run with warnings not treated as errors. Must not know gates.
"""

from collections.abc import Callable, Mapping
from copy import copy

import msgspec

from detent.errors import CannotTell, Disturbed
from detent.evidence.changes.changes import Changes
from detent.evidence.outcomes.outcomes import MOST_AGAIN, describe_flaky
from detent.evidence.report import TestReport
from detent.evidence.running.collect import Collector
from detent.kernel.model import Flag

RUNS_BEFORE = 3


def passing_again(collector: Collector, changes: Changes, failing: frozenset[str], wanted: Callable[[], bool]) -> frozenset[str]:
    """The tests failing on the tip that pass when the whole suite is run again there: a test that another one disturbs would pass on its own.

    So do files that failed as a whole, where they are named for it: the runner could not start a process for one, say.
    """
    there = next((c.path for c in changes.all() if c.how != "deleted"), "")
    if not failing or len(failing) > MOST_AGAIN or not there:
        return frozenset()
    same = {there: changes.git.read(changes.tree, there) or b""}  # a file laid over itself: a run whose report is not cached
    try:
        again = collector.clean(changes.tree, wanted, (), same)
    except Disturbed:
        raise
    except CannotTell:
        return frozenset()
    passed = again.having("passed")
    return failing & (passed | (frozenset(again.files.get(test, "") for test in passed) - again.bad))


def failing_before(collector: Collector, changes: Changes, flaky: Mapping[str, str], wanted: Callable[[], bool]) -> frozenset[str]:
    """The flaky tests (id to file) that sometimes fail on the base too, so the change is not the cause."""
    found, files = frozenset[str](), tuple(sorted(set(flaky.values())))
    for _ in range(RUNS_BEFORE if flaky else 0):
        found |= flaky.keys() & collector.clean(changes.good, wanted, files).bad
    return found


def flag_flaky(tests: frozenset[str], steady: frozenset[str], before: frozenset[str]) -> list[Flag]:
    """A question for each flaky test; only a note if it passed in every other run (`steady`) or is flaky without the change too (`before`)."""
    sentence = "failed in the first run of the suite and passed in the second, on the same tree: it is flaky, or the machine was overloaded"
    also = "failed in the first run of the suite and passed in the second, on the same tree; it is flaky without this change too"
    asked = [Flag("weak-evidence", f"{test} {sentence}", test, level="ask") for test in sorted(tests - before)]
    asked += [Flag("weak-evidence", f"{test} {also}", test, level="note") for test in sorted(tests & before)]
    return asked + [Flag("weak-evidence", describe_flaky(test), test, level="note") for test in sorted(steady)]


ONLY_WARNS = {"pytest": ("-W", "default")}  # by runner: the arguments that stop warnings from being errors, whatever is configured


def only_warned(
    collector: Collector, tree: str, older: Mapping[str, bytes], seen: TestReport, broken: frozenset[str], wanted: Callable[[], bool]
) -> frozenset[str]:
    """The older tests failing on the tip that a warning ended, and that pass when warnings are not errors."""
    base = collector.suite.base
    ended = frozenset(test for test in broken if seen.kinds.get(test, "").endswith("Warning"))
    if not ended or base is None or base.runner not in ONLY_WARNS:
        return frozenset()
    patient = copy(collector)
    patient.suite = collector.suite._replace(base=msgspec.structs.replace(base, argv=(*base.argv, *ONLY_WARNS[base.runner])))
    files = tuple(sorted({seen.files[test] for test in ended if test in seen.files}))
    try:
        return ended & patient.clean(tree, wanted, files, older).having("passed")
    except Disturbed:
        raise
    except CannotTell:
        return frozenset()


def flag_warned(tests: frozenset[str], seen: TestReport) -> list[Flag]:
    """A single note for all tests that only a warning stopped."""
    if not tests:
        return []
    first = min(tests)
    more = f" and {len(tests) - 1} more" if len(tests) > 1 else ""
    sentence = f"{first}{more} changed: as it was, it ends with {seen.kinds[first]} here, and passes where a warning is only shown"
    return [Flag("rewritten-test", sentence, first, level="note")]
