"""What every probe works with: the repository, how tests are run, the tree, what it is compared with, and how long it may take."""

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

ONE_RUN = 10.0  # seconds for one mutant: it may loop for ever
SLOWER = 3  # or so many times what the tests take without one, if that is more


class ProbeContext(NamedTuple):
    """What a probe works with."""

    git: Git
    collect: Collects
    wanted: Wanted
    sort: Callable[[str], str]  # of a path: test, production, config, …
    tree: str
    reference: ReferenceTrees
    changed: tuple[Changed, ...]
    seconds: float = PROBE_SECONDS  # how long a probe may take
    key: bytes = b""  # what is drawn by lot in a probe is drawn with it; the code that is probed does not know it
    tried: Callable[[Trial], None] = lambda trial: None  # who wants to know what was tried
    clock: Callable[[], float] = idle_clock  # by which its seconds are counted

    def text(self, path: str, tree: str | None = None) -> str:
        """A file of the judged tree, or of another one; empty if it has none."""
        return text_of(self.git.read(self.tree if tree is None else tree, path) or b"")

    def paths(self, tree: str | None = None) -> tuple[str, ...]:
        """Every path of the judged tree, or of another one."""
        return tuple(self.git.run("ls-tree", "-r", "-z", "--name-only", self.tree if tree is None else tree).items)

    def run(self, files: tuple[str, ...], overlay: Overlay, seconds: float, tree: str | None = None, name: str = "") -> TestReport | None:
        """What the tests of some files, or of all, say with other files laid over a tree. None if they cannot be run, or there is no time left."""
        if seconds <= 0:
            return None
        try:
            return self.collect.probe(self.tree if tree is None else tree, self.wanted, files, overlay, seconds, name)
        except Disturbed:
            raise
        except CannotTell:
            return None

    def one_run(self, wall: float, until: float) -> float:
        """The seconds for one run of tests that take so long by themselves, if all runs have to end by then."""
        return min(max(ONE_RUN, SLOWER * wall), until - self.clock())
