"""What of a step no test speaks for: functions that may answer anything, new pieces that no test misses, and files that might as well not be there.

Asked where no test was seen failing before the code. Owns how much is tried and for how long; knows no phases and no gates.
"""

import time
from pathlib import PurePosixPath

from detent.errors import CannotTell, Disturbed
from detent.evidence.bite import ONE_RUN, SLOWER, Teeth
from detent.evidence.candidates import OUTSIDE, Mutant, candidates, changed_lines
from detent.evidence.changes import Changes
from detent.evidence.document_paths import is_words
from detent.evidence.look import Changed
from detent.evidence.mutate import bodies_on
from detent.evidence.mutate.omissions import omissions
from detent.evidence.nothing_said import same_code

TRIED = 2  # small changes of one place
MOST_PIECES = 40  # of one step


def code_of(changes: Changes) -> tuple[Changed, ...]:
    """The changed files that are neither tests, nor what decides how tests are run, nor words for people."""
    of = [c for c in changes.all() if c.sort in ("production", "unknown") and not is_words(c.path)]
    both = changes.good, changes.tree
    return tuple(c for c in of if c.how != "modified" or not same_code(c.path, *map(changes.text(c.path), both)))


def unproved(teeth: Teeth, code: tuple[Changed, ...]) -> tuple[str, ...]:
    """The places of these files that nothing proves. What was not tried in time is named too."""
    until = time.monotonic() + teeth.seconds
    places: dict[str, list[Mutant]] = {}
    for mutant in candidates(teeth):
        places.setdefault(f"{mutant.path}: {mutant.place}", []).append(mutant)
    ours = {change.path for change in code}
    quiet = {place for place, of in places.items() if of[0].path in ours and not any(_misses(teeth, m, until) for m in of[:TRIED])}
    pieces = [mutant for change in code for mutant in _pieces(teeth, change) if f"{mutant.path}: {mutant.place}" not in quiet]
    left_out = [mutant for mutant in pieces[:MOST_PIECES] if not _misses(teeth, mutant, until, loads=True)]
    lines = {f"{mutant.path}:{_line(teeth, mutant)}: {mutant.place}" for mutant in left_out} | {
        f"{mutant.path}: {mutant.place}" for mutant in pieces[MOST_PIECES:]
    }
    tried = {mutant.path for of in places.values() for mutant in of} | {mutant.path for mutant in pieces}
    bare = unneeded(teeth, tuple(change for change in code if change.path not in tried))
    return tuple(sorted({*quiet, *lines, *bare}))


def unneeded(teeth: Teeth, code: tuple[Changed, ...]) -> tuple[str, ...]:
    """The files that might be as they were before the step: no test fails for it."""
    until = time.monotonic() + teeth.seconds
    return tuple(
        change.path for change in code if change.how != "deleted" and not _fails(teeth, change.path, _before(teeth, change), until, True)
    )


def _before(teeth: Teeth, change: Changed) -> bytes:
    return (teeth.git.read(teeth.marks.good, change.path) or b"") if change.how == "modified" else b""


def _pieces(teeth: Teeth, change: Changed) -> list[Mutant]:
    if PurePosixPath(change.path).suffix != ".py" or change.how == "deleted":
        return []
    old, new = ((teeth.git.read(tree, change.path) or b"").decode("utf-8", "replace") for tree in (teeth.marks.good, teeth.tree))
    lines = changed_lines(old, new)
    bodies = bodies_on(change.path, new, lines)
    found = []
    for spot in omissions(old, new, lines):
        around = [body for body in bodies if body.first <= spot.line <= body.last]
        place = max(around, key=lambda body: body.first).name if around else OUTSIDE
        found.append(Mutant(change.path, place, spot.make))
    return found


def _line(teeth: Teeth, mutant: Mutant) -> int:
    """The first line that a mutant changes."""
    new = (teeth.git.read(teeth.tree, mutant.path) or b"").decode("utf-8", "replace").splitlines()
    pairs = zip(new, mutant.make().splitlines(), strict=False)
    return next((n for n, (was, now) in enumerate(pairs, 1) if was != now), 1)


def _misses(teeth: Teeth, mutant: Mutant, until: float, loads: bool = False) -> bool:
    return _fails(teeth, mutant.path, mutant.make().encode(), until, loads)


def _fails(teeth: Teeth, path: str, data: bytes, until: float, loads: bool) -> bool:
    """Whether a test fails with this file in the tree. `loads`: a file of tests that does not load then counts as well."""
    if (left := until - time.monotonic()) <= 0:
        return False
    known = teeth.collect.known(teeth.tree)
    one = max(ONE_RUN, SLOWER * (known.wall if known else teeth.seconds))
    try:
        report = teeth.collect.probe(teeth.tree, teeth.wanted, (), {path: data}, min(one, left))
    except Disturbed:
        raise
    except CannotTell:
        return loads
    if report.late:
        return left > one  # it hangs, and that is noticed
    bad = report.bad - teeth.marks.baseline
    return bool(bad if loads else {test for test in bad if test not in report.files.values()}) or (loads and bool(report.fault))
