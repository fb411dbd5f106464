"""Which cases of the code say enough to be the examples of tests: too many or too odd to be there by chance. Pure."""

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
LONG = 8  # characters that nobody writes by chance
SHORT = 5  # the same, where something is compared with them
PRECISE = 5  # digits of such a number, without zeros at its end


class ExampleCase(NamedTuple):
    """One case of the code: what is asked for, and the answer to it."""

    asked: frozenset[str]
    answers: frozenset[str]
    in_table: bool
    line: int
    said: str
    telling: bool = True  # what is asked for is nothing that every program has
    sure: bool = False  # it is an example, whatever is answered


class ChangedTests(NamedTuple):
    """What the tests of a change say."""

    near: list[frozenset[str]]  # values that stand together
    known: KnownExamples
    telling: list[str]  # the values that nobody writes by chance


def is_telling(ours: list[ExampleCase], cases: list[ExampleCase]) -> bool:
    """Whether the examples are too many to be there by chance, or the one there is says enough."""
    if any(case.sure for case in ours):
        return True
    if len({case.asked for case in ours if not case.in_table and case.answers - WEAK and any(map(is_odd, case.asked))}) >= 2:
        return True
    if len({case.asked for case in ours if not case.in_table and _is_precise(case)}) >= 2:
        return True
    lines = {case.line for case in ours if not case.in_table}  # what else such a line compares with belongs to its question
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
    """Whether a text is neither a name nor a number nor a sign, so that one alone is worth a question even if the answer is only yes or no."""
    plain = value in TRIVIAL or any(each.fullmatch(value) for each in (NUMBER, NAMELIKE, VERSION))
    return len(value) > least and not plain and any(map(str.isalnum, value))


def _is_precise(case: ExampleCase) -> bool:
    """Whether a number that nobody compares with by chance is asked for, and a text answered that is no name."""
    asked = any(NUMBER.fullmatch(value) and len(value.strip("-").rstrip("0")) >= PRECISE for value in case.asked)
    return asked and any(is_odd(value, 3) for value in case.answers - WEAK)


def is_long(value: str, least: int = LONG) -> bool:
    """Whether a text says so much that it is an example wherever it is compared with."""
    return len(value.strip()) >= least and is_odd(value) and not re.fullmatch(r"[\d.,:/+-]+", value)


def is_asked(case: ExampleCase, tests: ChangedTests) -> bool:
    """Whether one test has both the question and the answer."""
    if case.sure:
        return True
    rest = frozenset[str]() if len(case.asked) > 1 else case.asked  # of several values together, one may be the answer as well
    if any(case.asked <= values and case.answers & values - rest for values in tests.near):
        return True
    asked, answers = ({value.removeprefix("-") for value in said} for said in (case.asked, case.answers))
    return (
        asked != case.asked
        and all(map(NUMBER.fullmatch, asked))
        and any(asked <= values and answers & values - asked for values in tests.near)
    )
