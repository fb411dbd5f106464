"""Test runs without a workspace: each tree once in its own clean checkout, several at a time.

Reads no reports of earlier runs unless they are handed in. Knows trees, not what they mean.
"""

import threading
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed

from detent.errors import CannotTell
from detent.evidence.report import TestReport
from detent.evidence.running.collect import Collector, Near, Overlay, Wanted
from detent.git.repo import GitError


class CleanRuns:
    """The test reports of many trees, behind the interface that a look uses."""

    def __init__(self, collector: Collector, known: Mapping[str, TestReport] | None = None) -> None:
        self.suite, self.digests = collector.suite, collector.digests
        self._collector = collector
        self._seen: dict[str, TestReport | CannotTell] = dict(known or {})
        self._one = threading.Lock()

    def run_all(
        self, trees: Collection[str], jobs: int, stop: threading.Event, done: Callable[[str], None], wanted: Wanted = lambda: True
    ) -> None:
        """Run the tests of all these trees. A CannotTell is kept and raised when its tree is asked for. `stop` ends running tests."""

        def may_continue() -> bool:
            return not stop.is_set() and wanted()

        first = [] if self._collector.warm else [tree for tree in trees if tree == self._collector.began]
        for tree in first:  # first, because the other trees reuse what it builds
            self._run(tree, may_continue)
            done(tree)
        trees = [tree for tree in trees if tree not in first]
        with ThreadPoolExecutor(jobs) as pool:
            waits = {pool.submit(self._run, tree, may_continue): tree for tree in trees}
            try:
                for each in as_completed(waits):
                    each.result()
                    done(waits[each])
            except BaseException:
                stop.set()
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def _run(self, tree: str, wanted: Wanted) -> None:
        try:
            seen: TestReport | CannotTell = self._collector.clean(tree, wanted)
        except CannotTell as e:
            seen = e
        except (GitError, OSError) as e:
            seen = CannotTell(f"the tree {tree[:12]} could not be checked out: {e}")
        with self._one:
            self._seen[tree] = seen

    def here(self, tree: str, wanted: Wanted, command: str = "", near: Near = ()) -> TestReport:
        """The report of a tree. Without a workspace this is a clean checkout too."""
        if tree not in self._seen:
            self._run(tree, wanted)
        seen = self._seen[tree]
        if isinstance(seen, CannotTell):
            raise seen
        return seen

    def clean(
        self,
        tree: str,
        wanted: Wanted,
        selectors: tuple[str, ...] = (),
        overlay: Overlay | None = None,
        near: Near = (),
    ) -> TestReport:
        return self._collector.clean(tree, wanted, selectors, overlay) if selectors or overlay else self.here(tree, wanted)

    def known(self, tree: str) -> TestReport | None:
        seen = self._seen.get(tree)
        return seen if isinstance(seen, TestReport) else None

    def keep(self, tree: str, report: TestReport) -> TestReport:
        """Keep a derived report of a tree, unless the tree was really run."""
        with self._one:
            self._seen.setdefault(tree, report)
        return report

    def selection(self, tree: str, selectors: tuple[str, ...], wanted: Wanted, command: str = "", near: Near = ()) -> TestReport:
        return self._collector.clean(tree, wanted, selectors, near=near)

    def probe(self, tree: str, wanted: Wanted, selectors: tuple[str, ...], overlay: Overlay, seconds: float, name: str = "") -> TestReport:
        return self._collector.probe(tree, wanted, selectors, overlay, seconds, name)

    def preflight(self, tree: str, commands: tuple[str, ...], wanted: Wanted) -> tuple[str | None, str]:
        return None, ""
