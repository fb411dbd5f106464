"""Outcomes: what became of each test from one tree to another. Pure over reports; the one notion of proof that every gate shares.

The words are the field's. Fail-to-pass: the test needs this change, which is proof. Pass-to-pass: nothing broke. Pass-to-fail: a regression.
Fail-to-fail: it was known before. A test is the same test if its id is; what is left over is paired by what of an id stays the same from run
to run, then by its name in another file, then by its function: a row put into the middle of a table renames the rows after it.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NamedTuple

import msgspec

from detent.evidence.report import TestReport
from detent.evidence.source.test_ids import family, stable

Ids = frozenset[str]
MOST_AGAIN = 20  # failures that are run once more; where more fail, it is not chance


class Outcomes(NamedTuple):
    """The tests by what became of them. The ids are those of the later tree, but for `lost` and `waiting`."""

    newly_failing: Ids = frozenset()  # fails, and did not fail before: it passed, was skipped, or was not there
    regressions: Ids = frozenset()  # pass-to-fail: those of them that passed before
    fixed: Ids = frozenset()  # fail-to-pass
    still_failing: Ids = frozenset()  # fail-to-fail
    pins: Ids = frozenset()  # new, and passes
    kept: Ids = frozenset()  # pass-to-pass, old
    skipped: Ids = frozenset()  # ran before, and is skipped now
    lost: Ids = frozenset()  # ran before, and is not there any more
    flaky: Ids = frozenset()  # passed before, failed, and passes whenever it is run again
    waiting: Ids = frozenset()  # cannot be told now: its file cannot be loaded
    replaced: Mapping[str, Ids] = {}  # ran before, is not there any more, and says under other words what it said: the tests that came
    moved: Mapping[str, str] = {}  # tests that stand in another file now: the id before, the id now


def compare(before: TestReport, now: TestReport, unstable: Collection[str] = ()) -> Outcomes:
    """What became of the tests between two reports. Tests of `unstable` families have other ids in every run: none of them is lost."""
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
        found[_gone(before, old, now, unloaded_now, unstable)].add(old)
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
}  # what became of a test, by how it ended before and now
FRESH = {
    (False, "pass"): "pins",
    (False, "fail"): "newly_failing",
    (False, "skip"): "idle",
    (True, "pass"): "fixed",
    (True, "fail"): "still_failing",
    (True, "skip"): "skipped",
}  # of a test without an earlier one, by whether its file could not be loaded before, and how it ended


def _gone(before: TestReport, old: str, now: TestReport, unloaded: Ids, unstable: Collection[str]) -> str:
    """What a test is that is not there any more."""
    file = file_of(before, old)
    if file in unloaded:
        return "waiting"
    loads_again = file == old and file in now.files.values()  # a file that could not be loaded stood for its tests
    has_parts = any(other.startswith(f"{old}/") for other in now.ids)  # it got sub-tests, which stand for it
    if loads_again or has_parts or _how(before, old) == "skip" or family(old) in unstable:
        return "idle"
    return "lost"


def _how(report: TestReport, test: str) -> str:
    return {"passed": "pass", "failed": "fail", "error": "fail", "skipped": "skip"}[report.outcomes[test]]


def file_of(report: TestReport, test: str) -> str:
    """The file that a test stands in."""
    return report.files.get(test, test.partition("::")[0])


def _unloaded(report: TestReport) -> Ids:
    """The files that could not be loaded or built: each is one id, the file itself."""
    return frozenset(test for test in report.bad if report.files.get(test) == test)


# -- which test is which -------------------------------------------------------------------------------------------------------


def _twins(before: TestReport, now: TestReport) -> dict[str, str]:
    """Each test of before that is still there, and its id now."""
    found = {test: test for test in before.ids & now.ids}
    for key in (_stable_key, _name_key, _family_key):
        left, right = _by(key, before, before.ids - set(found)), _by(key, now, now.ids - set(found.values()))
        for same in left.keys() & right.keys():
            found |= dict(zip(left[same], right[same], strict=False))
    return found


Key = Callable[[TestReport, str], str]


def _by(key: Key, report: TestReport, tests: Iterable[str]) -> dict[str, list[str]]:
    """Tests by a key, in the report's order, those that pass before all others: so no row that was only renamed counts as broken."""
    wanted, groups = set(tests), defaultdict[str, list[str]](list)
    for test in sorted((t for t in report.outcomes if t in wanted), key=lambda t: report.outcomes[t] != "passed"):
        if word := key(report, test):
            groups[word].append(test)
    return groups


def _stable_key(report: TestReport, test: str) -> str:
    return stable(test)


def _name_key(report: TestReport, test: str) -> str:
    """The name of a test without its file; a file that could not be loaded has none."""
    file = file_of(report, test)
    return stable(test.removeprefix(file)) if test != file and test.startswith(file) else ""


def _family_key(report: TestReport, test: str) -> str:
    return same if (same := family(test)) != test else ""


# -- reports of a part ---------------------------------------------------------------------------------------------------------


def laid_over(whole: TestReport, part: TestReport, files: Collection[str]) -> TestReport:
    """A report of the whole suite, with what a run of some files said in the place of what it said of them."""
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
    """The tests whose ids differ between two runs of one tree, though all of one is there that is in the other."""
    left = {test for test in one.ids ^ other.ids if stable(test) not in {stable(t) for t in one.ids & other.ids}}
    return frozenset(family(test) for test in left)


def describe_successors(test: str, seen: Outcomes, less: bool) -> str:
    """What came in the place of a test."""
    came = sorted(seen.replaced[test])
    names = came[0] + (f" and {len(came) - 1} more" if len(came) > 1 else "")
    return f"{test} is gone; {names} came in its place" + (
        ", but they do not fail for a small change to the code that it failed for" if less else ""
    )


def describe_weakened(test: str, seen: Outcomes) -> str:
    """What is wrong with a test that notices less than it did."""
    if test not in seen.replaced:
        return f"{test} is weakened: it was changed, and no longer fails for code that it failed for before"
    return f"{test} is gone, and its replacement ({min(seen.replaced[test])}) does not fail for code that it failed for"


def describe_flaky(test: str) -> str:
    """What is said of a test that fails by chance."""
    return f"{test} failed once and passed in three more runs of the same tree: it is flaky, or the machine was overloaded"
