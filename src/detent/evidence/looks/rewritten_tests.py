"""Flags for older tests that a change rewrites, removes, renames or moves: which are questions, and which only notes.

Compares the tests' text on both sides; `probes/weakened.py` judges whether a test was weakened.
"""

import re
from collections.abc import Iterator, Mapping

from detent.evidence.looks.new_data import asked_by_new_data
from detent.evidence.looks.old_tests import MOST_SHOWN, OlderTests, altered_lines
from detent.evidence.looks.repo_look import RepoLook
from detent.evidence.outcomes.flaky import flag_warned
from detent.evidence.outcomes.outcomes import Outcomes, describe_successors, file_of
from detent.evidence.outcomes.shared_test_files import flag_shared_files
from detent.evidence.outcomes.successors import in_its_place
from detent.evidence.probes.context import ProbeContext
from detent.evidence.probes.noticed_lines import Noticed
from detent.evidence.probes.weakened import compare_noticed
from detent.evidence.report import TestReport
from detent.evidence.source.diff import Rewritten
from detent.evidence.source.reworded import is_renamed, is_reworded
from detent.evidence.source.test_blocks import blocks
from detent.evidence.source.test_ids import family, is_named
from detent.evidence.source.test_lines import lines_of_test, only_seem_removed, tests_around, tests_on
from detent.evidence.source.weaker_form import asks_for_less, dropped_expectations
from detent.kernel.model import Flag

WORDS = re.compile(r"[^\W\d]\w*")
CALLED_OTHERWISE = frozenset({"TypeError", "AttributeError", "ImportError", "ModuleNotFoundError", "NameError", "NoMethodError"})


def flag_rewritten(look: RepoLook, seen: Outcomes, before: TestReport, old: OlderTests, context: ProbeContext | None) -> list[Flag]:
    """Flags for older tests whose expectation changed or was removed: questions, unless new tests prove the same change of behaviour."""
    moved = [Flag("rewritten-test", f"{was} became {now}, with different content", now) for was, now in _moved_otherwise(look, seen)]
    moved += [*flag_warned(old.warned, old.report), *_weaker(look, before, old), *_dropped(look, seen, before, old, context)]
    old = old._replace(backed=old.backed | asked_by_new_data(look, before, old.broken - old.backed))
    if not old.broken and not (seen.lost - old.passing):
        return moved[:MOST_SHOWN]
    hunks = _lines_of(look, before, old)
    alone = {file_of(before, test) for test in old.broken - old.backed}
    asked = [each for each in hunks if _let_go(each, old) or (each.place.rpartition(":")[0] in alone and not _follows(look, each))]
    flags = [
        _rewritten_flag(look, each, each in asked, _let_go(each, old))
        for each in sorted(hunks, key=lambda each: each not in asked)[:MOST_SHOWN]
    ]
    out = sorted(seen.lost - old.passing)
    flags += moved[:MOST_SHOWN]
    unshown = {test for test in old.broken - seen.lost if file_of(before, test) not in {each.place.rpartition(":")[0] for each in hunks}}
    flags += flag_shared_files(look.changes.patch(), old.shared, unshown, bool(unshown - old.backed)) if old.shared else []
    asked_out = {family(test) for test in out if test not in old.backed}
    tests = sorted({family(test) for test in out}, key=lambda test: test not in asked_out)  # a table counts as one test
    taken_out = "was removed; it would fail with this change"
    return flags + [
        Flag("rewritten-test", f"{test} {taken_out}", test, level="ask" if test in asked_out else "note") for test in tests[:MOST_SHOWN]
    ]


def _weaker(look: RepoLook, before: TestReport, old: OlderTests) -> list[Flag]:
    """Flags for older tests that check less now although their old version still passes, so there was no need for it."""
    words = "an older test checks less than before, although the old version still passes"
    files = {file_of(before, test) for test in old.passing}
    return [
        Flag("rewritten-test", words, each.place, each.before, each.after)
        for each in look.rewritten()
        if each.place.rpartition(":")[0] in files and asks_for_less(each) and _is_about(look, each, old.passing) and not _stands(look, each)
    ]


