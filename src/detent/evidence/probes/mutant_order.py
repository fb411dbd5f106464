"""The mutants worth trying for the code that a step wrote, best first: each function gets one mutant before any gets a second.

Owns the order; runs nothing. Functions that the tests name come first, and for each function the mutant that returns something else entirely.
"""

import re
from collections.abc import Callable, Collection, Iterator
from difflib import SequenceMatcher
from itertools import islice, zip_longest
from typing import NamedTuple

from detent.evidence.changes.projects import is_tooling
from detent.evidence.mutate import MOST, bodies_on, spots_on
from detent.evidence.mutate.same_kind import other_answers
from detent.evidence.mutate.spot import FunctionBody, Spot
from detent.evidence.probes.context import ProbeContext
from detent.evidence.source.diff import Changed
from detent.evidence.source.generated_code import is_generated

LARGEST = 400_000  # characters of both versions together; changed lines of larger files are not looked for
OUTSIDE = "outside its functions"


class Mutant(NamedTuple):
    """A file with one mutation, and the place of it: a function, or the code outside functions."""

    path: str
    place: str
    make: Callable[[], str]


def candidates(context: ProbeContext, test_code: str = "") -> list[Mutant]:
    """The mutants of the production code that a step changed, best first. `said`: the text of the tests."""
    found: dict[str, list[Mutant]] = {}
    for change in context.changed:
        if is_tried(context, change):
            for mutant in _of(context, change.path):
                found.setdefault(f"{mutant.path}\n{mutant.place}", []).append(mutant)
    words = frozenset(re.findall(r"\w+", test_code))
    places = sorted(found.values(), key=lambda of: (of[0].place == OUTSIDE, of[0].place not in words))
    return [mutant for turn in zip_longest(*places) for mutant in turn if mutant is not None]


def is_tried(context: ProbeContext, change: Changed) -> bool:
    """Whether a changed file is worth mutating: product code that is not generated."""
    if change.sort != "production" or change.how == "deleted" or is_tooling(change.path):
        return False
    return not is_generated(change.path, *_versions(context, change.path))


def of_the_same_kind(context: ProbeContext) -> dict[str, Mutant]:
    """For each changed function that only computes a value (by place), a mutant that returns others of the same kind. Python only."""
    found = dict[str, Mutant]()
    for change in context.changed:
        if change.path.endswith(".py") and is_tried(context, change):
            text, lines = changed_text(context, change.path)
            found |= {f"{change.path}: {body.name}": Mutant(change.path, body.name, body.make) for body in other_answers(text, lines)}
    return found


def outside_as_before(context: ProbeContext, path: str) -> str:
    """The file with the code outside its functions reverted; empty if the file is new."""
    old, new = _versions(context, path)
    bodies = bodies_on(path, new, changed_lines(old, new))
    was, now, made = old.splitlines(True), new.splitlines(True), list[str]()
    for kind, start, end, first, last in SequenceMatcher(None, was, now, autojunk=False).get_opcodes():
        inside = any(body.first <= last and first + 1 <= body.last for body in bodies)
        made += now[first:last] if kind == "equal" or inside else was[start:end]
    return "".join(made) if old else ""


def changed_text(context: ProbeContext, path: str) -> tuple[str, frozenset[int]]:
    """The file's current text, and the numbers of its changed lines."""
    old, new = _versions(context, path)
    return new, changed_lines(old, new)


def _versions(context: ProbeContext, path: str) -> tuple[str, str]:
    old, new = (context.text(path, tree) for tree in (context.reference.good, context.tree))
    return old, new


def _of(context: ProbeContext, path: str) -> Iterator[Mutant]:
    new, lines = changed_text(context, path)
    bodies = bodies_on(path, new, lines)
    yield from (Mutant(path, body.name, body.make) for body in bodies)
    yield from (Mutant(path, _place(bodies, spot.line), spot.make) for spot in _by_turns(islice(spots_on(path, new, lines), MOST)))


def _by_turns(spots: Iterator[Spot]) -> Iterator[Spot]:
    """The spots reordered: the first of each line, then the second of each, and so on."""
    lines: dict[int, list[Spot]] = {}
    for spot in spots:
        lines.setdefault(spot.line, []).append(spot)
    return (spot for turn in zip_longest(*lines.values()) for spot in turn if spot is not None)


def _place(bodies: Collection[FunctionBody], line: int) -> str:
    around = [body for body in bodies if body.first <= line <= body.last]
    return max(around, key=lambda body: body.first).name if around else OUTSIDE


def changed_lines(old: str, new: str) -> frozenset[int]:
    """The numbers of the lines that the newer text added or changed; empty for a file that is too large."""
    if len(old) + len(new) > LARGEST:
        return frozenset()
    found = SequenceMatcher(None, old.splitlines(), new.splitlines(), autojunk=False).get_opcodes()
    return frozenset(line + 1 for kind, _, _, start, end in found if kind != "equal" for line in range(start, end))
