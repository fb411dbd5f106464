"""The lines where tests and functions begin, so that messages can link to them. Pure."""

import ast
import re
from collections.abc import Iterator

from detent.evidence.source.test_blocks import HEAD, blocks, named_tests
from detent.evidence.source.test_ids import is_named

FEW_LINES = 12
DEFINES = r"(?:def|class|function|func|fn|fun|const|let|var|void|static|async)\b[^\n]*?\b{name}\b"


def line_of_test(path: str, text: str, test: str) -> int:
    """The line where a test begins; 0 if unknown."""
    return next((line for name, line in _heads(path, text) if is_named(test, name)), 0)


def tests_on(path: str, text: str, lines: range) -> frozenset[str]:
    """The names of the tests that contain one of these lines, without their classes, because others may inherit them. Python only."""
    if not path.endswith(".py"):
        return frozenset()
    try:
        tests = [*named_tests(ast.parse(text).body)]
    except (SyntaxError, ValueError, RecursionError):
        return frozenset()
    first = {name: min([test.lineno, *(each.lineno for each in test.decorator_list)]) for name, test in tests}
    within = (name for name, test in tests if first[name] < lines.stop and lines.start <= (test.end_lineno or test.lineno))
    return frozenset(name.rpartition("::")[2] for name in within)


def tests_around(path: str, text: str, line: int) -> frozenset[str]:
    """The names of the tests that contain a line; in other languages than Python, the last test that begins above it."""
    if path.endswith(".py"):
        return tests_on(path, text, range(line, line + 1))
    return frozenset([name for name, at in _heads(path, text) if at <= line][-1:])


def only_seem_removed(path: str, old: str, new: str, lines: range) -> bool:
    """Whether removed lines only moved: every test that contained them has the same text in the new version."""
    within = frozenset[str]().union(*(tests_around(path, old, line) for line in lines))
    was, now = blocks(path, old), blocks(path, new)
    return bool(within) and all(name in was and was[name] == now.get(name) for name in within)


def lines_of_test(path: str, text: str, line: int) -> str:
    """The text of the test that contains a line; without a known test, the lines around it."""
    heads = [at for _, at in _heads(path, text)]
    first = max((at for at in heads if at <= line), default=max(1, line - FEW_LINES))
    after = min((at for at in heads if at > line), default=line + FEW_LINES)
    return "\n".join(text.split("\n")[first - 1 : after - 1])


def line_of_word(text: str, word: str) -> int:
    """The line where a name is defined, else first mentioned; 0 if nowhere."""
    name = re.escape(word.rpartition(".")[2])
    found = re.search(DEFINES.format(name=name), text) or re.search(rf"(?<![\w-]){name}(?![\w-])", text)
    return text.count("\n", 0, found.start()) + 1 if found else 0


def _heads(path: str, text: str) -> Iterator[tuple[str, int]]:
    """The tests of a file, each with its line."""
    if path.endswith(".py"):
        try:
            yield from ((name, node.lineno) for name, node in named_tests(ast.parse(text).body))
        except (SyntaxError, ValueError, RecursionError):
            return
    else:
        for number, line in enumerate(text.split("\n"), 1):
            if found := HEAD.match(line):
                yield next(title for group, title in found.groupdict().items() if title and group != "quote"), number
