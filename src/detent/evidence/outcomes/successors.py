"""Successors of deleted tests, found by comparing text. Pure.

A new test of the same file is a successor if it uses most of the same names and values, or if its first lines replaced those of the old test.
The other way to find successors is `probes/successors_tried.py`: trying whether the new tests notice what the old one noticed.
"""

import ast
import re
from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple

from detent.evidence.source.diff import hunks
from detent.evidence.source.js_test_tables import TitlePattern, made_by, tables
from detent.evidence.source.test_blocks import HEAD, named_tests, texts_by_heads
from detent.evidence.source.test_ids import SCRIPT, is_named

NAME = re.compile(r"[A-Za-z_$][\w$]+")
TEXT = re.compile(r"""(["'`])((?:\\.|(?!\1)[^\\\n])*)\1""")
NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.])")
MOST_LINES = 12  # shown of each version
LEAST_NAMES = 0.75  # share of the old test's names that a successor must use
LEAST_VALUES = 0.5  # share of its values; lower, since a message may now be composed of parts
COMMON = frozenset({"def", "func", "function", "fn", "test", "assert", "self", "async", "await", "const", "let", "var", "return"})


class WrittenTest(NamedTuple):
    """A test as it is written in a file."""

    key: str  # identifies the test in its file
    source: str  # its text
    made: Callable[[str], bool]  # whether a test id is this test or a row of it
    values_in: str  # the text that may hold its values: the rows of a loop are outside the test


def successors_by_words(path: str, old: str, new: str, lost: Iterable[str], passing: Collection[str]) -> dict[str, frozenset[str]]:
    """The lost tests that have successors, with these: new tests of the same file. `passing`: the file's new tests that pass."""
    before, after = _texts(path, old), _texts(path, new)
    known = {each.key for each in before}
    added = [each for each in after if each.key not in known]
    found = dict[str, frozenset[str]]()
    for test in lost if added else ():
        was = [each for each in before if each.made(test)]
        fits = [each for each in added if len(was) == 1 and resembles(was[0], each) and any(map(each.made, passing))]
        most = max((_shared(was[0], each) for each in fits), default=0)
        best = [each for each in fits if _shared(was[0], each) == most]
        if best:
            found[test] = frozenset(t for each in best for t in passing if each.made(t))
    return found


def _shared(was: WrittenTest, now: WrittenTest) -> int:
    return len(_names(was.source) & _names(now.source)) + len(_values(was.source) & _values(now.values_in))


def resembles(was: WrittenTest, now: WrittenTest) -> bool:
    """Whether a test uses most of the names and values of an older one."""
    names, values = _names(was.source), _values(was.source)
    there = _values(now.values_in)
    if len(names & _names(now.source)) < LEAST_NAMES * len(names) or not names:
        return False
    return len(values & there) >= LEAST_VALUES * len(values)


def _names(text: str) -> set[str]:
    return set(NAME.findall(TEXT.sub('""', text))) - COMMON


def _values(text: str) -> set[str]:
    return {found[2] for found in TEXT.finditer(text)} | set(NUMBER.findall(TEXT.sub('""', text)))


def _texts(path: str, text: str) -> list[WrittenTest]:
    if path.endswith(SCRIPT):
        calls = tables(path, text)
        return [_of_script(text, n, calls) for n in range(len(calls))]
    if not path.endswith(".py"):
        return [_of_block(name, block) for name, block in texts_by_heads(text)]
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError):
        return []
    lines = text.splitlines()
    return [
        _of_block(
            name, "\n".join(lines[min(n.lineno for n in (test, *test.decorator_list)) - 1 : test.end_lineno]).replace(test.name, "", 1)
        )
        for name, test in named_tests(body)
    ]


def _of_script(text: str, number: int, calls: tuple[TitlePattern, ...]) -> WrittenTest:
    call = calls[number]
    return WrittenTest(call.of.pattern, call.text, lambda test: made_by(test, calls) == number, text if call.is_table else call.text)


def _of_block(name: str, text: str) -> WrittenTest:
    return WrittenTest(name, text, lambda test: is_named(test, name), text)


def in_its_place(patch: bytes, test: str, new_test: str) -> tuple[str, str] | None:
    """Both versions of the hunk in which the first lines of a test were replaced by those of `new_test` in the same file."""
    for hunk in hunks(patch):
        if (
            test.startswith(f"{hunk.path}::")
            and new_test.startswith(f"{hunk.path}::")
            and _begins(hunk.removed, test)
            and _begins(hunk.new, new_test)
        ):
            return "\n".join(hunk.removed[:MOST_LINES]), "\n".join(hunk.new[:MOST_LINES])
    return None


def _begins(lines: tuple[str, ...], test: str) -> bool:
    heads = [found for line in lines if (found := HEAD.match(line))]
    return any(is_named(test, name) for found in heads for key, name in found.groupdict().items() if name and key != "quote")
