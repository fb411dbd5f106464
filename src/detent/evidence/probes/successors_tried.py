"""Successors of deleted tests that would still pass, found by mutants.

A test that was renamed and reworded, or became a row of a table, is not lost: each mutant that it killed should be killed by a test that this
change wrote. If no such mutant is found, `outcomes/successors.py` decides by comparing text. Owns which mutants are tried, and the flags. Must
not know gates.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice, zip_longest
from typing import NamedTuple

from detent.evidence.mutate import bodies_on, spots_on
from detent.evidence.mutate.spot import FunctionBody
from detent.evidence.outcomes.outcomes import file_of
from detent.evidence.outcomes.successors import in_its_place
from detent.evidence.probes.context import ProbeContext
from detent.evidence.probes.mutant_order import changed_lines, is_tried
from detent.evidence.probes.weakened import changed_older, failing, speaking_of
from detent.evidence.report import TestReport
from detent.evidence.source.file_text import bytes_of
from detent.evidence.source.test_blocks import blocks
from detent.evidence.source.test_ids import family, is_named
from detent.kernel.model import Flag

ENOUGH = 4  # mutants that a test killed: if tests of the change kill all of them, it was replaced
MOST_TRIED = 30
PATIENCE = 6  # extra time, in runs of the suite, for a busy machine
MOST_NEAR = 12  # functions tried first
MOST_PARTS = 10
MOST_OF_ONE = 4  # mutants of one function
FAR = 3  # rank of a function that the tests do not name and the change did not touch


class RemovedTests(NamedTuple):
    """Deleted tests that would still pass, the old versions of the files they need, and the patch."""

    tests: frozenset[str]
    older: Mapping[str, bytes]
    patch: bytes


class Successors(NamedTuple):
    """The tests of a change that kill the mutants a deleted test killed."""

    tests: frozenset[str]
    tried: int = 0  # mutants that the deleted test killed; 0: none was found in time
    missed: int = 0  # those that none of the new tests kills


def successors_by_mutants(context: ProbeContext, now: TestReport, before: TestReport, removed: RemovedTests) -> dict[str, Successors]:
    """The deleted tests that tests of this change replace, each with its successors."""
    wrote = {c.path for c in context.changed if c.sort == "test" and c.how != "deleted"}
    added = frozenset(t for t in now.having("passed") - before.ids if file_of(now, t) in wrote) | changed_older(context, now, before)
    if not removed.tests or not added:
        return {}
    files, new = (tuple(sorted({file_of(of, t) for t in tests})) for of, tests in ((before, removed.tests), (now, added)))
    until, found, open_ = context.clock() + context.seconds + PATIENCE * now.wall, dict[str, Successors](), set(removed.tests)
    for path, text in _mutants(context, _words(context, before, removed.tests)):
        if not open_ or context.clock() > until:
            break
        failed = open_ & (failing(context, files, {**removed.older, path: text}) or frozenset())
        bad = failing(context, new, {path: text}) if failed else None
        if bad is None or (not bad & added and bad & set(new)):
            continue  # tests that do not run or load say nothing
        for test in failed:
            was = found.get(test, Successors(frozenset()))
            found[test] = Successors(was.tests | (bad & added), was.tried + 1, was.missed + (not bad & added))
        open_ -= {test for test in failed if found[test].tried >= ENOUGH}
    unsure = removed.tests - found.keys()
    placed = {test: Successors(same) for test in unsure if (same := frozenset(h for h in added if in_its_place(removed.patch, test, h)))}
    return {test: of for test, of in found.items() if of.tests} | placed


def flag_successors(patch: bytes, found: Mapping[str, Successors]) -> list[Flag]:
    """A flag for each replaced test: a note if its successor is in its place or file and notices as much, else a question."""
    flags = dict[str, Flag]()
    for test, successors in sorted(found.items()):
        places = [(new_test, versions) for new_test in sorted(successors.tests) if (versions := in_its_place(patch, test, new_test))]
        seen = _kills_in_words(successors)
        if places:
            new_test, (was, is_) = places[0]
            sentence = f"{family(test)} became {family(new_test)}; {seen}"
            flags[family(test)] = Flag(
                "rewritten-test", sentence, new_test, was, is_, level="ask" if successors.missed or not successors.tried else "note"
            )
        else:
            sentence = f"{family(test)} is gone, but would still pass; {seen}"
            beside = any(new_test.partition("::")[0] == test.partition("::")[0] for new_test in successors.tests)
            noticed = beside and successors.tried >= ENOUGH and not successors.missed
            flags.setdefault(family(test), Flag("rewritten-test", sentence, min(successors.tests), level="note" if noticed else "ask"))
    return list(flags.values())


def _kills_in_words(successors: Successors) -> str:
    if not successors.tried:
        return "no small change to the code was found that it failed for, so it is unknown whether its replacement checks as much"
    all_ = f"all {successors.tried} small changes" if successors.tried > 1 else "the one small change"
    some = f"only {successors.tried - successors.missed} of the {successors.tried} small changes"
    return f"tests of this change fail for {some if successors.missed else all_} to the code that it failed for"


def _words(context: ProbeContext, before: TestReport, tests: frozenset[str]) -> set[str]:
    """The names that these tests use; those of their whole files if their bodies cannot be found."""
    texts = list[str]()
    for path in {file_of(before, test) for test in tests}:
        text = context.text(path, context.reference.good)
        own = [words for name, words in blocks(path, text).items() if any(is_named(test, name) for test in tests)]
        texts += own or [text]
    return {word for word in re.findall(r"[A-Za-z_]\w{2,}", "\n".join(texts)) if not word.startswith("test")}


def _mutants(context: ProbeContext, words: set[str]) -> Iterator[tuple[str, bytes]]:
    """Mutants of the code that the tests are about: functions that return something else entirely, and mutations inside the likeliest, in turns."""
    ranked = sorted(_ranked(context, words), key=lambda each: each[0])
    near = [each for each in ranked if each[0] < FAR][:MOST_NEAR]
    parts = [_parts(path, text, body) for _, path, text, body in near]
    turns = (each for turn in zip_longest(*parts) for each in turn if each is not None)
    far = (each for each in ranked if each[0] == FAR)
    yield from islice(chain(_bodies(near), islice(turns, MOST_PARTS), _bodies(far)), MOST_TRIED)


def _bodies(ranked: Iterable[tuple[int, str, str, FunctionBody]]) -> Iterator[tuple[str, bytes]]:
    return ((path, bytes_of(body.make())) for _, path, _, body in ranked)


def _ranked(context: ProbeContext, words: set[str]) -> Iterator[tuple[int, str, str, FunctionBody]]:
    """The functions of files that the tests use or that changed, ranked: those that the tests name, changed ones, special methods, others."""
    changed = [c.path for c in context.changed if is_tried(context, c)]
    for path in dict.fromkeys((*speaking_of(context, words), *changed)):
        old, text = (context.text(path, tree) for tree in (context.reference.good, context.tree))
        new = changed_lines(old, text) if path in changed else frozenset[int]()
        for body in bodies_on(path, text, range(1, text.count("\n") + 2)):
            is_new = any(body.first <= line <= body.last for line in new)
            rank = 0 if body.name in words else 1 if is_new else 2 if body.name.startswith("__") else FAR
            yield rank, path, text, body


def _parts(path: str, text: str, body: FunctionBody) -> Iterator[tuple[str, bytes]]:
    """A few mutants of a function, spread evenly over it."""
    found = [*spots_on(path, text, range(body.first, body.last + 1))]
    return ((path, bytes_of(spot.make())) for spot in found[:: max(1, len(found) // MOST_OF_ONE)][:MOST_OF_ONE])
