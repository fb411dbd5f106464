"""Splices: replaces pieces of a text and leaves everything else as it is, including comments and layout. Pure."""

import ast
import io
import tokenize
from bisect import bisect_right
from functools import cached_property, partial
from typing import NamedTuple

from detent.evidence.mutate.spot import Spot


class Splice(NamedTuple):
    """A piece of a text by start and end, and its replacement."""

    start: int
    end: int
    new: str


class PyToken(NamedTuple):
    """A Python token and its offsets in the text."""

    kind: int
    text: str
    start: int
    end: int


def spliced(text: str, splices: tuple[Splice, ...]) -> str:
    """The text with these pieces replaced. They must not overlap."""
    for each in sorted(splices, reverse=True):
        text = f"{text[: each.start]}{each.new}{text[each.end :]}"
    return text


def spot(text: str, line: int, *splices: Splice) -> Spot:
    """A spot whose mutant is made by these splices."""
    return Spot(line, partial(spliced, text, splices))


class Page:
    """The text of a Python module, with the offsets of its nodes and tokens."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._lines = [f"{line}\n" for line in text.split("\n")]
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line))

    def at(self, line: int, column: int) -> int:
        """The offset of a position in the syntax tree, whose columns count bytes."""
        words = self._lines[line - 1]
        return self._starts[line - 1] + (column if words.isascii() else len(words.encode()[:column].decode("utf-8", "replace")))

    def start(self, node: ast.AST) -> int:
        return self.at(getattr(node, "lineno", 1), getattr(node, "col_offset", 0))

    def end(self, node: ast.AST) -> int:
        return self.at(getattr(node, "end_lineno", 1), getattr(node, "end_col_offset", 0))

    def source(self, node: ast.AST) -> str:
        return self.text[self.start(node) : self.end(node)]

    def line(self, at: int) -> int:
        return bisect_right(self._starts, at)

    def begins(self, line: int) -> int:
        """The offset of the start of a line."""
        return self._starts[line - 1]

    def instead(self, node: ast.AST, new: str) -> Splice:
        return Splice(self.start(node), self.end(node), new)

    def around(self, node: ast.AST, before: str, after: str) -> tuple[Splice, Splice]:
        start, end = self.start(node), self.end(node)
        return Splice(start, start, before), Splice(end, end, after)

    @cached_property
    def words(self) -> list[PyToken]:
        """The tokens; empty if the text cannot be tokenized."""
        try:
            found = list(tokenize.generate_tokens(io.StringIO(self.text).readline))
        except (tokenize.TokenError, SyntaxError):
            return []
        return [
            PyToken(t.type, t.string, self._starts[t.start[0] - 1] + t.start[1], self._starts[t.end[0] - 1] + t.end[1])
            for t in found
            if t.end[0] < len(self._starts)
        ]

    def between(self, start: int, end: int) -> list[PyToken]:
        return [word for word in self.words if start <= word.start and word.end <= end and word.text.strip()]
