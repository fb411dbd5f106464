"""Small mutations of code, one at a time: a test that none of them makes fail proves nothing about the code.

A new language: a file with `mutants(text)`, lines here. Every mutant must load as well as the code does: one that does not makes any
test fail and proves nothing. So a language may leave out what it cannot change for certain.
"""

from collections.abc import Callable, Collection, Iterator
from itertools import islice
from pathlib import PurePosixPath

from detent.evidence.mutate import javascript, python, textual

MOST = 300  # of one file

MUTATORS: dict[str, Callable[[str, Collection[int] | None], Iterator[str]]] = {
    ".py": python.mutants,
    ".js": javascript.mutants,
    ".mjs": javascript.mutants,
    ".cjs": javascript.mutants,
}


def can_mutate(path: str) -> bool:
    """Whether there are mutations for files of this name."""
    return PurePosixPath(path).suffix in MUTATORS


def mutants(path: str, text: str) -> Iterator[str]:
    """The first mutants of a file, in the order of its lines; none if it cannot be taken apart."""
    found = MUTATORS.get(PurePosixPath(path).suffix)
    return islice(found(text, None), MOST) if found else iter(())


def mutants_on(path: str, text: str, lines: Collection[int]) -> Iterator[str]:
    """The mutants of these lines. In a language that is not known well, by its text: one of them may not even load."""
    suffix = PurePosixPath(path).suffix
    found = MUTATORS.get(suffix)
    return found(text, lines) if found else textual.mutants(suffix, text, lines)
