"""The probes of a branch that need no mutants: disguise, plain calls, other dates, restored checks, examples in the code. Each raises flags.

They run in parallel, in random order, for half of the time that all probes have; mutants come after them.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from detent.evidence.changes.projects import BesideProduct
from detent.evidence.mutate.keyed_random import KeyedRandom
from detent.evidence.outcomes.outcomes import file_of
from detent.evidence.probes.clock_red import look_at_dates, look_at_reds
from detent.evidence.probes.context import ProbeContext
from detent.evidence.probes.disguise import look_disguised
from detent.evidence.probes.plain_calls import look_at_plain_calls
from detent.evidence.probes.removed_checks import try_restoring
from detent.evidence.report import TestReport
from detent.evidence.running.collect import Collector
from detent.evidence.static_analysis.examples_in_code import examples
from detent.evidence.static_analysis.literals import values_in
from detent.kernel.model import Flag

MOST_SHOWN = 5
MOST_REDS = 6  # the newest
MOST_ASKED = 200  # texts from the code that are searched for in tests
MOST_READ = 100  # test files that are read for it


class ProbedBranch(NamedTuple):
    """What is known about a branch before its probes run."""

    base: str  # a tree
    patch: bytes
    overlay: Mapping[str, bytes]  # its tests, to be laid over the base
    before: TestReport
    mixed: TestReport
    tip: TestReport
    proved: frozenset[str]
    reds: tuple[str, ...]  # the trees of the RED steps, if any


def look_without_mutating(
    context: ProbeContext, collector: Collector, branch: ProbedBranch, allowed: Callable[[str], bool], jobs: int
) -> list[Flag]:
    """The flags of all these probes, except kinds that are allowed."""
    until = context.clock() + context.seconds / 2
    new = frozenset(test for test in branch.tip.having("passed") if test in branch.proved or test not in branch.before.ids)
    files = tuple(sorted({file_of(branch.tip, test) for test in new}))
    tests = {path: frozenset(test for test in new if file_of(branch.tip, test) == path) for path in files}
    kept = {red: collector.known(red) for red in branch.reds[-MOST_REDS:]}  # read here, since only one thread may read the journal
    reds = {red: report for red, report in kept.items() if report is not None}
    looks: list[tuple[str, Callable[[], list[Flag]]]] = [
        ("knows-the-tests", lambda: look_disguised(context, branch.tip, files, until)),
        ("knows-the-examples", lambda: look_at_plain_calls(context, collector, tests, until)),
        ("clock-red", lambda: look_at_reds(context, reds, branch.before.bad, until)),
        ("clock-red", lambda: look_at_dates(context, branch.base, branch.overlay, branch.mixed, branch.proved, until)),
        ("unnoticed", lambda: try_restoring(context, branch.tip, branch.patch, until, files)),
    ]
    wanted = [look for kind, look in KeyedRandom(context.key, "looks").shuffled(looks) if not allowed(kind)]
    with ThreadPoolExecutor(jobs) as pool:
        return [flag for found in pool.map(lambda look: look(), wanted) for flag in found if not allowed(flag.kind)]


def examples_in_code(context: ProbeContext, patch: bytes) -> list[Flag]:
    """Flags for code that handles the tests' own examples case by case. Runs nothing."""
    sentence = "the code handles exactly the examples of the tests, case by case; what does it return for other inputs?"
    beside = BesideProduct(context.git, context.tree, lambda path: context.sort(path) == "production")
    found = examples(
        patch,
        lambda path: context.sort(path) == "production" and not beside(path),
        lambda path: context.sort(path) == "test",
        lambda texts: _held(context, texts),
    )
    return [Flag("knows-the-examples", sentence, each.place, after=each.text) for each in found[:MOST_SHOWN]]


def _held(context: ProbeContext, texts: frozenset[str]) -> frozenset[str]:
    """The texts that occur in a test: as a value, a line or a whole data file. Older tests count as well, since the change may be what makes them
    run."""
    lines = sorted({max(text.split("\n"), key=len) for text in texts if "\0" not in text}, key=len, reverse=True)[:MOST_ASKED]
    found = frozenset[str]()
    if not lines:
        return found
    words = [*lines, *(line.replace("\\", "\\\\").replace('"', '\\"') for line in lines if "\\" in line or '"' in line)]
    out = context.git.call("grep", "-I", "-l", "-z", "-F", *(arg for word in words for arg in ("-e", word)), context.tree, "--")
    paths = [each.partition(":")[2] for each in out.items] if out.code == 0 else []
    for path in [path for path in paths if context.sort(path) == "test"][:MOST_READ]:
        text = context.text(path).replace("\r\n", "\n")
        parts = {text.strip(), *(line.strip() for line in text.split("\n")), *values_in(text)}
        found |= {each for each in texts if each in parts or each.strip() in parts}
    return found
