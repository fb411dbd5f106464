"""Before a test is called lost or broken: whether it was only renamed, has another id in every run, or wanted more time. And which changed files can be run by themselves.

Owns these questions alone; what the answers mean is the gates' to say.
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

MOST_TOLD = 10
COLLECTED = re.compile(  # names that runners collect by themselves; a file that only lies beside tests is theirs if it is named, and nobody else's
    r"^test_[^/]*\.py$|_test\.(?:py|go|rb)$|_spec\.rb$|[._-](?:test|spec)s?\.[cm]?[jt]sx?$|(?:Tests?|Spec|IT)\.(?:java|kt|groovy|scala|php)$"
)


class SettleLook(Protocol):
    """What is looked through."""

    def tests(self) -> TestReport: ...
    def tests_before(self) -> TestReport: ...
    def again(self, tests: frozenset[str], watched: bool = True) -> TestReport: ...
    def changed(self) -> tuple[Changed, ...]: ...
    def read(self, path: str) -> str | None: ...


def runnable(changed: tuple[Changed, ...], before: TestReport) -> tuple[str, ...]:
    """The changed test files, if running them alone says what the change did. A helper or a data file may be used by any test: then none."""
    tests = [c for c in changed if c.sort in ("test", "config")]
    held = set(before.files.values())
    alone = [c.path for c in tests if c.how != "deleted" and (c.path in held or _is_named_so(c.path))]
    whole = any(c.path not in alone and c.how != "deleted" for c in tests)
    return () if whole or not before.ids else tuple(alone)


def _is_named_so(path: str) -> bool:
    return COLLECTED.search(PurePosixPath(path).name) is not None


def settled(seen: Outcomes, look: SettleLook, why: Callable[[str], Reason]) -> Outcomes:
    """Outcomes in which only what is really lost is lost, and nothing is broken that only wanted more time than a busy machine had, or fails by chance."""
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
    """Tests that seem broken only since they did not finish in time run once more, by themselves: what passes then is not broken."""
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
    """Tests that passed before and failed now are flaky if they pass in every further run: alone, with all others, and alone.

    Only those that the change left as they were. With all others, since one that another test disturbs now passes alone.
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
    """The tests that the change did not write: their file is as it was, or says of them what it said."""
    from detent.evidence.source.changed_tests import changed_tests, standing_otherwise
    from detent.evidence.source.test_blocks import blocks
    from detent.evidence.source.test_ids import is_named  # only where a test seems broken

    now, touched, found = look.tests(), {c.path for c in look.changed()}, set[str]()
    for path in {file_of(now, test) for test in tests}:
        both = (look.read(f"GOOD:{path}") or "", look.read(path) or "") if path in touched else ("", "")
        other = changed_tests(path, *both) | standing_otherwise(path, *both)
        known = blocks(path, both[0]).keys() if path in touched else None
        ours = (test for test in tests if file_of(now, test) == path and not any(is_named(test, name) for name in other))
        found |= {test for test in ours if known is None or any(is_named(test, name) for name in known)}
    return frozenset(found)


def _only(report: TestReport, wanted: Callable[[str], bool]) -> TestReport:
    return TestReport({t: o for t, o in report.outcomes.items() if wanted(file_of(report, t))}, report.files)


def _renamed(lost: frozenset[str], look: SettleLook) -> frozenset[str]:
    """The lost tests whose very words stand under another name, in a test file that the change wrote, and are run there: not in a file that is skipped."""
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
    """The files in which lost tests may stand: that of the report, and changed ones that it names for no test, since another file loads them."""
    from detent.evidence.outcomes.shared_test_files import is_shared_code, shared_files  # only where a test seems lost

    before = look.tests_before()
    held = {*before.files.values(), *(file_of(before, test) for test in before.ids)}
    loaded = [path for path in shared_files(look.changed(), held) if is_shared_code(path)]
    own = {path: frozenset(t for t in lost if file_of(before, t) == path) for path in {file_of(before, t) for t in lost}}
    return own | dict.fromkeys(loaded, lost)


def _replaced(lost: frozenset[str], came: frozenset[str], look: SettleLook) -> dict[str, frozenset[str]]:
    """The lost tests that tests which came say under other words, in a file that was changed: as rows of a table, or put together in one."""
    from detent.evidence.outcomes.successors import successors_by_words  # only where a test seems lost

    before, now = look.tests_before(), look.tests()
    found = dict[str, frozenset[str]]()
    for path, ours in sorted(_written_in(lost, look).items()):
        files = {file_of(before, test) for test in ours}
        new = [test for test in came if file_of(now, test) in files and test in now.having("passed")]
        found |= successors_by_words(path, look.read(f"GOOD:{path}") or "", look.read(path) or "", ours, new) if new else {}
    return found


def describe_outcomes(seen: Outcomes, why: Callable[[str], Reason]) -> str:
    """What became of the tests, in a few lines for people and agents: which need the step and why they fail, and which only pin what is there."""
    lines = [f"fails now, and did not before: {test}\n    {why(test).sentence}" for test in sorted(seen.newly_failing)[:MOST_TOLD]]
    lines += [f"passes already, so it only pins what is there: {test}" for test in sorted(seen.pins)[:MOST_TOLD] if seen.newly_failing]
    more = max(0, len(seen.newly_failing) - MOST_TOLD) + (max(0, len(seen.pins) - MOST_TOLD) if seen.newly_failing else 0)
    lines += [f"and {more} more"] if more else []
    return "\n".join(lines) + "\n\n" if lines else ""
