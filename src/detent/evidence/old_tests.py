"""The tests as the base had them, run on the tip: what of them holds there, what is certainly wrong, and what only seems so.

Owns what of older tests is held against a change; what else a person should see is told elsewhere.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from detent.evidence.bite import Teeth
from detent.evidence.collect import Collector, Wanted
from detent.evidence.come_and_go import passing_again, told_of_both
from detent.evidence.eyes import RepoLook
from detent.evidence.outcomes import Outcomes, file_of, told_weakened
from detent.evidence.replaced import Gone, replaced, told_replaced
from detent.evidence.report import TestReport
from detent.evidence.shared_by_tests import shared_files
from detent.evidence.weakened import weakened
from detent.kernel.model import Flag

MOST_SHOWN = 5  # places of one kind: a list that people learn to skip is worth nothing


class Old(NamedTuple):
    """The tests as the base had them, run on the tip: which of them still pass there, and which do not."""

    passing: frozenset[str] = frozenset()
    broken: frozenset[str] = frozenset()  # those that passed, or that pass only since they say something else now
    backed: frozenset[str] = frozenset()  # of the broken: new tests ask for the same change of behaviour
    report: TestReport = TestReport()
    shared: tuple[str, ...] = ()  # files without tests of their own that were changed, and that are as they were here
    older: Mapping[str, bytes] = MappingProxyType({})  # the files as they were


def old_tests(collector: Collector, look: RepoLook, wanted: Wanted) -> Old:
    """Whether what older tests asked for still holds: only where lines of theirs were taken out, or what they share was changed."""
    before = look.tests_before()
    touched = {each.place.rpartition(":")[0] for each in look.rewritten()}
    gone = {file_of(before, test) for test in look.outcomes().lost}
    holding = set(before.files.values())
    shared = shared_files(look.changed(), holding)
    files = tuple(sorted((touched | gone) & holding))
    if not files and not shared:
        return Old()
    every = [
        c.path for c in look.changed() if shared and c.sort == "test" and c.how != "added" and not c.inside
    ]  # they fit each other only
    overlay = {path: look.changes.git.read(look.changes.good, path) or b"" for path in (*files, *every)}
    seen = collector.clean(look.tree, wanted, () if shared else files, overlay)
    old = frozenset(test for test in before.having("passed") if shared or file_of(before, test) in files)
    fixed = before.bad & seen.bad & look.tests().having("passed")  # it failed, and only another expectation makes it pass
    return Old(old & seen.having("passed"), (old - seen.having("passed", "skipped")) | fixed, report=seen, shared=shared, older=overlay)


class Judging(NamedTuple):
    """What it takes to tell what is certainly wrong."""

    collector: Collector
    look: RepoLook
    wanted: Wanted
    teeth: Teeth


def certain(judging: Judging, seen: Outcomes, old: Old) -> tuple[tuple[str, ...], list[Flag]]:
    """What is certainly wrong; and what is said of tests that only seem lost, or that fail only sometimes."""
    collector, look, wanted, teeth = judging
    heirs = replaced(teeth, look.tests(), look.tests_before(), Gone(seen.lost & old.passing, old.older, look.changes.patch()))
    calm = passing_again(collector, look, seen.newly_failing - look.known_failures(), wanted)
    left = seen._replace(lost=seen.lost - heirs.keys(), newly_failing=seen.newly_failing - calm)
    flags = [*told_of_both(calm)[:MOST_SHOWN], *told_replaced(look.changes.patch(), heirs)[:MOST_SHOWN]]
    return tuple(_failures(look, left, old, teeth)), flags


def _failures(look: RepoLook, seen: Outcomes, old: Old, teeth: Teeth) -> Iterator[str]:
    """What is certainly wrong."""
    known = look.known_failures()
    for test in sorted(seen.newly_failing - known)[:MOST_SHOWN]:
        said = look.why(test).sentence
        yield f"{test} {'passed before and fails now' if test in seen.regressions else 'fails'} in a clean checkout of the branch: {said}"
    for test in sorted(seen.skipped - look.known_skips())[:MOST_SHOWN]:
        yield f"{test} ran before and is skipped now"
    for test in sorted(seen.lost & old.passing)[:MOST_SHOWN]:
        yield f"{test} is gone, though what it asks for still holds; tests may not be lost"
    for test in weakened(teeth, look.tests(), look.tests_before(), seen.replaced)[:MOST_SHOWN]:
        yield told_weakened(test, seen)
