"""Small mutations of code, one at a time: a test that none of them makes fail proves nothing about the code.

A new language: a file with `mutants(text)`, lines here. Every mutant must load as well as the code does: one that does not makes any
test fail and proves nothing. So a language may leave out what it cannot change for certain.
"""

from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import PurePosixPath

from detent.evidence.mutate import javascript, python

MOST = 300  # of one file

MUTATORS: dict[str, Callable[[str], Iterator[str]]] = {
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
    return islice(found(text), MOST) if found else iter(())
