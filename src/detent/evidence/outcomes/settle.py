"""Settles outcomes before a test counts as lost or broken: was it renamed or replaced, is its id unstable, is it flaky, was it only too slow?
Also finds the changed test files that can be run on their own.

Owns these answers; the gates decide what they mean.
"""

import re
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Protocol

from detent.errors import CannotTell
from detent.evidence.outcomes.outcomes import MOST_AGAIN, Outcomes, compare, file_of, unstable_families
from detent.evidence.outcomes.reasons import Reason
from detent.evidence.report import TestReport
from detent.evidence.source.diff import Changed

MOST_LISTED = 10
COLLECTED = re.compile(  # names that runners collect by default
    r"^test_[^/]*\.py$|_test\.(?:py|go|rb)$|_spec\.rb$|[._-](?:test|spec)s?\.[cm]?[jt]sx?$|(?:Tests?|Spec|IT)\.(?:java|kt|groovy|scala|php)$"
)


class SettleLook(Protocol):
    """The part of a look that settling needs."""

    def tests(self) -> TestReport: ...
    def tests_before(self) -> TestReport: ...
    def again(self, tests: frozenset[str], watched: bool = True) -> TestReport: ...
    def changed(self) -> tuple[Changed, ...]: ...
    def read(self, path: str) -> str | None: ...


def runnable(changed: tuple[Changed, ...], before: TestReport) -> tuple[str, ...]:
    """The changed test files, if running only them shows the change's effect. Empty if a helper or data file changed: any test may use it."""
    tests = [c for c in changed if c.sort in ("test", "config")]
    held = set(before.files.values())
    alone = [c.path for c in tests if c.how != "deleted" and (c.path in held or _is_named_so(c.path))]
    whole = any(c.path not in alone and c.how != "deleted" for c in tests)
    return () if whole or not before.ids else tuple(alone)


def _is_named_so(path: str) -> bool:
    return COLLECTED.search(PurePosixPath(path).name) is not None


def settled(seen: Outcomes, look: SettleLook, why: Callable[[str], Reason]) -> Outcomes:
    """The outcomes without false alarms: tests that were renamed, replaced, too slow on a busy machine, or flaky are not lost or broken."""
    seen = _by_chance(_in_time(seen, look, why), look)
    if seen.lost:
        lost = seen.lost - _renamed(seen.lost, look)
        replaced = _replaced(lost, seen.pins | seen.fixed, look)
        seen = seen._replace(lost=lost - replaced.keys(), replaced=replaced)
    if not seen.lost:
        return seen
    now = look.tests()
    there = {file_of(now, test) for test in now.ids}
    if not any(file_of(look.tests_before(), test) in there for test in seen.lost):
        return seen
    try:
        again = look.again(
            frozenset(t for t in now.ids if file_of(now, t) in {file_of(look.tests_before(), lost) for lost in seen.lost}), False
        )
    except CannotTell:
        return seen
    ran = set(again.files.values())
    unstable = unstable_families(_only(now, ran.__contains__), _only(again, ran.__contains__))
    found = compare(look.tests_before(), now, unstable) if unstable else seen
    return found._replace(lost=found.lost & seen.lost, replaced=seen.replaced)


def _in_time(seen: Outcomes, look: SettleLook, why: Callable[[str], Reason]) -> Outcomes:
    """Run tests that did not finish in time once more, on their own; those that pass are not broken."""
    late = frozenset(test for test in seen.newly_failing if why(test).sort == "machine")
    try:
        passed = late & look.again(late, False).having("passed") if late else late
    except CannotTell:
        return seen
    return seen._replace(
        newly_failing=seen.newly_failing - passed,
        regressions=seen.regressions - passed,
        kept=seen.kept | (passed & seen.regressions),
        pins=seen.pins | (passed - seen.regressions),
    )


def _by_chance(seen: Outcomes, look: SettleLook) -> Outcomes:
    """Run regressions again; those that pass in all three further runs (alone, with all other tests, alone) are flaky.

    Only tests that the change did not edit. One run is with all others, since a test that another one now disturbs passes alone.
    """
    if not 0 < len(seen.regressions) <= MOST_AGAIN:
        return seen
    now, flaky = look.tests(), _as_they_were(seen.regressions, look)
    for which in (flaky, now.ids, flaky):
        try:
            flaky &= look.again(which, False).having("passed") if flaky else flaky
        except CannotTell:
            return seen
    return seen._replace(newly_failing=seen.newly_failing - flaky, regressions=seen.regressions - flaky, flaky=flaky)


