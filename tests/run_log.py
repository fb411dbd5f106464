"""A log of the test run, written as it goes, so that an interrupted run still shows what failed and where the time went.

`.pytest_cache/last-run.tsv` has a line per test (outcome, seconds, worker, name), `.pytest_cache/last-failures.txt` the text of each failure.
"""

from pathlib import Path

import pytest


class RunLog:
    """A pytest plugin in the process that collects the reports."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self.lines = (folder / "last-run.tsv").open("w", encoding="utf-8", buffering=1)
        self.failures = (folder / "last-failures.txt").open("w", encoding="utf-8", buffering=1)
        self.seconds: dict[str, float] = {}
        self.outcomes: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        name = report.nodeid
        self.seconds[name] = self.seconds.get(name, 0) + report.duration
        if report.outcome != "passed":
            self.outcomes.setdefault(name, report.outcome)
        if report.failed:
            self.failures.write(f"=== {name} ({report.when})\n{report.longreprtext}\n\n")
        if report.when == "teardown":
            worker = getattr(report, "worker_id", "main")
            outcome = self.outcomes.pop(name, "passed")
            self.lines.write(f"{outcome}\t{self.seconds.pop(name):.3f}\t{worker}\t{name}\n")

    def pytest_unconfigure(self) -> None:
        self.lines.close()
        self.failures.close()
