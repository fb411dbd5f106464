"""What the makers of twins must know about a language: where functions and tests are in a text, and how to spoil them. Values only."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple


class Edit(NamedTuple):
    """A replacement of a span of text."""

    start: int
    end: int
    text: str


class Function(NamedTuple):
    """A function or test, by its positions in the text."""

    name: str  # with its class; for a test its title, empty if not literal
    start: int
    end: int
    body: int  # where the statements begin; they end at `inner`
    inner: int
    params: tuple[str, ...] = ()

    def of(self, text: str) -> str:
        return text[self.start : self.end]


class Example(NamedTuple):
    """One call and its answer, both as source text."""

    function: str
    given: tuple[str, ...]  # one per parameter
    answer: str  # a statement: `return 3`, `raise ValueError("no")`


class Language(NamedTuple):
    """The functions for one language."""

    functions: Callable[[str], list[Function]]
    tests: Callable[[str], list[Function]]
    hollow: Callable[[str, Function], Edit]  # empties a function's body
    weaker: tuple[tuple[str, Callable[[str, Function], list[Edit]]], ...]  # ways to weaken a test, from subtle to crude, by name
    without: Callable[[str, Sequence[Function]], str]  # the text without these tests
    breaks: Callable[[str, Function], list[Edit]]  # each edit alone breaks the function
    tidied: Callable[[str, str], str]  # (before, after): removes imports that are no longer used
    recording: Callable[[str, Sequence[Function], str], str]  # makes functions record their calls in a file
    example: Callable[[str], Example | None]  # reads a line of that file
    coded: Callable[[str, Function, Sequence[Example]], list[Edit]]  # makes the function answer these calls from a list


def edited(text: str, edits: Iterable[Edit]) -> str:
    """The text with all edits made; of overlapping ones the outer."""
    found, at = [], 0
    for edit in sorted(edits, key=lambda each: (each.start, -each.end)):
        if edit.start >= at:
            found += [text[at : edit.start], edit.text]
            at = edit.end
    return "".join([*found, text[at:]])
