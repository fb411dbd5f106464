"""Mutates code, one small mutation at a time: a test that kills no mutant proves nothing about the code. Must not know runs or trees.

To add a language, write a file with `spots(text, lines)` and register it here. Every mutant must load if the original does, since any test
fails on one that does not; a language skips what it cannot mutate with certainty. A mutant is the text with one token or one function body
replaced. Comments, layout and line count stay the same, so the code cannot tell it from a plain run.
"""

from collections.abc import Callable, Collection, Iterator
from itertools import islice
from pathlib import PurePosixPath

from detent.evidence.mutate import answers, javascript, python, textual
from detent.evidence.mutate.arid import is_arid_line
from detent.evidence.mutate.spot import FunctionBody, Spot

MOST = 300  # mutants of one file

MUTATORS: dict[str, Callable[[str, Collection[int] | None], Iterator[Spot]]] = {
    ".py": python.spots,
    ".js": javascript.spots,
    ".mjs": javascript.spots,
    ".cjs": javascript.spots,
}


def can_mutate(path: str) -> bool:
    """Whether there is a mutator for this file's language."""
    return PurePosixPath(path).suffix in MUTATORS


def mutants(path: str, text: str) -> Iterator[str]:
    """The first mutants of a file, in line order; none if it does not parse."""
    found = MUTATORS.get(PurePosixPath(path).suffix)
    return (spot.make() for spot in islice(_telling(path, text, found(text, None)), MOST)) if found else iter(())


def spots_on(path: str, text: str, lines: Collection[int]) -> Iterator[Spot]:
    """The places on these lines that can be mutated. In languages without a mutator of their own, mutants may not even load."""
    suffix = PurePosixPath(path).suffix
    found = MUTATORS.get(suffix)
    return _telling(path, text, found(text, lines) if found else textual.spots(suffix, text, lines))


def _telling(path: str, text: str, found: Iterator[Spot]) -> Iterator[Spot]:
    """The spots without those on arid lines, such as logging; for Python, its own mutator leaves these out."""
    if path.endswith(".py"):
        return found
    lines = text.split("\n")
    return (spot for spot in found if not is_arid_line(lines[spot.line - 1]))


def bodies_on(path: str, text: str, lines: Collection[int]) -> list[FunctionBody]:
    """The functions that contain one of these lines, each with a mutant in which it returns something that nobody expects."""
    suffix = PurePosixPath(path).suffix
    found = python.bodies(text) if suffix == ".py" else answers.bodies(suffix, text)
    return [body for body in found if any(body.first <= line <= body.last for line in lines)]
