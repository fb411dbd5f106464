"""What the makers of twins need to know of a language: where functions and tests stand in a text, and how each of them is spoiled. Values only."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple


class Edit(NamedTuple):
    """Other text in the place of some."""

    start: int
    end: int
    text: str


class Function(NamedTuple):
    """A function or a test, by its places in the text."""

    name: str  # with its class; of a test its title, empty if it is not a literal
    start: int
    end: int
    body: int  # where the statements begin; they go on to `inner`
    inner: int
    params: tuple[str, ...] = ()

    def of(self, text: str) -> str:
        return text[self.start : self.end]


class Example(NamedTuple):
    """One call and its answer, both as source text."""

    function: str
    given: tuple[str, ...]  # for each parameter
    answer: str  # a statement: `return 3`, `raise ValueError("no")`


class Language(NamedTuple):
    """One language."""

    functions: Callable[[str], list[Function]]
    tests: Callable[[str], list[Function]]
    hollow: Callable[[str, Function], Edit]  # its body answers nothing
    weaker: tuple[tuple[str, Callable[[str, Function], list[Edit]]], ...]  # of a test: what was done, from subtle to crude
    without: Callable[[str, Sequence[Function]], str]  # the text without these tests
    breaks: Callable[[str, Function], list[Edit]]  # each of them alone makes it wrong
    tidied: Callable[[str, str], str]  # before, after: imports that are needed no more are gone
    recording: Callable[[str, Sequence[Function], str], str]  # the text whose functions write each call into a file
    example: Callable[[str], Example | None]  # a line of that file
    coded: Callable[[str, Function, Sequence[Example]], list[Edit]]  # the function answers these calls from a list


def edited(text: str, edits: Iterable[Edit]) -> str:
    """The text with all of them made; of two that overlap the outer one."""
    found, at = [], 0
    for edit in sorted(edits, key=lambda each: (each.start, -each.end)):
        if edit.start >= at:
            found += [text[at : edit.start], edit.text]
            at = edit.end
    return "".join([*found, text[at:]])
