"""Tests that a warning stops where warnings are errors: what they expect may hold all the same.

A change that deprecates something has to change every test that used it. Owns the run in which warnings are only warnings; knows no gates.
"""

from collections.abc import Callable, Mapping
from copy import copy

import msgspec

from detent.errors import CannotTell, Disturbed
from detent.evidence.report import TestReport
from detent.evidence.running.collect import Collector
from detent.kernel.model import Flag

ONLY_WARNS = {"pytest": ("-W", "default")}  # by runner: what makes no warning an error, whatever is configured


def only_warned(
    collector: Collector, tree: str, older: Mapping[str, bytes], seen: TestReport, broken: frozenset[str], wanted: Callable[[], bool]
) -> frozenset[str]:
    """Of the older tests that fail on the tip: those that a warning ended, and that pass where it is none."""
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
    """One note for all of them."""
    if not tests:
        return []
    first = min(tests)
    more = f" and {len(tests) - 1} more" if len(tests) > 1 else ""
    said = f"{first}{more} changed: as it was, it ends with {seen.kinds[first]} here, and passes where a warning is only shown"
    return [Flag("rewritten-test", said, first, level="note")]
