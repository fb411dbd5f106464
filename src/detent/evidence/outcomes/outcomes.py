"""Outcomes: how each test ended on two trees, compared. Pure over reports; the one definition of proof, shared by all gates.

Fail-to-pass: the test needs this change, which is proof. Pass-to-pass: nothing broke. Pass-to-fail: a regression. Fail-to-fail: a known
failure. Tests are matched by id; the rest by the part of the id that is stable between runs, then by name in another file, then by
function, since a row inserted into a table renames the rows after it.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NamedTuple

import msgspec

from detent.evidence.report import TestReport
from detent.evidence.source.test_ids import family, stable

Ids = frozenset[str]
MOST_AGAIN = 20  # with more failures than this, nothing is run again: it is not chance


class Outcomes(NamedTuple):
    """The tests by outcome. Ids are those of the later tree, except for `lost` and `waiting`."""

    newly_failing: Ids = frozenset()  # fails now; before, it passed, was skipped or did not exist
    regressions: Ids = frozenset()  # pass-to-fail: a subset of newly_failing
    fixed: Ids = frozenset()  # fail-to-pass
    still_failing: Ids = frozenset()  # fail-to-fail
    pins: Ids = frozenset()  # new or no longer skipped, and passes
    kept: Ids = frozenset()  # pass-to-pass
    skipped: Ids = frozenset()  # ran before, skipped now
    lost: Ids = frozenset()  # ran before, gone now
    flaky: Ids = frozenset()  # passed before, failed now, but passes in every further run
    waiting: Ids = frozenset()  # unknown: its file cannot be loaded now
    replaced: Mapping[str, Ids] = {}  # tests that are gone, each with the new tests that check the same
    moved: Mapping[str, str] = {}  # tests now in another file: old id to new id


def compare(before: TestReport, now: TestReport, unstable: Collection[str] = ()) -> Outcomes:
    """The outcomes between two reports. Tests of `unstable` families get new ids in every run, so none of them counts as lost."""
    twins = _twins(before, now)
    found: dict[str, set[str]] = defaultdict(set)
    for old, new in twins.items():
        found[PAIRED[_how(before, old), _how(now, new)]].add(new)
    unloaded_before, unloaded_now = _unloaded(before), _unloaded(now)
    taken = set(twins.values())
    for new in now.ids - taken:
        waited = file_of(now, new) in unloaded_before
        found[FRESH[waited, _how(now, new)]].add(new)
    for old in before.ids - set(twins):
        found[_outcome_of_missing(before, old, now, unloaded_now, unstable)].add(old)
    regressions = frozenset(found["regressions"])
    return Outcomes(
        newly_failing=regressions | frozenset(found["newly_failing"]),
        regressions=regressions,
        **{name: frozenset(found[name]) for name in ("fixed", "still_failing", "pins", "kept", "skipped", "lost", "waiting")},
        replaced={},
        moved={old: new for old, new in twins.items() if file_of(before, old) != file_of(now, new)},
    )


PAIRED = {
    ("pass", "pass"): "kept",
    ("pass", "fail"): "regressions",
    ("pass", "skip"): "skipped",
    ("fail", "pass"): "fixed",
    ("fail", "fail"): "still_failing",
    ("fail", "skip"): "skipped",
    ("skip", "pass"): "pins",
    ("skip", "fail"): "newly_failing",
    ("skip", "skip"): "idle",
}  # the outcome of a test in both reports, by how it ended before and now
FRESH = {
    (False, "pass"): "pins",
    (False, "fail"): "newly_failing",
    (False, "skip"): "idle",
    (True, "pass"): "fixed",
    (True, "fail"): "still_failing",
    (True, "skip"): "skipped",
}  # the outcome of a test only in the later report, by whether its file failed to load before, and how it ended


def _outcome_of_missing(before: TestReport, old: str, now: TestReport, unloaded: Ids, unstable: Collection[str]) -> str:
    """The outcome of a test that is not in the later report."""
    file = file_of(before, old)
    if file in unloaded:
        return "waiting"
    loads_again = file == old and file in now.files.values()  # the id is a file that could not be loaded before
    has_parts = any(other.startswith(f"{old}/") for other in now.ids)  # it now has sub-tests, which replace it
    if loads_again or has_parts or _how(before, old) == "skip" or family(old) in unstable:
        return "idle"
    return "lost"


def _how(report: TestReport, test: str) -> str:
    return {"passed": "pass", "failed": "fail", "error": "fail", "skipped": "skip"}[report.outcomes[test]]


def file_of(report: TestReport, test: str) -> str:
    """The file a test is in."""
    return report.files.get(test, test.partition("::")[0])


def _unloaded(report: TestReport) -> Ids:
    """The files that could not be loaded or built: a report lists each as a test whose id is the file."""
    return frozenset(test for test in report.bad if report.files.get(test) == test)


# -- matching tests ------------------------------------------------------------------------------------------------------------


def _twins(before: TestReport, now: TestReport) -> dict[str, str]:
    """The tests that are in both reports: old id to new id."""
    found = {test: test for test in before.ids & now.ids}
    for key in (_stable_key, _name_key, _family_key):
        left, right = _by(key, before, before.ids - set(found)), _by(key, now, now.ids - set(found.values()))
        for same in left.keys() & right.keys():
            found |= dict(zip(left[same], right[same], strict=False))
    return found


Key = Callable[[TestReport, str], str]


def _by(key: Key, report: TestReport, tests: Iterable[str]) -> dict[str, list[str]]:
    """Tests grouped by key, in the report's order but passing ones first, so that a row that was only renamed does not count as broken."""
    wanted, groups = set(tests), defaultdict[str, list[str]](list)
    for test in sorted((t for t in report.outcomes if t in wanted), key=lambda t: report.outcomes[t] != "passed"):
        if word := key(report, test):
            groups[word].append(test)
    return groups


