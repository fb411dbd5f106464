"""Probes of new tests: mutants of the code written for them, one at a time, and the tests themselves with inverted expectations.
A test that kills no mutant may prove nothing about that code; one that passes with inverted expectations proves nothing.

Owns how many mutants are tried, and for how long. Must not know phases or gates.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import msgspec

from detent.errors import CannotTell, Disturbed
from detent.evidence.look import Probed
from detent.evidence.mutate.inverted import inverted
from detent.evidence.outcomes.outcomes import file_of
from detent.evidence.probes.context import ONE_RUN, SLOWER, ProbeContext
from detent.evidence.probes.doubted_values import doubt_values
from detent.evidence.probes.mutant_order import Mutant, candidates
from detent.evidence.probes.trials import result_in_words, trial_of
from detent.evidence.probes.vacuous_tests import still_vacuous, table_in, vacuous_of
from detent.evidence.report import TestReport
from detent.evidence.source.file_text import bytes_of
from detent.evidence.source.test_ids import is_named

MOST_IN_VAIN = 12  # surviving mutants in a row
MOST_TRIED = 48
MOST_WHOLE = 6  # mutants that the whole suite is run on
MOST_KEPT = 3  # surviving mutants that are recorded


class Clock(NamedTuple):
    """The time limits for all mutants together and for each."""

    until: float
    one: float
    now: Callable[[], float]

    def left(self) -> float:
        return min(self.one, self.until - self.now())


def probe(context: ProbeContext, now: TestReport, before: TestReport) -> Probed:
    """Try mutants of the new code on the tests that failed before and pass now."""
    new = _were_red(now, before.bad - context.reference.baseline)
    if not new:
        return Probed()
    clock = _apart(context, now, new)
    if isinstance(clock, Probed):
        return clock
    tried = candidates(context, _text(context, _files(now, new)))
    if not tried:
        return Probed(why="no line of the code written for them has a small change to try")
    return _try(context, tried, _files(now, new), new, _together(context, now, before, new), clock)


def probe_refactored(context: ProbeContext, now: TestReport, patch: bytes) -> Probed:
    """Whether any test kills a mutant of rewritten code, and whether one notices each value that came with it."""
    seen = _probe_rewritten(context, now)
    return seen if seen.apart else msgspec.structs.replace(seen, doubts=doubt_values(context, now, patch))


def _probe_rewritten(context: ProbeContext, now: TestReport) -> Probed:
    """Tests that earlier steps wrote run first. A rewrite without a line to mutate (only words, or removed lines) has nothing to prove."""
    proved = _were_red_earlier(context, now)
    files = _files(now, proved)
    tried = candidates(context, _text(context, files))
    clock = _apart(context, now, proved) if proved else Clock(context.clock() + context.seconds, ONE_RUN, context.clock)
    if isinstance(clock, Probed):
        return clock
    whole = tried[:MOST_WHOLE]
    if not tried or (files and _killed(context, tried[:MOST_IN_VAIN], files, clock)) or _killed(context, whole, (), clock):
        return Probed()
    idle = tuple(sorted({f"{mutant.path}: {mutant.place}" for mutant in whole}))
    return (
        Probed(len(whole), idle) if clock.left() > 0 else Probed(why=f"{context.seconds:.0f} s were not enough to find a test that fails")
    )


# -- the tests ---------------------------------------------------------------------------------------------------------------


def _were_red(now: TestReport, red: frozenset[str]) -> frozenset[str]:
    """Tests that pass now and failed before; a file that could not be collected then counts for all its tests."""
    return frozenset(test for test in now.having("passed") if test in red or now.files.get(test) in red)


def _were_red_earlier(context: ProbeContext, now: TestReport) -> frozenset[str]:
    """Tests that pass now and failed in a RED of this run; none if the step changed no code or configuration."""
    if not _is_about_code(context):
        return frozenset()
    reds = ((context.collect.known(red) or context.collect.clean(red, context.wanted)).bad for red in context.reference.reds)
    return _were_red(now, frozenset[str]().union(*reds) - context.reference.baseline)


def _is_about_code(context: ProbeContext) -> bool:
    return any(change.sort in ("production", "config") for change in context.changed)


def _files(now: TestReport, tests: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({file_of(now, test) for test in tests}))


def _text(context: ProbeContext, files: Iterable[str]) -> str:
    return "\n".join(context.text(path) for path in files)


def _together(context: ProbeContext, now: TestReport, before: TestReport, new: frozenset[str]) -> dict[str, frozenset[str]]:
    """Tests that count together: in an older file that did not load before, new tests cannot be told from old ones."""
    reference = context.reference
    earlier = (reference.base, *(red for red in reference.reds if red != reference.good))
    unloaded = {file for test in new if test not in before.ids and (file := file_of(now, test)) in before.bad}
    older = {file for file in unloaded if any(context.git.read(tree, file) is not None for tree in earlier)}
    return {test: frozenset(t for t in new if file_of(now, t) == file_of(now, test)) for test in new if file_of(now, test) in older}


# -- what is run -------------------------------------------------------------------------------------------------------------


def _apart(context: ProbeContext, now: TestReport, tests: frozenset[str]) -> Clock | Probed:
    """Run the plain tests once in the checkout for mutants: the resulting time limits, or why mutants cannot be tried there."""
    begun = context.clock()
    if context.collect.suite.clean:
        return Clock(begun + context.seconds, max(ONE_RUN, SLOWER * now.seconds), context.clock)
    try:
        report = context.collect.probe(context.tree, context.wanted, _files(now, tests), {}, context.seconds)
    except Disturbed:
        raise
    except CannotTell as e:
        return Probed(why=f"they could not be run in a clean checkout: {e}")
    if report.late:
        return Probed(why=f"they take longer than {context.seconds:.0f} s")
    if lost := tests - report.having("passed"):
        return Probed(apart=tuple(sorted(lost)))
    return Clock(begun + context.seconds, max(ONE_RUN, SLOWER * (context.clock() - begun)), context.clock)


def passing_inverted(context: ProbeContext, now: TestReport, before: TestReport) -> tuple[str, ...]:
    """Tests that pass even with all their expectations inverted, among those that the code was written for or, in a refactoring, that earlier steps
    wrote. If there are none of these, among all tests, except those that already did so before the step."""
    tests = _were_red(now, before.bad - context.reference.baseline) or _were_red_earlier(context, now)
    if tests or not _is_about_code(context):
        return tuple(sorted(tests & _pass_inverted(context, context.tree, _files(now, tests), now.wall)))
    found = now.having("passed") & _pass_inverted(context, context.tree, _files(now, now.having("passed")), now.wall)
    return tuple(sorted(found - _pass_inverted(context, context.reference.good, _files(now, found), now.wall)))


def _pass_inverted(context: ProbeContext, tree: str, files: Iterable[str], wall: float) -> frozenset[str]:
    """The tests of some files that pass with inverted expectations, in all of their cases."""
    return frozenset[str]().union(*(ids for ids, passing in _run_inverted(context, tree, files, wall) if ids <= passing))


def fail_inverted(context: ProbeContext, now: TestReport, tests: Iterable[str]) -> frozenset[str]:
    """The tests that fail with inverted expectations, so they do check an answer."""
    found = _run_inverted(context, context.tree, _files(now, tests), now.wall)
    return frozenset(tests) & frozenset[str]().union(*(ids - passing for ids, passing in found))


def _run_inverted(context: ProbeContext, tree: str, files: Iterable[str], wall: float) -> list[tuple[frozenset[str], frozenset[str]]]:
    """For each test whose expectations can be inverted: its cases, and all tests that pass then.

    It is a single run with a definite answer, so it gets the time it needs even beyond a probe's limit: slow tests are not exempt.
    """
    made = {path: inverted(path, context.text(path, tree or context.tree), context.key) for path in files}
    overlay = {path: bytes_of(text) for path, (text, names) in made.items() if names}
    if not overlay:
        return []
    report = context.run(tuple(overlay), overlay, max(context.seconds, ONE_RUN, SLOWER * wall), tree)
    if report is None:
        return []  # nothing is known of inverted tests that do not run
    return [(_cases(report, path, name), report.having("passed")) for path, (_, names) in made.items() for name in names]


def _cases(report: TestReport, path: str, name: str) -> frozenset[str]:
    """The tests of a file that have this name: one or more cases."""
    return frozenset(test for test in report.ids if file_of(report, test) == path and is_named(test, name))


def _seen(context: ProbeContext, mutant: Mutant, files: tuple[str, ...], seconds: float) -> TestReport | None:
    """The report of these test files on a mutant; None if they did not run to the end."""
    report = context.run(files, {mutant.path: bytes_of(mutant.make())}, seconds)
    return None if report is None or report.late else report


def probe_vacuous(context: ProbeContext, now: TestReport, tests: frozenset[str]) -> Probed:
    """Try whether passing tests check no answer at all: inverted expectations do not make them fail, nor does any mutant."""
    left = tests - fail_inverted(context, now, tests) if tests else tests
    files = _files(now, left)
    if not left or not (tried := candidates(context, _text(context, files))):
        return Probed()
    clock = Clock(context.clock() + context.seconds, max(ONE_RUN, SLOWER * now.wall), context.clock)
    return _try(context, tried, files, left, {}, clock)


def _killed(context: ProbeContext, mutants: list[Mutant], files: tuple[str, ...], clock: Clock) -> bool:
    """Whether a test kills one of these mutants in the time left. A file that does not load is not a kill."""
    for mutant in mutants:
        if (left := clock.left()) <= 0:
            return False
        report = _seen(context, mutant, files, left)
        if report and {test for test in report.bad - context.reference.baseline if test not in report.files.values()}:
            return True
    return False


def _try(
    context: ProbeContext,
    mutants: list[Mutant],
    files: tuple[str, ...],
    new: frozenset[str],
    together: dict[str, frozenset[str]],
    clock: Clock,
) -> Probed:
    """Try mutants until each test has killed one, too many survive in a row, or the time is up."""
    idle, count, vain, seen, table = new, 0, 0, list[tuple[Mutant, TestReport]](), table_in(context)
    for mutant in mutants[:MOST_TRIED]:
        if (left := clock.left()) <= 0:
            return Probed(count, why=f"{context.seconds:.0f} s were not enough for {len(mutants)} small changes to the code")
        report = _seen(context, mutant, files, left)
        if report and report.ids & new:
            failed = frozenset[str]().union(*(together.get(test, {test}) for test in report.bad))
            rest = frozenset(vacuous_of(idle, failed, table))
            seen.append((mutant, report))
            count, vain, idle = count + 1, 0 if rest != idle else vain + 1, rest
        if not idle or vain == MOST_IN_VAIN:
            break
    if not (idle := frozenset(still_vacuous(context, idle, files, clock.left()))):
        return Probed(count)
    for mutant, report in sorted(seen, key=lambda tried: len(tried[1].bad))[:MOST_KEPT]:
        about = [f"vacuous-test {test}" for test in sorted(idle)]
        context.tried(
            trial_of(
                context, about, f"a small change to {mutant.place}", result_in_words(report), {mutant.path: bytes_of(mutant.make())}, files
            )
        )
    return Probed(count, tuple(sorted(idle))) if count else Probed(why="no small change to the code written for them could be run")