def _dropped(look: RepoLook, seen: Outcomes, before: TestReport, old: OlderTests, context: ProbeContext | None) -> Iterator[Flag]:
    """A flag for each older test that dropped an expectation that still holds; a note if the tests still notice what they noticed before."""
    passing, found = old.passing - seen.lost - seen.replaced.keys(), dict[str, Rewritten]()  # `flag_replaced` covers the others
    for each in dropped_expectations(look.changes.patch(), lambda path: look.changes.sort(path) == "test"):
        path, _, line = each.place.rpartition(":")
        within = tests_around(path, look.changes.text(path)(look.changes.good), int(line))
        tests = {test for test in passing if file_of(before, test) == path and any(is_named(test, name) for name in within)}
        if tests:
            found.setdefault(min(tests), each)
    same = compare_noticed(context, before, *_in_their_place(look, before, found)).same if context and found else frozenset[str]()
    for test, each in found.items():
        words = "an older test no longer checks something that still works"
        words += "; the tests of its file still fail for every small change to the code that it caught" if test in same else ""
        yield Flag("rewritten-test", words, each.place, each.before, each.after, level="note" if test in same else "ask")


def _in_their_place(look: RepoLook, before: TestReport, found: Mapping[str, Rewritten]) -> tuple[dict[str, frozenset[str]], dict[str, str]]:
    """For each of these tests, the tests that its file has now; and by file, the old text of the tests, which says what code they are about."""
    now, around = look.tests(), dict[str, str]()
    for each in found.values():
        path, _, line = each.place.rpartition(":")
        around[path] = around.get(path, "") + lines_of_test(path, look.changes.text(path)(look.changes.good), int(line))
    there = {path: frozenset(test for test in now.ids if file_of(now, test) == path) for path in around}
    return {test: there[file_of(before, test)] for test in found}, around


def _lines_of(look: RepoLook, before: TestReport, old: OlderTests) -> list[Rewritten]:
    """The removed lines of tests whose old version fails: expectations, or all lines of a test without any, since each may hold one.

    If the old version of a test fails only because something has a new name, its lines without an expectation are left out.
    """
    files = {file_of(before, test) for test in old.broken} - {c.path for c in look.changed() if c.how == "deleted"}
    hunks = [
        each
        for each in look.rewritten()
        if each.place.rpartition(":")[0] in files and _is_about(look, each, old.broken) and not _stands(look, each)
    ]
    silent = frozenset(
        test
        for test in old.broken
        if test in old.report.bad  # it ran; a file that does not load uses an old name
        and old.report.kinds.get(test, "").rpartition(".")[2] not in CALLED_OTHERWISE
        and not any(each.place.rpartition(":")[0] == file_of(before, test) and _is_about(look, each, frozenset({test})) for each in hunks)
    )
    beside = {file_of(before, test) for test in silent} & files
    return hunks + [each for each in altered_lines(look) if each.place.rpartition(":")[0] in beside and _is_about(look, each, silent)]


def _let_go(rewritten: Rewritten, old: OlderTests) -> str:
    """A changed function that the removed lines named, that the new lines do not, and that no test notices any more; empty if there is none."""
    was, now = (frozenset(WORDS.findall(text)) for text in (rewritten.before, rewritten.after))
    return min(old.unnoticed & (was - now), default="")


def _rewritten_flag(look: RepoLook, rewritten: Rewritten, asked: bool, let_go: str) -> Flag:
    if let_go:
        words = f"an older test no longer checks {let_go}, which was changed and which no test covers now"
        return Flag("rewritten-test", words, rewritten.place, rewritten.before, rewritten.after)
    words = "the expectation of an older test changed: the old version fails with this change"
    if not asked and _is_reworded(look, rewritten):
        words = "a message is worded differently, in the code and in an older test"
    elif not asked and _is_renamed(look, rewritten):
        words = "something was renamed, in the code and in an older test"
    return Flag("rewritten-test", words, rewritten.place, rewritten.before, rewritten.after, level="ask" if asked else "note")