def _stable_key(report: TestReport, test: str) -> str:
    return stable(test)


def _name_key(report: TestReport, test: str) -> str:
    """The test's name without its file; empty for a file that could not be loaded."""
    file = file_of(report, test)
    return stable(test.removeprefix(file)) if test != file and test.startswith(file) else ""


def _family_key(report: TestReport, test: str) -> str:
    return same if (same := family(test)) != test else ""


# -- partial reports -----------------------------------------------------------------------------------------------------------


def laid_over(whole: TestReport, part: TestReport, files: Collection[str]) -> TestReport:
    """The report of the whole suite, with the results of `files` replaced by those of a partial run."""
    old = {test for test in whole.ids if file_of(whole, test) in files}

    def joined(name: str) -> dict[str, object]:
        before: dict[str, object] = getattr(whole, name)
        now: dict[str, object] = getattr(part, name)
        return {test: value for test, value in before.items() if test not in old} | now

    return msgspec.structs.replace(
        part,
        **{name: joined(name) for name in ("outcomes", "files", "messages", "kinds")},
        missing_names=(*(t for t in whole.missing_names if t not in old), *part.missing_names),
        seconds=whole.seconds,
        partial=True,
    )


def unstable_families(one: TestReport, other: TestReport) -> Ids:
    """The families of the tests whose ids differ between two runs of the same tree."""
    left = {test for test in one.ids ^ other.ids if stable(test) not in {stable(t) for t in one.ids & other.ids}}
    return frozenset(family(test) for test in left)


def describe_successors(test: str, seen: Outcomes, less: bool) -> str:
    """A sentence that names the tests that replaced a test."""
    new_tests = sorted(seen.replaced[test])
    names = new_tests[0] + (f" and {len(new_tests) - 1} more" if len(new_tests) > 1 else "")
    return f"{test} is gone; {names} came in its place" + (
        ", but they do not fail for a small change to the code that it failed for" if less else ""
    )


def describe_weakened(test: str, seen: Outcomes) -> str:
    """A sentence about a test that no longer fails for code it failed for before."""
    if test not in seen.replaced:
        return f"{test} is weakened: it was changed, and no longer fails for code that it failed for before"
    return f"{test} is gone, and its replacement ({min(seen.replaced[test])}) does not fail for code that it failed for"


def describe_flaky(test: str) -> str:
    """A sentence about a flaky test."""
    return f"{test} failed once and passed in three more runs of the same tree: it is flaky, or the machine was overloaded"
