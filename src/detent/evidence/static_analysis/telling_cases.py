"""Decides which cases in the code are the tests' examples: too many or too specific to be there by chance. Pure."""

import re
from typing import NamedTuple

from detent.evidence.static_analysis.literals import KnownExamples

NAME = re.compile(r"[A-Za-z][A-Za-z_ -]*")
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
NAMELIKE = re.compile(r"\W{0,2}[A-Za-z_]\w*(?:[-./:+ ]{1,2}[A-Za-z_]\w*)*\W{0,2}")
VERSION = re.compile(r"v?\d+(?:\.\d+)+")
WORDS = {"true": "true", "false": "false", "none": "none", "nil": "none", "null": "none", "undefined": "none"}
ERROR = "(an error)"
WEAK = frozenset({*WORDS.values(), ERROR})
TRIVIAL = WEAK | {"", "0", "1", "-1", "2", "10", "100", "utf-8", "utf8", "win32", "linux", "darwin", "__main__"}
MOSTLY = 0.75
LONG = 8  # characters from which a text is not there by chance
SHORT = 5  # the same for a text that something is compared with
PRECISE = 5  # digits, without trailing zeros, from which a number is not there by chance


class ExampleCase(NamedTuple):
    """A case in the code: the values asked for, and the answers to them."""

    asked: frozenset[str]
    answers: frozenset[str]
    in_table: bool
    line: int
    text: str
    telling: bool = True  # the values asked for are not common ones
    sure: bool = False  # an example whatever the answer


class ChangedTests(NamedTuple):
    """The values in the tests of a change."""

    near: list[frozenset[str]]  # values that are close together
    known: KnownExamples
    telling: list[str]  # the values too specific to be there by chance


def is_telling(ours: list[ExampleCase], cases: list[ExampleCase]) -> bool:
    """Whether the examples are too many to be there by chance, or a single one is specific enough."""
    if any(case.sure for case in ours):
        return True
    if len({case.asked for case in ours if not case.in_table and case.answers - WEAK and any(map(is_odd, case.asked))}) >= 2:
        return True
    if len({case.asked for case in ours if not case.in_table and _is_precise(case)}) >= 2:
        return True
    lines = {case.line for case in ours if not case.in_table}  # other values on these lines belong to the same question
    others = [case for case in cases if case not in ours and (case.in_table or case.line not in lines)]
    if not ours or len(ours) < MOSTLY * (len(ours) + len(others)):
        return False
    if len({case.asked for case in ours}) >= 2 and any(case.telling for case in ours):
        return True
    case = next((case for case in ours if case.telling), None)
    if case is None or case.in_table or any(value.startswith("len:") for value in case.asked):
        return False
    if not case.answers - TRIVIAL:
        return any(map(is_odd, case.asked))
    return any(len(value.strip("-")) > 1 and not NAME.fullmatch(value) for value in case.asked)


def is_odd(value: str, least: int = 4) -> bool:
    """Whether a text is not a name, number or symbol, so that even one with a yes-or-no answer raises a question."""
    plain = value in TRIVIAL or any(each.fullmatch(value) for each in (NUMBER, NAMELIKE, VERSION))
    return len(value) > least and not plain and any(map(str.isalnum, value))


def _is_precise(case: ExampleCase) -> bool:
    """Whether a case asks for a precise number and answers with a text that is not a name."""
    asked = any(NUMBER.fullmatch(value) and len(value.strip("-").rstrip("0")) >= PRECISE for value in case.asked)
    return asked and any(is_odd(value, 3) for value in case.answers - WEAK)


def is_long(value: str, least: int = LONG) -> bool:
    """Whether a text is so specific that any comparison with it is an example."""
    return len(value.strip()) >= least and is_odd(value) and not re.fullmatch(r"[\d.,:/+-]+", value)


def is_asked(case: ExampleCase, tests: ChangedTests) -> bool:
    """Whether a test has both the values asked for and the answer."""
    if case.sure:
        return True
    rest = frozenset[str]() if len(case.asked) > 1 else case.asked  # among several values, one may also be the answer
    if any(case.asked <= values and case.answers & values - rest for values in tests.near):
        return True
    asked, answers = ({value.removeprefix("-") for value in side} for side in (case.asked, case.answers))
    return (
        asked != case.asked
        and all(map(NUMBER.fullmatch, asked))
        and any(asked <= values and answers & values - asked for values in tests.near)
    )
