"""What every probe is given: the repository, how to run tests, the judged tree, the trees to compare with, and the time limit."""

from collections.abc import Callable
from typing import NamedTuple

from detent.errors import CannotTell, Disturbed
from detent.evidence.changes.changes import ReferenceTrees
from detent.evidence.look import PROBE_SECONDS
from detent.evidence.outcomes.card import Trial
from detent.evidence.report import TestReport
from detent.evidence.running.busy import idle_clock
from detent.evidence.running.collect import Collects, Overlay, Wanted
from detent.evidence.source.diff import Changed
from detent.evidence.source.file_text import text_of
from detent.git.repo import Git

ONE_RUN = 10.0  # least time limit in seconds for running one mutant, which may loop forever
SLOWER = 3  # or this many times the duration of the plain test run, if longer


class ProbeContext(NamedTuple):
    """The judged tree, and the means to run tests on it."""

    git: Git
    collect: Collects
    wanted: Wanted
    sort: Callable[[str], str]  # of a path: test, production, config and so on
    tree: str
    reference: ReferenceTrees
    changed: tuple[Changed, ...]
    seconds: float = PROBE_SECONDS  # the time limit of a probe
    key: bytes = b""  # the seed of random choices; the probed code cannot know it
    tried: Callable[[Trial], None] = lambda trial: None  # called for each trial worth recording
    clock: Callable[[], float] = idle_clock  # measures the time limit

    def text(self, path: str, tree: str | None = None) -> str:
        """The text of a file in the judged tree, or in another one; empty if it does not exist."""
        return text_of(self.git.read(self.tree if tree is None else tree, path) or b"")

    def paths(self, tree: str | None = None) -> tuple[str, ...]:
        """All paths in the judged tree, or in another one."""
        return tuple(self.git.run("ls-tree", "-r", "-z", "--name-only", self.tree if tree is None else tree).items)

    def run(self, files: tuple[str, ...], overlay: Overlay, seconds: float, tree: str | None = None, name: str = "") -> TestReport | None:
        """The report of some test files, or of all, with an overlay on a tree. None if they cannot be run, or no time is left."""
        if seconds <= 0:
            return None
        try:
            return self.collect.probe(self.tree if tree is None else tree, self.wanted, files, overlay, seconds, name)
        except Disturbed:
            raise
        except CannotTell:
            return None

    def one_run(self, wall: float, until: float) -> float:
        """The time limit for one run of tests that usually take `wall` seconds, if all runs must end by `until`."""
        return min(max(ONE_RUN, SLOWER * wall), until - self.clock())