def _as_they_were(tests: frozenset[str], look: SettleLook) -> frozenset[str]:
    """The tests that the change did not edit: their file is unchanged, or their own text in it is."""
    from detent.evidence.source.changed_tests import changed_tests, standing_otherwise
    from detent.evidence.source.test_blocks import blocks
    from detent.evidence.source.test_ids import is_named  # only where a test seems broken

    now, touched, found = look.tests(), {c.path for c in look.changed()}, set[str]()
    for path in {file_of(now, test) for test in tests}:
        versions = (look.read(f"GOOD:{path}") or "", look.read(path) or "") if path in touched else ("", "")
        other = changed_tests(path, *versions) | standing_otherwise(path, *versions)
        known = blocks(path, versions[0]).keys() if path in touched else None
        ours = (test for test in tests if file_of(now, test) == path and not any(is_named(test, name) for name in other))
        found |= {test for test in ours if known is None or any(is_named(test, name) for name in known)}
    return frozenset(found)


def _only(report: TestReport, wanted: Callable[[str], bool]) -> TestReport:
    return TestReport({t: o for t, o in report.outcomes.items() if wanted(file_of(report, t))}, report.files)


def _renamed(lost: frozenset[str], look: SettleLook) -> frozenset[str]:
    """The lost tests whose body is now under another name in a test file that the change edited, and that runs: not in a file that is skipped."""
    from detent.evidence.source.test_blocks import blocks
    from detent.evidence.source.test_ids import is_named  # only where a test seems lost

    wrote = {c.path for c in look.changed() if c.sort == "test" and c.how != "deleted"}
    report, now = look.tests(), set[str]()
    for path in wrote:
        ran = [test for test in report.ids if file_of(report, test) == path] or report.ids
        now |= {words for name, words in blocks(path, look.read(path) or "").items() if any(is_named(test, name) for test in ran)}
    found = set()
    for path, ours in _written_in(lost, look).items():
        old = blocks(path, look.read(f"GOOD:{path}") or "")
        kept = {name for name, words in old.items() if words in now}
        found |= {t for t in ours if any(is_named(t, name) for name in kept)}
    return frozenset(found)


def _written_in(lost: frozenset[str], look: SettleLook) -> dict[str, frozenset[str]]:
    """The files that may hold the lost tests: their files by the report, and changed helpers, which another test file may load tests from."""
    from detent.evidence.outcomes.shared_test_files import is_shared_code, shared_files  # only where a test seems lost

    before = look.tests_before()
    held = {*before.files.values(), *(file_of(before, test) for test in before.ids)}
    loaded = [path for path in shared_files(look.changed(), held) if is_shared_code(path)]
    own = {path: frozenset(t for t in lost if file_of(before, t) == path) for path in {file_of(before, t) for t in lost}}
    return own | dict.fromkeys(loaded, lost)


def _replaced(lost: frozenset[str], added: frozenset[str], look: SettleLook) -> dict[str, frozenset[str]]:
    """The lost tests that new tests replace in a changed file, for instance as rows of a table or merged into one test."""
    from detent.evidence.outcomes.successors import successors_by_words  # only where a test seems lost

    before, now = look.tests_before(), look.tests()
    found = dict[str, frozenset[str]]()
    for path, ours in sorted(_written_in(lost, look).items()):
        files = {file_of(before, test) for test in ours}
        new = [test for test in added if file_of(now, test) in files and test in now.having("passed")]
        found |= successors_by_words(path, look.read(f"GOOD:{path}") or "", look.read(path) or "", ours, new) if new else {}
    return found


def describe_outcomes(seen: Outcomes, why: Callable[[str], Reason]) -> str:
    """A few lines for people and agents: which tests newly fail and why, and which new ones only pin what already works."""
    lines = [f"fails now, and did not before: {test}\n    {why(test).sentence}" for test in sorted(seen.newly_failing)[:MOST_LISTED]]
    lines += [f"passes already, so it only pins what is there: {test}" for test in sorted(seen.pins)[:MOST_LISTED] if seen.newly_failing]
    more = max(0, len(seen.newly_failing) - MOST_LISTED) + (max(0, len(seen.pins) - MOST_LISTED) if seen.newly_failing else 0)
    lines += [f"and {more} more"] if more else []
    return "\n".join(lines) + "\n\n" if lines else ""
