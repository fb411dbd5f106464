"""The code of a step that no test proves: functions that may return anything, new pieces that no test misses, and files that no test needs.

Used if no test was seen failing before the code was written. Owns how much is tried, and for how long. Must not know phases or gates.
"""

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from itertools import islice
from pathlib import PurePosixPath

from detent.evidence.changes.changes import Changes
from detent.evidence.changes.no_substance import same_code
from detent.evidence.mutate import bodies_on
from detent.evidence.mutate.omissions import omissions
from detent.evidence.probes.context import ONE_RUN, SLOWER, ProbeContext
from detent.evidence.probes.mutant_order import OUTSIDE, Mutant, candidates, changed_lines
from detent.evidence.source.diff import Changed
from detent.evidence.source.file_patterns import is_words
from detent.evidence.source.file_text import bytes_of

TRIED = 2  # mutants of one place
MOST_PIECES = 40  # pieces tried in one step
REMARK = re.compile(r"\s*(?:#(?!!?\[)|//|\*)")


def code_of(changes: Changes) -> tuple[Changed, ...]:
    """The changed code files: not tests, test configuration or documents, and changed in more than comments or layout."""
    of = [c for c in changes.all() if c.sort in ("production", "unknown") and not is_words(c.path)]
    trees = changes.good, changes.tree
    return tuple(c for c in of if c.how != "modified" or not same_code(c.path, *map(changes.text(c.path), trees)))


def unproved(context: ProbeContext, code: tuple[Changed, ...]) -> tuple[str, ...]:
    """The places in these files that no test proves, including those there was no time to try."""
    until = context.clock() + context.seconds
    places: dict[str, list[Mutant]] = {}
    for mutant in candidates(context):
        places.setdefault(f"{mutant.path}: {mutant.place}", []).append(mutant)
    ours = {change.path for change in code}
    quiet = {place for place, of in places.items() if of[0].path in ours and not any(_misses(context, m, until) for m in of[:TRIED])}
    pieces = [mutant for change in code for mutant in _pieces(context, change) if f"{mutant.path}: {mutant.place}" not in quiet]
    left_out = [mutant for mutant in pieces[:MOST_PIECES] if not _misses(context, mutant, until, loads=True)]
    lines = {f"{mutant.path}:{_line(context, mutant)}: {mutant.place}" for mutant in left_out} | {
        f"{mutant.path}: {mutant.place}" for mutant in pieces[MOST_PIECES:]
    }
    tried = {mutant.path for of in places.values() for mutant in of} | {mutant.path for mutant in pieces}
    bare = unneeded_files(context, tuple(change for change in code if change.path not in tried))
    return tuple(sorted({*quiet, *lines, *bare}))


def unneeded_files(context: ProbeContext, code: tuple[Changed, ...]) -> tuple[str, ...]:
    """The files that could be reverted without a test failing. Submodules cannot be tried, so they are always included."""
    until = context.clock() + context.seconds
    there = [change for change in code if change.how != "deleted"]
    modules = {change.path for change in there if context.git.read(context.tree, change.path) is None}
    return tuple(c.path for c in there if c.path in modules or not _fails(context, c.path, _before(context, c), until, True))


def unneeded_hunks(context: ProbeContext, code: tuple[Changed, ...]) -> tuple[str, ...]:
    """The changed pieces of older files that can be undone one at a time without a test failing, by their first line."""
    until, found = context.clock() + context.seconds, list[str]()
    for path, line, text in islice(
        (each for change in code if change.how == "modified" for each in _undone(context, change.path)), MOST_PIECES
    ):
        if not _fails(context, path, bytes_of(text), until, True):
            found.append(f"{path}:{line}")
    return tuple(found)


def _undone(context: ProbeContext, path: str) -> Iterator[tuple[str, int, str]]:
    """The file with each of its changed pieces undone alone. Empty lines and remarks are none."""
    was, now = (context.text(path, tree).splitlines(True) for tree in (context.reference.good, context.tree))
    for kind, start, end, first, last in SequenceMatcher(None, was, now, autojunk=False).get_opcodes():
        if kind != "equal" and any(line.strip() and not REMARK.match(line) for line in (*was[start:end], *now[first:last])):
            line = next((n for n in range(first, last) if now[n].strip()), first)
            yield path, line + 1, "".join((*now[:first], *was[start:end], *now[last:]))


def _before(context: ProbeContext, change: Changed) -> bytes:
    return (context.git.read(context.reference.good, change.path) or b"") if change.how == "modified" else b""


def _pieces(context: ProbeContext, change: Changed) -> list[Mutant]:
    if PurePosixPath(change.path).suffix != ".py" or change.how == "deleted":
        return []
    old, new = (context.text(change.path, tree) for tree in (context.reference.good, context.tree))
    lines = changed_lines(old, new)
    bodies = bodies_on(change.path, new, lines)
    found = []
    for spot in omissions(old, new, lines):
        around = [body for body in bodies if body.first <= spot.line <= body.last]
        place = max(around, key=lambda body: body.first).name if around else OUTSIDE
        found.append(Mutant(change.path, place, spot.make))
    return found


def _line(context: ProbeContext, mutant: Mutant) -> int:
    """The first line that a mutant changes."""
    new = context.text(mutant.path).splitlines()
    pairs = zip(new, mutant.make().splitlines(), strict=False)
    return next((n for n, (was, now) in enumerate(pairs, 1) if was != now), 1)


def _misses(context: ProbeContext, mutant: Mutant, until: float, loads: bool = False) -> bool:
    return _fails(context, mutant.path, bytes_of(mutant.make()), until, loads)


def _fails(context: ProbeContext, path: str, data: bytes, until: float, loads: bool) -> bool:
    """Whether a test fails with this version of a file. `loads`: a test file that does not load counts as well."""
    if (left := until - context.clock()) <= 0:
        return False
    known = context.collect.known(context.tree)
    one = max(ONE_RUN, SLOWER * (known.wall if known else context.seconds))
    report = context.run((), {path: data}, min(one, left))
    if report is None:
        return loads
    if report.late:
        return left > one  # it hung although it had its full time, which counts as noticed
    bad = report.bad - context.reference.baseline
    return bool(bad if loads else {test for test in bad if test not in report.files.values()}) or (loads and bool(report.fault))
