"""The probes of new tests: small mutations of the lines that were written for them, one after the other, and their own expectations turned.
A test that fails against no mutation may prove nothing about that code; one that passes when it is made to expect something else proves nothing.

Owns how many mutants are tried and for how long; knows no phases and no gates.
"""

import time
from collections.abc import Iterable
from typing import NamedTuple

from detent.errors import CannotTell, Disturbed
from detent.evidence.bite import ONE_RUN, SLOWER, Teeth
from detent.evidence.candidates import Mutant, candidates
from detent.evidence.idle import idle_of, table_in
from detent.evidence.look import Probed
from detent.evidence.mutate.turned import is_named, turned
from detent.evidence.report import TestReport
from detent.evidence.trials import came_of, trial_of

MOST_IN_VAIN = 12  # mutants in a row that make no test fail
MOST_TRIED = 48
MOST_WHOLE = 6  # mutants that the whole suite is run on
MOST_KEPT = 3  # of those that were tried in vain: how many are told


class Clock(NamedTuple):
    """How long the mutants may take, together and each."""

    until: float
    one: float

    def left(self) -> float:
        return min(self.one, self.until - time.monotonic())


def probe(teeth: Teeth, now: TestReport, before: TestReport) -> Probed:
    """What the tests that failed before and pass now say of mutants of the code between."""
    new = _were_red(now, before.bad - teeth.marks.baseline)
    if not new:
        return Probed()
    clock = _apart(teeth, now, new)
    if isinstance(clock, Probed):
        return clock
    tried = candidates(teeth, _text(teeth, _files(now, new)))
    if not tried:
        return Probed(why="no line of the code written for them has a small change to try")
    return _try(teeth, tried, _files(now, new), new, _together(teeth, now, before, new), clock)


def probe_refactored(teeth: Teeth, now: TestReport) -> Probed:
    """Whether any test fails against a mutant of the code that was rewritten; those that earlier steps wrote are asked first. A rewrite that
    leaves no line to mutate (words, or lines taken out) has nothing to prove."""
    proved = _were_red_earlier(teeth, now)
    files = _files(now, proved)
    tried = candidates(teeth, _text(teeth, files))
    clock = _apart(teeth, now, proved) if proved else Clock(time.monotonic() + teeth.seconds, ONE_RUN)
    if isinstance(clock, Probed):
        return clock
    whole = tried[:MOST_WHOLE]
    if not tried or (files and _killed(teeth, tried[:MOST_IN_VAIN], files, clock)) or _killed(teeth, whole, (), clock):
        return Probed()
    idle = tuple(sorted({f"{mutant.path}: {mutant.place}" for mutant in whole}))
    return Probed(len(whole), idle) if clock.left() > 0 else Probed(why=f"{teeth.seconds:.0f} s were not enough to find a test that fails")


# -- the tests ---------------------------------------------------------------------------------------------------------------


def _were_red(now: TestReport, red: frozenset[str]) -> frozenset[str]:
    """Tests that pass and once failed; a file that could not be collected then stands for its tests."""
    return frozenset(test for test in now.having("passed") if test in red or now.files.get(test) in red)


def _were_red_earlier(teeth: Teeth, now: TestReport) -> frozenset[str]:
    """Tests that pass and failed in a RED of this run, if anything changed that they could be about."""
    if not _is_about_code(teeth):
        return frozenset()
    reds = ((teeth.collect.known(red) or teeth.collect.clean(red, teeth.wanted)).bad for red in teeth.marks.reds)
    return _were_red(now, frozenset[str]().union(*reds) - teeth.marks.baseline)


def _is_about_code(teeth: Teeth) -> bool:
    return any(change.sort in ("production", "config") for change in teeth.changed)


def _files(now: TestReport, tests: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({_file(now, test) for test in tests}))


def _file(report: TestReport, test: str) -> str:
    return report.files.get(test, test.partition("::")[0])


def _text(teeth: Teeth, files: Iterable[str]) -> str:
    return "\n".join(_read(teeth, path) for path in files)


def _read(teeth: Teeth, path: str, tree: str = "") -> str:
    return (teeth.git.read(tree or teeth.tree, path) or b"").decode("utf-8", "replace")


def _together(teeth: Teeth, now: TestReport, before: TestReport, new: frozenset[str]) -> dict[str, frozenset[str]]:
    """Which tests answer for each other: nobody can tell the new ones of an older file that could not be loaded before from the others."""
    marks = teeth.marks
    earlier = (marks.base, *(red for red in marks.reds if red != marks.good))
    unloaded = {file for test in new if test not in before.ids and (file := _file(now, test)) in before.bad}
    older = {file for file in unloaded if any(teeth.git.read(tree, file) is not None for tree in earlier)}
    return {test: frozenset(t for t in new if _file(now, t) == _file(now, test)) for test in new if _file(now, test) in older}


# -- what is run -------------------------------------------------------------------------------------------------------------


def _apart(teeth: Teeth, now: TestReport, tests: frozenset[str]) -> Clock | Probed:
    """The tests once as they are, where the mutants will be tried: how long that takes, or what makes mutants worthless there."""
    begun = time.monotonic()
    if teeth.collect.suite.clean:
        return Clock(begun + teeth.seconds, max(ONE_RUN, SLOWER * now.seconds))
    try:
        report = teeth.collect.probe(teeth.tree, teeth.wanted, _files(now, tests), {}, teeth.seconds)
    except Disturbed:
        raise
    except CannotTell as e:
        return Probed(why=f"they could not be run in a clean checkout: {e}")
    if report.late:
        return Probed(why=f"they take longer than {teeth.seconds:.0f} s")
    if lost := tests - report.having("passed"):
        return Probed(apart=tuple(sorted(lost)))
    return Clock(begun + teeth.seconds, max(ONE_RUN, SLOWER * (time.monotonic() - begun)))


