"""The tests of the last good tree, and whose trouble it is where tests cannot be run: the change's, if they run there; else the machine's."""

from detent.errors import TESTS, Away, CannotTell, Disturbed
from detent.evidence.report import TestReport
from detent.evidence.running.collect import Collects, Wanted
from detent.git.repo import GitError


def run_good(collect: Collects, good: str, wanted: Wanted) -> TestReport:
    """The tests of the last good tree. Where even they cannot be run, no change can be judged here now."""
    try:
        return collect.clean(good, wanted)
    except (Away, Disturbed):
        raise
    except CannotTell as e:
        raise (Away(TESTS, str(e)) if collect.suite.base else e) from e


def blamed(trouble: CannotTell, collect: Collects, good: str, wanted: Wanted) -> TestReport:
    """If the same command works on the last good tree, the trouble came with the change: it is a failure, not an error."""
    if isinstance(trouble, (Away, Disturbed)):
        raise trouble
    try:
        run_good(collect, good, wanted)
    except Away as e:
        raise Away(e.thing, str(trouble)) from None
    except (CannotTell, GitError, OSError):
        raise trouble from None
    return TestReport(output=str(trouble), complete=False, fault=f"the test run gave no result: {trouble}")