def _is_reworded(look: RepoLook, rewritten: Rewritten) -> bool:
    return is_reworded(rewritten, look.changes.patch(), lambda path: look.changes.sort(path) == "production")


def _follows(look: RepoLook, rewritten: Rewritten) -> bool:
    """Whether a test only follows a rewording or renaming in the code."""
    return _is_reworded(look, rewritten) or _is_renamed(look, rewritten)


def _is_renamed(look: RepoLook, rewritten: Rewritten) -> bool:
    return is_renamed(rewritten, look.changes.patch(), lambda path: look.changes.sort(path) == "production")


def _is_about(look: RepoLook, rewritten: Rewritten, broken: frozenset[str]) -> bool:
    """Whether removed lines may belong to a broken test: they are not inside another one."""
    path, lines = _place(rewritten)
    within = tests_on(path, look.changes.text(path)(look.changes.good), lines)
    return not within or any(is_named(test, name) for test in broken for name in within)


def _stands(look: RepoLook, rewritten: Rewritten) -> bool:
    """Whether the tests around removed lines are in fact unchanged."""
    path, lines = _place(rewritten)
    text = look.changes.text(path)
    return only_seem_removed(path, text(look.changes.good), text(look.changes.tree), lines)


def _place(rewritten: Rewritten) -> tuple[str, range]:
    """The file, and the line numbers in the base."""
    path, _, line = rewritten.place.rpartition(":")
    return path, range(int(line), int(line) + rewritten.before.count("\n") + 1)


def flag_replaced(look: RepoLook, seen: Outcomes, before: TestReport, context: ProbeContext | None) -> list[Flag]:
    """Flags for older tests that others replaced: notes, or questions if the replacements notice less."""
    less = compare_noticed(context, before, seen.replaced).less if context else frozenset[str]()
    found = sorted(seen.replaced.items(), key=lambda each: (each[0] not in less, each[0]))
    return [
        Flag(
            "rewritten-test",
            describe_successors(was, seen, was in less),
            min(now),
            *(in_its_place(look.changes.patch(), was, min(now)) or ("", "")),
            level="ask" if was in less else "note",
        )
        for was, now in found[:MOST_SHOWN]
    ]


def beside_new_tests(old: OlderTests, new: frozenset[str], noticed: Noticed, seen: Outcomes) -> OlderTests:
    """Fill in `backed` and `unnoticed` from the new tests and the mutants.

    A rewritten test is backed if a new test notices mutants at the same place, so the change of behaviour has its own proof, or if its replacement
    needs the change. A row removed from a table counts with the remaining rows.
    """
    families = [{family(test) for test in by} for by in noticed.by.values() if by & new]
    beside = {test for test in old.broken if any(family(test) in by for by in families)}
    backed = beside | {test for test in old.broken if seen.replaced.get(test, frozenset()) & new}
    names = (place.rpartition(": ")[2].rpartition(".")[2] for place in noticed.unnoticed)
    return old._replace(backed=frozenset(backed), unnoticed=frozenset(names))


def _moved_otherwise(look: RepoLook, seen: Outcomes) -> Iterator[tuple[str, str]]:
    """The tests that moved to another file and changed on the way: old id and new id."""
    before, now = look.tests_before(), look.tests()
    for was, new in sorted(seen.moved.items()):
        files = (file_of(before, was), look.changes.good), (file_of(now, new), look.changes.tree)
        words = [
            [text for name, text in blocks(path, look.changes.text(path)(tree)).items() if is_named(was, name)] for path, tree in files
        ]
        if words[0] and words[0] != words[1]:
            yield was, new
