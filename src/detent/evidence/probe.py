"""The probes of new tests: small mutations of the lines that were written for them, one after the other, and their own expectations turned.
A test that fails against no mutation may prove nothing about that code; one that passes when it is made to expect something else proves nothing.

Owns which mutants are tried and for how long; knows no phases and no gates.
"""

import time
from collections.abc import Iterator
from difflib import SequenceMatcher
from itertools import islice
from typing import NamedTuple

from detent.errors import CannotTell, Disturbed
from detent.evidence.bite import PROBE_SECONDS, Teeth
from detent.evidence.look import Probed, TestReport
from detent.evidence.mutate import mutants_on
from detent.evidence.mutate.turned import is_named, turned

MOST_TRIED = 12
MOST_OF_A_FILE = 48
ONE_RUN = 10.0  # seconds: a mutant may loop for ever
LARGEST = 400_000  # characters of a file whose changed lines are looked for


class Mutant(NamedTuple):
    """A file with one small change."""

    path: str
    text: str


def probe(teeth: Teeth, now: TestReport, before: TestReport) -> Probed:
    """What the tests that failed before and pass now say of mutants of the code between."""
    new = _new_tests(now, before, teeth.marks.baseline)
    if not new:
        return Probed()
    tried = _spread(list(_mutants(teeth)))
    if not tried:
        return Probed(why="no line of the code written for them has a small change to try")
    files = tuple(sorted({_file(now, test) for test in new}))
    return _try(teeth, tried, files, new, _together(teeth, now, before, new))


def _new_tests(now: TestReport, before: TestReport, baseline: frozenset[str]) -> frozenset[str]:
    """Tests that this code was written for; a file that could not be collected before stands for its tests."""
    red = before.bad - baseline
    return frozenset(test for test in now.having("passed") if test in red or now.files.get(test) in red)


def agreeing(teeth: Teeth, now: TestReport, before: TestReport) -> tuple[str, ...]:
    """New tests that pass although each of their expectations was turned. A test with several cases is one that does in all of them."""
    files = {test: _file(now, test) for test in _new_tests(now, before, teeth.marks.baseline)}
    made = {path: turned(path, (teeth.git.read(teeth.tree, path) or b"").decode("utf-8", "replace")) for path in sorted({*files.values()})}
    overlay = {path: text.encode() for path, (text, names) in made.items() if names}
    if not overlay:
        return ()
    try:
        report = teeth.collect.probe(teeth.tree, teeth.wanted, tuple(overlay), overlay, PROBE_SECONDS)
    except Disturbed:
        raise
    except CannotTell:
        return ()  # turned tests that do not run say nothing
    cases = {(path, name): _cases(report, path, name) for path, (_, names) in made.items() for name in names}
    agree = frozenset[str]().union(*(ids for ids in cases.values() if ids <= report.having("passed")))
    return tuple(sorted(agree & files.keys()))


def _cases(report: TestReport, path: str, name: str) -> frozenset[str]:
    """The tests of a file that a name stands for."""
    return frozenset(test for test in report.ids if _file(report, test) == path and is_named(test, name))


def _together(teeth: Teeth, now: TestReport, before: TestReport, new: frozenset[str]) -> dict[str, frozenset[str]]:
    """Which tests answer for each other: nobody can tell the new ones of an older file that could not be loaded before from the others."""
    marks = teeth.marks
    earlier = (marks.base, *(red for red in marks.reds if red != marks.good))
    unloaded = {file for test in new if test not in before.ids and (file := _file(now, test)) in before.bad}
    older = {file for file in unloaded if any(teeth.git.read(tree, file) is not None for tree in earlier)}
    return {test: frozenset(t for t in new if _file(now, t) == _file(now, test)) for test in new if _file(now, test) in older}


def _file(report: TestReport, test: str) -> str:
    return report.files.get(test, test.partition("::")[0])


def _try(teeth: Teeth, mutants: list[Mutant], files: tuple[str, ...], new: frozenset[str], together: dict[str, frozenset[str]]) -> Probed:
    """Until each test has failed against one, nothing is left to try, or the time is up."""
    idle, count, until = new, 0, time.monotonic() + PROBE_SECONDS
    for mutant in mutants:
        left = until - time.monotonic()
        if left <= 0:
            return Probed(count, why=f"{PROBE_SECONDS} s were not enough for {len(mutants)} small changes of the code")
        try:
            report = teeth.collect.probe(teeth.tree, teeth.wanted, files, {mutant.path: mutant.text.encode()}, min(ONE_RUN, left))
        except Disturbed:
            raise
        except CannotTell:
            continue  # this one did not even run, so it says nothing
        if not report.late and report.ids & new:
            count += 1
            idle = idle.difference(*(together.get(test, {test}) for test in report.bad))
        if not idle:
            return Probed(count)
    return Probed(count, tuple(sorted(idle))) if count else Probed(why="no small change of the code written for them could be run")


def _spread(found: list[Mutant]) -> list[Mutant]:
    """A few of many, from the first to the last."""
    step = max(1.0, len(found) / MOST_TRIED)
    return [found[int(at * step)] for at in range(min(MOST_TRIED, len(found)))]


def _mutants(teeth: Teeth) -> Iterator[Mutant]:
    for change in teeth.changed:
        if change.sort != "production" or change.how == "deleted":
            continue
        old, new = ((teeth.git.read(tree, change.path) or b"").decode("utf-8", "replace") for tree in (teeth.marks.good, teeth.tree))
        lines = changed_lines(old, new)
        yield from (Mutant(change.path, text) for text in islice(mutants_on(change.path, new, lines), MOST_OF_A_FILE))


def changed_lines(old: str, new: str) -> frozenset[int]:
    """The numbers of the lines of a text that were not in the older one; none of a file that is too large."""
    if len(old) + len(new) > LARGEST:
        return frozenset()
    found = SequenceMatcher(None, old.splitlines(), new.splitlines(), autojunk=False).get_opcodes()
    return frozenset(line + 1 for kind, _, _, start, end in found if kind != "equal" for line in range(start, end))
