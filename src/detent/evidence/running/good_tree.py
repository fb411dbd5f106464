"""The tests of the last good tree, and who is to blame if tests cannot run: the change, if they run on that tree; else the machine."""

from detent.errors import TESTS, Away, CannotTell, Disturbed
from detent.evidence.report import TestReport
from detent.evidence.running.collect import Collects, Wanted
from detent.git.repo import GitError


def run_good(collect: Collects, good: str, wanted: Wanted) -> TestReport:
    """Run the tests of the last good tree. If even they cannot run, no change can be judged now."""
    try:
        return collect.clean(good, wanted)
    except (Away, Disturbed):
        raise
    except CannotTell as e:
        raise (Away(TESTS, str(e)) if collect.suite.base else e) from e


def blamed(trouble: CannotTell, collect: Collects, good: str, wanted: Wanted) -> TestReport:
    """Turn an error into a failed report if the same command works on the last good tree, so the change is to blame; else raise it."""
    if isinstance(trouble, (Away, Disturbed)):
        raise trouble
    try:
        run_good(collect, good, wanted)
    except Away as e:
        raise Away(e.thing, str(trouble)) from None
    except (CannotTell, GitError, OSError):
        raise trouble from None
    return TestReport(output=str(trouble), complete=False, fault=f"the test run gave no result: {trouble}")
