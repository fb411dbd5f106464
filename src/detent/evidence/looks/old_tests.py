"""Runs the base's version of the tests on the tip: which still pass, what is certainly wrong, and what only seems so.

Owns which failures of older tests count against a change; other modules raise the remaining flags.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from detent.evidence.looks.repo_look import RepoLook
from detent.evidence.outcomes.flaky import failing_before, flag_flaky, only_warned, passing_again
from detent.evidence.outcomes.outcomes import Outcomes, describe_weakened, file_of
from detent.evidence.outcomes.shared_test_files import shared_files
from detent.evidence.probes.context import ProbeContext
from detent.evidence.probes.successors_tried import RemovedTests, flag_successors, successors_by_mutants
from detent.evidence.probes.weakened import weakened
from detent.evidence.report import TestReport
from detent.evidence.running.collect import Collector, Wanted
from detent.evidence.source.diff import Rewritten, altered
from detent.kernel.model import Flag

MOST_SHOWN = 5  # entries per kind: nobody reads long lists


class OlderTests(NamedTuple):
    """The results of running the base's version of the tests on the tip."""

    passing: frozenset[str] = frozenset()
    broken: frozenset[str] = frozenset()  # passed before, or pass now only because they were rewritten
    backed: frozenset[str] = frozenset()  # broken tests for which new tests prove the same change of behaviour
    report: TestReport = TestReport()
    shared: tuple[str, ...] = ()  # changed files without tests of their own, which had their old version in this run
    older: Mapping[str, bytes] = MappingProxyType({})  # the old files that were laid over the tip
    unnoticed: frozenset[str] = frozenset()  # names of changed functions that no test of the tip notices
    warned: frozenset[str] = frozenset()  # stopped only by a warning: what they expect still holds


def old_tests(collector: Collector, look: RepoLook, wanted: Wanted) -> OlderTests:
    """Run the old version of tests on the tip, if lines were removed from them or files that they share changed."""
    before = look.tests_before()
    touched = {each.place.rpartition(":")[0] for each in altered_lines(look)}
    lost_files = {file_of(before, test) for test in look.outcomes().lost}
    holding = set(before.files.values())
    shared = shared_files(look.changed(), holding)
    files = tuple(sorted((touched | lost_files) & holding))
    if not files and not shared:
        return OlderTests()
    every = [
        c.path for c in look.changed() if shared and c.sort == "test" and c.how != "added" and not c.inside
    ]  # old test files only fit together
    overlay = {path: look.changes.git.read(look.changes.good, path) or b"" for path in (*files, *every, *shared)}
    seen = collector.clean(look.tree, wanted, () if shared else files, overlay)
    old = frozenset(test for test in before.having("passed") if shared or file_of(before, test) in files)
    fixed = before.bad & seen.bad & look.tests().having("passed")  # failed before, and passes only because its expectation changed
    broken = (old - seen.having("passed", "skipped")) | fixed
    warned = only_warned(collector, look.tree, overlay, seen, broken - look.outcomes().lost, wanted)
    return OlderTests(old & seen.having("passed"), broken - warned, report=seen, shared=shared, older=overlay, warned=warned)


def altered_lines(look: RepoLook) -> tuple[Rewritten, ...]:
    """All changed or removed lines of older tests, whether they look like expectations or not."""
    return altered(look.changes.patch(), lambda path: look.changes.sort(path) == "test")


class Judging(NamedTuple):
    """What `certain_failures` needs to tell what is certainly wrong."""

    collector: Collector
    look: RepoLook
    wanted: Wanted
    context: ProbeContext


def certain_failures(judging: Judging, seen: Outcomes, old: OlderTests) -> tuple[tuple[str, ...], list[Flag]]:
    """Sentences about what is certainly wrong, and flags for tests that only seem lost or are flaky."""
    collector, look, wanted, context = judging
    successors = successors_by_mutants(
        context, look.tests(), look.tests_before(), RemovedTests(seen.lost & old.passing, old.older, look.changes.patch())
    )
    flaky = passing_again(collector, look.changes, seen.newly_failing - look.known_failures(), wanted)
    left = seen._replace(lost=seen.lost - successors.keys(), newly_failing=seen.newly_failing - flaky)
    before = failing_before(collector, look.changes, {test: file_of(look.tests(), test) for test in flaky}, wanted)
    flags = [*flag_flaky(flaky, seen.flaky, before)[:MOST_SHOWN], *flag_successors(look.changes.patch(), successors)[:MOST_SHOWN]]
    return tuple(_failures(look, left, old, context)), flags


def _failures(look: RepoLook, seen: Outcomes, old: OlderTests, context: ProbeContext) -> Iterator[str]:
    """Sentences about new failures, and about skipped, removed and weakened tests."""
    known = look.known_failures()
    for test in sorted(seen.newly_failing - known)[:MOST_SHOWN]:
        reason = look.why(test).sentence
        yield f"{test} {'passed before and fails now' if test in seen.regressions else 'fails'} in a clean checkout of the branch: {reason}"
    for test in sorted(seen.skipped - look.known_skips())[:MOST_SHOWN]:
        yield f"{test} ran before and is skipped now"
    for test in sorted(seen.lost & old.passing)[:MOST_SHOWN]:
        yield f"{test} is gone, but would still pass; tests must not be removed"
    for test in weakened(context, look.tests(), look.tests_before(), seen.replaced)[:MOST_SHOWN]:
        yield describe_weakened(test, seen)
