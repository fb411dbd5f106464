"""Whether tests fail where they must: on the trees before the code they test was written, and for at least one mutant of it.

Owns these probes and their time limits. Must not know phases or gates.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from detent.errors import CannotTell
from detent.evidence.outcomes.outcomes import file_of
from detent.evidence.probes.context import ONE_RUN, SLOWER, ProbeContext
from detent.evidence.report import TestReport
from detent.evidence.source.file_text import bytes_of

FEWEST, PATIENCE = 10, 6  # try at least 10 mutants, within 6 times the time limit, so that a busy machine does not stop after two


def new_tests_kill_mutant(context: ProbeContext, about: tuple[str, ...] = ()) -> bool:
    """Whether the step's tests kill at least one mutant of the code that `about` is about; if that is empty, of any code."""
    tests = [c.path for c in context.changed if c.sort == "test" and c.how != "deleted"]
    if not tests:
        return False
    if (found := _kill(context, context.tree, tests, True, about)) is None:
        raise CannotTell(f"no mutation of the code made the test fail within {context.seconds:.0f} s; write a test that fails instead")
    return found


def changed_tests_still_fail(context: ProbeContext, held: frozenset[str]) -> bool:
    """Whether changed tests, and tests that use a changed file, still fail where they must. `held`: the files that contain tests.

    Tests of a RED must still fail on its tree, and tests that killed a mutant before must still kill one.
    """
    changed = {c.path for c in context.changed if (c.sort == "test" or c.path.endswith("conftest.py")) and c.how != "deleted"}
    leans = bool(changed - held)
    files = {c.path for c in context.changed if c.path in changed & held and c.how == "modified"}
    for red in context.reference.reds:
        then = context.collect.known(red) or context.collect.clean(red, context.wanted)
        ours = {i for i in then.bad - context.reference.baseline if leans or file_of(then, i) in changed}
        if not _fail_again(context, red, changed, ours, then):
            return False
        files |= {file_of(then, i) for i in ours} if leans else set()
    return not files or not _weakened(context, sorted(files))


def _fail_again(context: ProbeContext, red: str, changed: set[str], ours: set[str], then: TestReport) -> bool:
    if not ours:
        return True
    overlay = {path: context.git.read(context.tree, path) or b"" for path in sorted(changed)}
    bad = context.collect.clean(red, context.wanted, tuple(sorted({file_of(then, i) for i in ours})), overlay).bad
    return all(i in bad or file_of(then, i) in bad or any(b.startswith(f"{i}::") for b in bad) for i in ours)


def _weakened(context: ProbeContext, tests: list[str]) -> bool:
    """Whether these tests kill no mutant now, but killed one before."""
    return _kill(context, context.tree, tests) is False and _kill(context, context.reference.good, tests) is True


def _kill(context: ProbeContext, tree: str, tests: list[str], every: bool = False, about: tuple[str, ...] = ()) -> bool | None:
    """Whether these tests kill a mutant of a tree's code; None if there was not enough time to tell."""
    there = [t for t in tests if context.git.read(tree, t) is not None]
    begun, now = context.clock(), context.collect.known(tree)
    one = max(ONE_RUN, SLOWER * now.wall) if now else ONE_RUN
    for tried, (path, text) in enumerate(_mutants(context, tree, tests, every, about) if there else ()):
        seconds = context.seconds if tried >= FEWEST else PATIENCE * context.seconds
        if (left := begun + seconds - context.clock()) <= 0:
            return None
        report = context.collect.probe(tree, context.wanted, tuple(there), {path: bytes_of(text)}, min(one, left))
        if report.bad - context.reference.baseline or (report.fault and not report.late):
            return True
    return False


def _mutants(context: ProbeContext, tree: str, tests: Iterable[str], every: bool, about: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Mutants of the production code that `about` is about; if that is empty, of files that the tests name and, with `every`, of all others."""
    from detent.evidence.mutate import can_mutate, mutants, spots_on
    from detent.evidence.probes.code_about import lines_about

    listed = context.paths(tree)
    code = [p for p in listed if can_mutate(p) and context.sort(p) == "production"]
    if any(text.strip() for text in about):
        for path, lines in lines_about(about, code, lambda path: context.text(path, tree)).items():
            yield from ((path, spot.make()) for spot in spots_on(path, context.text(path, tree), lines))
        return
    test_code = b" ".join(context.git.read(of, t) or b"" for t in tests for of in (context.tree, context.reference.good)).decode(
        "utf-8", "replace"
    )
    named = [p for p in code if Path(p).stem in test_code]
    for path in [*named, *(p for p in code if p not in named)] if every else named:
        for text in mutants(path, context.text(path, tree)):
            yield path, text
