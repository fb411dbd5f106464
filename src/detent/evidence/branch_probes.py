"""The probes at the end of a branch that mutate nothing: disguise, other dates, checks put back, examples in the code. What each says is a flag.

They run side by side, in an order drawn by lot, for half of the time that all probes have; small changes of the code come after them.
"""

import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from detent.evidence.bite import Teeth
from detent.evidence.clock_red import look_at_dates, look_at_reds
from detent.evidence.collect import Collector
from detent.evidence.disguise import look_disguised
from detent.evidence.examples import examples
from detent.evidence.in_life import look_in_life
from detent.evidence.literals import values_in
from detent.evidence.mutate.lot import Lot
from detent.evidence.outcomes import file_of
from detent.evidence.put_back import look_put_back
from detent.evidence.report import TestReport
from detent.kernel.model import Flag

MOST_SHOWN = 5
MOST_REDS = 6  # the newest
MOST_ASKED = 200  # texts of the code that older tests are asked for
MOST_READ = 100  # of their files


class ProbedBranch(NamedTuple):
    """What is known of a branch when its probes begin."""

    base: str  # its tree
    patch: bytes
    overlay: Mapping[str, bytes]  # its tests, as they are laid over the base
    before: TestReport
    mixed: TestReport
    tip: TestReport
    proved: frozenset[str]
    reds: tuple[str, ...]  # the trees of the RED steps, where there were any


def look_beside(teeth: Teeth, collector: Collector, branch: ProbedBranch, allowed: Callable[[str], bool], jobs: int) -> list[Flag]:
    """The flags of all these looks, but for kinds that are allowed."""
    until = time.monotonic() + teeth.seconds / 2
    new = frozenset(test for test in branch.tip.having("passed") if test in branch.proved or test not in branch.before.ids)
    files = tuple(sorted({file_of(branch.tip, test) for test in new}))
    tests = {path: frozenset(test for test in new if file_of(branch.tip, test) == path) for path in files}
    kept = {red: collector.known(red) for red in branch.reds[-MOST_REDS:]}  # here: the journal is read by one thread only
    reds = {red: report for red, report in kept.items() if report is not None}
    looks: list[tuple[str, Callable[[], list[Flag]]]] = [
        ("knows-the-tests", lambda: look_disguised(teeth, branch.tip, files, until)),
        ("knows-the-examples", lambda: look_in_life(teeth, collector, tests, until)),
        ("clock-red", lambda: look_at_reds(teeth, reds, branch.before.bad, until)),
        ("clock-red", lambda: look_at_dates(teeth, branch.base, branch.overlay, branch.mixed, branch.proved, until)),
        ("unnoticed", lambda: look_put_back(teeth, branch.tip, branch.patch, until, files)),
    ]
    wanted = [look for kind, look in Lot(teeth.key, "looks").mixed(looks) if not allowed(kind)]
    with ThreadPoolExecutor(jobs) as pool:
        return [flag for found in pool.map(lambda look: look(), wanted) for flag in found if not allowed(flag.kind)]


def examples_in_code(teeth: Teeth, patch: bytes) -> list[Flag]:
    """The tests' own values where they stand as cases of the code; this runs nothing."""
    said = "the code answers the very examples of the tests case by case; what does it answer to others?"
    found = examples(
        patch, lambda path: teeth.sort(path) == "production", lambda path: teeth.sort(path) == "test", lambda texts: _held(teeth, texts)
    )
    return [Flag("knows-the-examples", said, each.place, after=each.said) for each in found[:MOST_SHOWN]]


def _held(teeth: Teeth, texts: frozenset[str]) -> frozenset[str]:
    """Of these texts, those that a test has: as a value of its own, as a line, or as the whole of a file of data. Tests that are older than the
    change count as well: it may be the one that has them run."""
    lines = sorted({max(text.split("\n"), key=len) for text in texts if "\0" not in text}, key=len, reverse=True)[:MOST_ASKED]
    found = frozenset[str]()
    if not lines:
        return found
    words = [*lines, *(line.replace("\\", "\\\\").replace('"', '\\"') for line in lines if "\\" in line or '"' in line)]
    out = teeth.git.call("grep", "-I", "-l", "-z", "-F", *(arg for word in words for arg in ("-e", word)), teeth.tree, "--")
    paths = [each.partition(":")[2] for each in out.items] if out.code == 0 else []
    for path in [path for path in paths if teeth.sort(path) == "test"][:MOST_READ]:
        text = (teeth.git.read(teeth.tree, path) or b"").decode("utf-8", "replace").replace("\r\n", "\n")
        said = {text.strip(), *(line.strip() for line in text.split("\n")), *values_in(text)}
        found |= {each for each in texts if each in said or each.strip() in said}
    return found
