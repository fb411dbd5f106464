"""Tests that are gone though what they ask for still holds: whether those that came in their place notice what they noticed.

A test that got another name and other words, or became a row of a table, is not lost. It goes by what fails: each small change of the code
that the test failed for must make a test fail that this change wrote. Owns which changes are tried, and what is said; knows no gates.
"""

import re
import time
from collections.abc import Iterator, Mapping
from itertools import chain, zip_longest
from typing import NamedTuple

from detent.evidence.bite import Teeth
from detent.evidence.ids import family
from detent.evidence.mutate import bodies_on, spots_on
from detent.evidence.mutate.turned import is_named
from detent.evidence.outcomes import file_of
from detent.evidence.report import TestReport
from detent.evidence.rewritten import hunks
from detent.evidence.test_blocks import HEAD, blocks
from detent.evidence.weakened import changed_older, failing, speaking_of
from detent.kernel.model import Flag

ENOUGH = 4  # changes that a test failed for: if tests of the change fail for all of them, it was replaced
MOST_TRIED = 24
MOST_OF_ONE = 6  # small changes of one function
MOST_LINES = 12  # of each version that is shown


class Gone(NamedTuple):
    """Tests that are not there any more and would pass, and the files as they were that they need."""

    tests: frozenset[str]
    older: Mapping[str, bytes]


def replaced(teeth: Teeth, now: TestReport, before: TestReport, gone: Gone) -> dict[str, frozenset[str]]:
    """Each of the tests for which tests of this change stand, and which these are."""
    wrote = {c.path for c in teeth.changed if c.sort == "test" and c.how != "deleted"}
    heirs = frozenset(t for t in now.having("passed") - before.ids if file_of(now, t) in wrote) | changed_older(teeth, now, before)
    if not gone.tests or not heirs:
        return {}
    files, new = (tuple(sorted({file_of(of, t) for t in tests})) for of, tests in ((before, gone.tests), (now, heirs)))
    until, by, count, open_ = time.monotonic() + teeth.seconds, dict[str, set[str]](), dict[str, int](), set(gone.tests)
    for path, text in _mutants(teeth, _words(teeth, before, gone.tests)):
        if not open_ or time.monotonic() > until:
            break
        failed = open_ & (failing(teeth, files, {**gone.older, path: text}) or frozenset())
        bad = failing(teeth, new, {path: text}) if failed else None
        if bad is None or (not bad & heirs and bad & set(new)):
            continue  # what does not run or load says nothing
        for test in failed:
            by.setdefault(test, set()).update(bad & heirs)
            count[test] = count.get(test, 0) + 1
        open_ -= {test for test in failed if not bad & heirs or count[test] >= ENOUGH}
        by = {test: found for test, found in by.items() if bad & heirs or test not in failed}
    return {test: frozenset(found) for test, found in by.items()}


def told_replaced(patch: bytes, found: Mapping[str, frozenset[str]]) -> list[Flag]:
    """What a person should see: a test in whose place another one stands is a note; one that others stand for somewhere is asked about."""
    flags = dict[str, Flag]()
    for test, heirs in sorted(found.items()):
        own = min(heirs)
        places = [(heir, shown) for heir in sorted(heirs) if (shown := _in_its_place(patch, test, heir))]
        if places:
            heir, (was, is_) = places[0]
            said = f"{family(test)} became {family(heir)}, which fails for the small changes of the code that it failed for"
            flags[family(test)] = Flag("rewritten-test", said, heir, was, is_, level="note")
        else:
            said = f"{family(test)} is gone, though what it asks for still holds; {family(own)} fails for the small changes of the code that it failed for"
            flags.setdefault(family(test), Flag("rewritten-test", said, own))
    return list(flags.values())


def _in_its_place(patch: bytes, test: str, heir: str) -> tuple[str, str] | None:
    """Both versions, where the lines that begin a test became those that begin another one of the same file."""
    for hunk in hunks(patch):
        if test.startswith(f"{hunk.path}::") and heir.startswith(f"{hunk.path}::") and _begins(hunk.gone, test) and _begins(hunk.new, heir):
            return "\n".join(hunk.gone[:MOST_LINES]), "\n".join(hunk.new[:MOST_LINES])
    return None


def _begins(lines: tuple[str, ...], test: str) -> bool:
    heads = [found for line in lines if (found := HEAD.match(line))]
    return any(is_named(test, name) for found in heads for key, name in found.groupdict().items() if name and key != "quote")


def _words(teeth: Teeth, before: TestReport, tests: frozenset[str]) -> set[str]:
    """The names that these tests speak of; those of their files where the words of the tests alone cannot be had."""
    said = list[str]()
    for path in {file_of(before, test) for test in tests}:
        text = (teeth.git.read(teeth.marks.good, path) or b"").decode("utf-8", "replace")
        own = [words for name, words in blocks(path, text).items() if any(is_named(test, name) for test in tests)]
        said += own or [text]
    return {word for word in re.findall(r"[A-Za-z_]\w{2,}", "\n".join(said)) if not word.startswith("test")}


def _mutants(teeth: Teeth, words: set[str]) -> Iterator[tuple[str, bytes]]:
    """Small changes of the functions that the tests name: first that each answers something else altogether, then what stands in each, by turns."""
    whole, parts = list[tuple[str, bytes]](), list[Iterator[tuple[str, bytes]]]()
    for path in speaking_of(teeth, words):
        text = (teeth.git.read(teeth.tree, path) or b"").decode("utf-8", "replace")
        for body in bodies_on(path, text, range(1, text.count("\n") + 2)):
            if body.name in words and len(whole) < MOST_TRIED:
                whole.append((path, body.make().encode()))
                found = [*spots_on(path, text, range(body.first, body.last + 1))]
                parts.append(iter([(path, spot.make().encode()) for spot in found[:: max(1, len(found) // MOST_OF_ONE)][:MOST_OF_ONE]]))
    turns = (each for turn in zip_longest(*parts) for each in turn if each is not None)
    for n, mutant in enumerate(chain(whole, turns)):
        if n >= MOST_TRIED:
            return
        yield mutant