def agreeing(teeth: Teeth, now: TestReport, before: TestReport) -> tuple[str, ...]:
    """Tests that pass although each of their expectations was turned: those that the code was written for, and in a refactoring those that
    earlier steps wrote. Where there are none of them, every test that did not agree with everything before the step."""
    tests = _were_red(now, before.bad - teeth.marks.baseline) or _were_red_earlier(teeth, now)
    if tests or not _is_about_code(teeth):
        return tuple(sorted(tests & _pass_turned(teeth, teeth.tree, _files(now, tests), now.wall)))
    found = now.having("passed") & _pass_turned(teeth, teeth.tree, _files(now, now.having("passed")), now.wall)
    return tuple(sorted(found - _pass_turned(teeth, teeth.marks.good, _files(now, found), now.wall)))


def _pass_turned(teeth: Teeth, tree: str, files: Iterable[str], wall: float) -> frozenset[str]:
    """The tests of some files that pass turned round. A test with several cases is one that does in all of them."""
    return frozenset[str]().union(*(ids for ids, passing in _turned_round(teeth, tree, files, wall) if ids <= passing))


def fail_turned(teeth: Teeth, now: TestReport, tests: Iterable[str]) -> frozenset[str]:
    """Of these tests, those that fail turned round: they look at an answer."""
    found = _turned_round(teeth, teeth.tree, _files(now, tests), now.wall)
    return frozenset(tests) & frozenset[str]().union(*(ids - passing for ids, passing in found))


def _turned_round(teeth: Teeth, tree: str, files: Iterable[str], wall: float) -> list[tuple[frozenset[str], frozenset[str]]]:
    """Of each test of some files that can be turned round: its cases, and all tests that pass then.

    It is one run and a certain answer, so it gets the time that such a run takes, however little a probe may take: slow tests get no way round.
    """
    made = {path: turned(path, _read(teeth, path, tree), teeth.key) for path in files}
    overlay = {path: text.encode() for path, (text, names) in made.items() if names}
    if not overlay:
        return []
    try:
        report = teeth.collect.probe(tree, teeth.wanted, tuple(overlay), overlay, max(teeth.seconds, ONE_RUN, SLOWER * wall))
    except Disturbed:
        raise
    except CannotTell:
        return []  # turned tests that do not run say nothing
    return [(_cases(report, path, name), report.having("passed")) for path, (_, names) in made.items() for name in names]


def _cases(report: TestReport, path: str, name: str) -> frozenset[str]:
    """The tests of a file that a name stands for."""
    return frozenset(test for test in report.ids if _file(report, test) == path and is_named(test, name))


def _seen(teeth: Teeth, mutant: Mutant, files: tuple[str, ...], seconds: float) -> TestReport | None:
    """What the tests of these files say of a mutant; None if it did not even run, or not to its end, so that it says nothing."""
    try:
        report = teeth.collect.probe(teeth.tree, teeth.wanted, files, {mutant.path: mutant.make().encode()}, seconds)
    except Disturbed:
        raise
    except CannotTell:
        return None
    return None if report.late else report


def indifferent(teeth: Teeth, now: TestReport, tests: frozenset[str]) -> Probed:
    """Of tests that pass, those that look at no answer: neither another expectation nor any small change of the code makes one of them fail."""
    left = tests - fail_turned(teeth, now, tests) if tests else tests
    files = _files(now, left)
    if not left or not (tried := candidates(teeth, _text(teeth, files))):
        return Probed()
    clock = Clock(time.monotonic() + teeth.seconds, max(ONE_RUN, SLOWER * now.wall))
    return _try(teeth, tried, files, left, {}, clock)


def _killed(teeth: Teeth, mutants: list[Mutant], files: tuple[str, ...], clock: Clock) -> bool:
    """Whether a test fails against one of these, in the time that is left. One of a file that cannot be loaded then is no test."""
    for mutant in mutants:
        if (left := clock.left()) <= 0:
            return False
        report = _seen(teeth, mutant, files, left)
        if report and {test for test in report.bad - teeth.marks.baseline if test not in report.files.values()}:
            return True
    return False


def _try(
    teeth: Teeth, mutants: list[Mutant], files: tuple[str, ...], new: frozenset[str], together: dict[str, frozenset[str]], clock: Clock
) -> Probed:
    """Until each test has failed against one, too many were tried in vain, or the time is up."""
    idle, count, vain, seen, table = new, 0, 0, list[tuple[Mutant, TestReport]](), table_in(teeth)
    for mutant in mutants[:MOST_TRIED]:
        if (left := clock.left()) <= 0:
            return Probed(count, why=f"{teeth.seconds:.0f} s were not enough for {len(mutants)} small changes of the code")
        report = _seen(teeth, mutant, files, left)
        if report and report.ids & new:
            failed = frozenset[str]().union(*(together.get(test, {test}) for test in report.bad))
            rest = frozenset(idle_of(idle, failed, table))
            seen.append((mutant, report))
            count, vain, idle = count + 1, 0 if rest != idle else vain + 1, rest
        if not idle or vain == MOST_IN_VAIN:
            break
    if not idle:
        return Probed(count)
    for mutant, report in sorted(seen, key=lambda tried: len(tried[1].bad))[:MOST_KEPT]:
        about = [f"vacuous-test {test}" for test in sorted(idle)]
        teeth.tried(
            trial_of(teeth, about, f"a small change of {mutant.place}", came_of(report), {mutant.path: mutant.make().encode()}, files)
        )
    return Probed(count, tuple(sorted(idle))) if count else Probed(why="no small change of the code written for them could be run")
