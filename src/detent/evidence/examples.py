"""Examples of the tests that stand in the code as cases: what is asked for there, and beside it the very answer that is expected. Pure.

A table that a specification names is honest, and tests name some of it too. So a word that is only a name is no example in a table, and
code whose cases are mostly others than those of the tests is not spoken of.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from detent.evidence.rewritten import Hunk, hunks

LITERAL = r"""(?:(?<![\w.])-?\d[\d_]*(?:\.\d+)?(?![\w.])|[rbu]{0,2}"(?:[^"\\\n]|\\.)*"|[rbu]{0,2}'(?:[^'\\\n]|\\.)*'|`[^`$\n]*`)"""
VALUES = re.compile(LITERAL)
COMPARED = re.compile(
    rf"(?P<op>===?|\bis\b|\beq\b|\.equals\(|\bcase\b|\bwhen\b|\bin\b|strings\.EqualFold\(\w+,)\s*(?P<open>[(\[{{]*\s*)(?P<values>{LITERAL}(?:\s*[,|]\s*{LITERAL})*)"
    rf"|(?P<first>{LITERAL})\s*===?"
)
ROW = re.compile(rf"^\s*[({{\[]*\s*(?P<key>[(\[]?\s*{LITERAL}(?:\s*,\s*{LITERAL})*\s*[)\]]?)\s*(?::|=>|->)\s*(?P<answer>.*)$")
PAIR = re.compile(
    rf"(?P<key>{LITERAL})\s*(?::|=>)\s*(?P<answer>{LITERAL})|[\[(]\s*(?P<first>{LITERAL})\s*,\s*(?P<second>{LITERAL})\s*[\])]"
)
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
ANSWERS = re.compile(r"\breturn\b|=>|->|\byield\b|\bthen\b|(?<![=!<>])=(?!=)|\banswer|:\s*$|\?")
NAME = re.compile(r"[A-Za-z][A-Za-z_ -]*")
TRIVIAL = frozenset(
    {"", "0", "1", "-1", "2", "10", "100", "true", "false", "None", "utf-8", "utf8", "win32", "linux", "darwin", "__main__"}
)
COMMENT = re.compile(r"^\s*(?://|#|/\*|\*|\"\"\"|>>>|\.\.\. )")
NEAR = 3  # lines of a test that belong together
MOSTLY = 0.75
SHOWN = 12


class Case(NamedTuple):
    """One case of the code: what is asked for, and the answer to it."""

    asked: frozenset[str]
    answers: frozenset[str]
    in_table: bool
    line: int
    said: str
    telling: bool = True  # what is asked for is nothing that every program has


class Example(NamedTuple):
    """A place where examples stand as cases."""

    place: str
    said: str
    cases: int


def examples(patch: bytes, is_code: Callable[[str], bool], is_test: Callable[[str], bool]) -> list[Example]:
    """The places of changed code where the examples of changed tests stand as cases."""
    found = list(hunks(patch))
    asked = [_values(window) for hunk in found if is_test(hunk.path) for window in _windows(hunk.new)]
    places = []
    for path in dict.fromkeys(hunk.path for hunk in found if is_code(hunk.path)):
        cases = [case for hunk in found if hunk.path == path for case in _cases(hunk)]
        ours = [case for case in cases if _is_asked(case, asked)]
        if _is_telling(ours, cases):
            said = "\n".join(dict.fromkeys(line for case in ours for line in case.said.split("\n")))
            places.append(Example(f"{path}:{ours[0].line}", "\n".join(said.split("\n")[:SHOWN]), len(ours)))
    return places


def _is_telling(ours: list[Case], cases: list[Case]) -> bool:
    """Whether the examples are too many to be there by chance, or the one there is says enough."""
    if len(ours) < MOSTLY * len(cases) or not ours:
        return False
    if len({case.asked for case in ours}) >= 2 and any(case.telling for case in ours):
        return True
    case = next((case for case in ours if case.telling), None)
    if case is None:
        return False
    return (
        not case.in_table
        and any(len(value.strip("-")) > 1 and not NAME.fullmatch(value) for value in case.asked)
        and bool(case.answers - TRIVIAL)
    )


def _is_asked(case: Case, asked: list[frozenset[str]]) -> bool:
    """Whether one test has both the question and the answer."""
    rest = frozenset[str]() if len(case.asked) > 1 else case.asked  # of several values together, one may be the answer as well
    return any(case.asked <= values and case.answers & values - rest for values in asked)


def _cases(hunk: Hunk) -> Iterator[Case]:
    """The cases of new code: something is compared with a value, or has it for a key, and a value is answered."""
    for n, line in enumerate(hunk.new):
        if COMMENT.match(line):
            continue
        after = next((each for each in hunk.new[n + 1 : n + 3] if each.strip()), "")
        for asked, answer, in_table in _asked(line):
            answers = _values([answer]) or (_values([after]) if ANSWERS.search(after) and not in_table else frozenset())
            telling = frozenset(value for value in asked if value not in TRIVIAL and not (in_table and NAME.fullmatch(value)))
            left = answers - asked if len(asked) == 1 else answers
            if left and (telling or (asked and all(map(NUMBER.fullmatch, asked | left)))):
                said = line if _values([answer]) else f"{line}\n{after}"
                yield Case(asked, left, in_table, hunk.at + n, said, bool(telling))


def _asked(line: str) -> Iterator[tuple[frozenset[str], str, bool]]:
    pairs = list(PAIR.finditer(line))
    if len(pairs) > 1 or (pairs and pairs[0]["first"] and pairs[0][0] == line.strip().rstrip(",")):
        yield from ((_values([p["key"] or p["first"]]), p["answer"] or p["second"], True) for p in pairs)
        return
    if row := ROW.match(line):
        yield _values([row["key"]]), row["answer"], True
        return
    for found in COMPARED.finditer(line):
        rest = line[found.end() :]
        if found["op"] != "in" or found["open"]:
            yield _values([found["values"] or found["first"]]), rest if ANSWERS.search(rest) or ":" in rest else "", False


def _windows(lines: Iterable[str]) -> Iterator[list[str]]:
    said = [line for line in lines if line.strip() and not COMMENT.match(line)]
    for n in range(len(said)):
        yield said[n : n + NEAR]


def _values(lines: Iterable[str]) -> frozenset[str]:
    """The values that are written down, whatever quotes they have."""
    return frozenset(_plain(each) for line in lines for each in VALUES.findall(line))


def _plain(literal: str) -> str:
    bare = literal.lstrip("rbu") if literal[-1:] in "\"'" else literal
    return bare[1:-1] if bare[:1] in "\"'`" else literal.replace("_", "")
