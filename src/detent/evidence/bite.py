"""Whether tests bite: on the trees from before the code they are about, and against small mutations of it.

Owns the probes and how long they may take; knows no phases and no gates.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from detent.errors import CannotTell
from detent.evidence.card import Trial
from detent.evidence.collect import Collects, Wanted
from detent.evidence.look import Changed
from detent.evidence.report import TestReport
from detent.git.repo import Git

PROBE_SECONDS = 30.0
ONE_RUN = 10.0  # seconds for one mutant: it may loop for ever
SLOWER = 3  # or so many times what the tests take without one, if that is more
FEWEST, PATIENCE = 10, 6  # as many mutants are tried, in up to so many times the seconds: a busy machine is no reason to give up after two


class Marks(NamedTuple):
    """What the run remembers that evidence is compared with."""

    good: str  # the last good tree
    reds: tuple[str, ...]  # the trees of the RED steps
    base: str  # the commit the branch started from
    baseline: frozenset[str] = frozenset()
    owes_green: bool = False  # what failed before the work began is to pass


class Teeth(NamedTuple):
    """What a probe works with."""

    git: Git
    collect: Collects
    wanted: Wanted
    sort: Callable[[str], str]  # of a path: test, production, config, …
    tree: str
    marks: Marks
    changed: tuple[Changed, ...]
    seconds: float = PROBE_SECONDS  # how long a probe may take
    key: bytes = b""  # what is drawn by lot in a probe is drawn with it; the code that is probed does not know it
    tried: Callable[[Trial], None] = lambda trial: None  # who wants to know what was tried


def new_tests_bite(teeth: Teeth, about: tuple[str, ...] = ()) -> bool:
    """The step's tests fail on at least one small mutation of the code that some words are about; without words, of any."""
    tests = [c.path for c in teeth.changed if c.sort == "test" and c.how != "deleted"]
    if not tests:
        return False
    if (found := _kill(teeth, teeth.tree, tests, True, about)) is None:
        raise CannotTell(f"no mutation of the code made the test fail within {teeth.seconds:.0f} s; write a test that fails instead")
    return found


def changed_tests_bite(teeth: Teeth, held: frozenset[str]) -> bool:
    """Changed tests, and those that lean on a changed file, fail where they must. `held` are the files that hold tests.

    Those that once failed for code still fail on the tree before it; and none that failed against a mutation fails against none now.
    """
    changed = {c.path for c in teeth.changed if (c.sort == "test" or c.path.endswith("conftest.py")) and c.how != "deleted"}
    leans = bool(changed - held)
    files = {c.path for c in teeth.changed if c.path in changed & held and c.how == "modified"}
    for red in teeth.marks.reds:
        then = teeth.collect.known(red) or teeth.collect.clean(red, teeth.wanted)
        ours = {i for i in then.bad - teeth.marks.baseline if leans or _file(then, i) in changed}
        if not _fail_again(teeth, red, changed, ours, then):
            return False
        files |= {_file(then, i) for i in ours} if leans else set()
    return not files or not _weakened(teeth, sorted(files))


def _fail_again(teeth: Teeth, red: str, changed: set[str], ours: set[str], then: TestReport) -> bool:
    if not ours:
        return True
    overlay = {path: teeth.git.read(teeth.tree, path) or b"" for path in sorted(changed)}
    bad = teeth.collect.clean(red, teeth.wanted, tuple(sorted({_file(then, i) for i in ours})), overlay).bad
    return all(i in bad or _file(then, i) in bad or any(b.startswith(f"{i}::") for b in bad) for i in ours)


def _weakened(teeth: Teeth, tests: list[str]) -> bool:
    """These tests fail against no mutation now, and did before."""
    return _kill(teeth, teeth.tree, tests) is False and _kill(teeth, teeth.marks.good, tests) is True


def _kill(teeth: Teeth, tree: str, tests: list[str], every: bool = False, about: tuple[str, ...] = ()) -> bool | None:
    """Whether a small mutation of a tree's code makes one of its tests fail; None if that cannot be told in time."""
    there = [t for t in tests if teeth.git.read(tree, t) is not None]
    begun, now = time.monotonic(), teeth.collect.known(tree)
    one = max(ONE_RUN, SLOWER * now.wall) if now else ONE_RUN
    for tried, (path, text) in enumerate(_mutants(teeth, tree, tests, every, about) if there else ()):
        seconds = teeth.seconds if tried >= FEWEST else PATIENCE * teeth.seconds
        if (left := begun + seconds - time.monotonic()) <= 0:
            return None
        report = teeth.collect.probe(tree, teeth.wanted, tuple(there), {path: text.encode()}, min(one, left))
        if report.bad - teeth.marks.baseline or (report.fault and not report.late):
            return True
    return False


def _mutants(teeth: Teeth, tree: str, tests: Iterable[str], every: bool, about: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Mutations of production files: of what some words are about; else of files that the tests name, and of every other one if asked for."""
    from detent.evidence.about import lines_about
    from detent.evidence.mutate import can_mutate, mutants, spots_on

    listed = teeth.git.run("ls-tree", "-r", "-z", "--name-only", tree).items
    code = [p for p in listed if can_mutate(p) and teeth.sort(p) == "production"]
    if any(text.strip() for text in about):
        for path, lines in lines_about(about, code, lambda path: _text(teeth, tree, path)).items():
            yield from ((path, spot.make()) for spot in spots_on(path, _text(teeth, tree, path), lines))
        return
    said = b" ".join(teeth.git.read(of, t) or b"" for t in tests for of in (teeth.tree, teeth.marks.good)).decode("utf-8", "replace")
    named = [p for p in code if Path(p).stem in said]
    for path in [*named, *(p for p in code if p not in named)] if every else named:
        for text in mutants(path, _text(teeth, tree, path)):
            yield path, text


def _text(teeth: Teeth, tree: str, path: str) -> str:
    return (teeth.git.read(tree, path) or b"").decode("utf-8", "replace")


def _file(report: TestReport, test: str) -> str:
    return report.files.get(test, test.partition("::")[0])
