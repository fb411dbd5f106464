"""Small mutations of code, one at a time: a test that none of them makes fail proves nothing about the code.

A new language: a file with `spots(text, lines)`, lines here. Every mutant must load as well as the code does: one that does not makes any
test fail and proves nothing. So a language may leave out what it cannot change for certain. A mutant is the text with one token or one body
spliced: comments, layout and the number of lines stay, so that the code cannot tell it from a plain run.
"""

from collections.abc import Callable, Collection, Iterator
from itertools import islice
from pathlib import PurePosixPath

from detent.evidence.mutate import answers, javascript, python, textual
from detent.evidence.mutate.arid import is_arid_line
from detent.evidence.mutate.spot import FunctionBody, Spot

MOST = 300  # of one file

MUTATORS: dict[str, Callable[[str, Collection[int] | None], Iterator[Spot]]] = {
    ".py": python.spots,
    ".js": javascript.spots,
    ".mjs": javascript.spots,
    ".cjs": javascript.spots,
}


def can_mutate(path: str) -> bool:
    """Whether there are mutations for files of this name."""
    return PurePosixPath(path).suffix in MUTATORS


def mutants(path: str, text: str) -> Iterator[str]:
    """The first mutants of a file, in the order of its lines; none if it cannot be taken apart."""
    found = MUTATORS.get(PurePosixPath(path).suffix)
    return (spot.make() for spot in islice(_telling(path, text, found(text, None)), MOST)) if found else iter(())


def spots_on(path: str, text: str, lines: Collection[int]) -> Iterator[Spot]:
    """Where these lines can be changed. In a language that is not known well, by its text: a mutant may not even load."""
    suffix = PurePosixPath(path).suffix
    found = MUTATORS.get(suffix)
    return _telling(path, text, found(text, lines) if found else textual.spots(suffix, text, lines))


def _telling(path: str, text: str, found: Iterator[Spot]) -> Iterator[Spot]:
    """Without those on lines that only say something; Python's own rules know them better."""
    if path.endswith(".py"):
        return found
    lines = text.split("\n")
    return (spot for spot in found if not is_arid_line(lines[spot.line - 1]))


def bodies_on(path: str, text: str, lines: Collection[int]) -> list[FunctionBody]:
    """The functions that hold one of these lines, each with the file in which it answers something that nobody expects."""
    suffix = PurePosixPath(path).suffix
    found = python.bodies(text) if suffix == ".py" else answers.bodies(suffix, text)
    return [body for body in found if any(body.first <= line <= body.last for line in lines)]
