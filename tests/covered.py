"""Counts which lines of the source the tests run: `./x check` loads it with `-p tests.covered`, and fails below LEAST.

Lines are marked in the bytecode as a module is loaded, and a line that was seen is not marked any more (docs/decisions/021), so counting costs next to
nothing while tests run. It counts what the test processes themselves run; programs that they start are not counted.
"""

import json
import os
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "detent"
LEAST = 80  # per cent
NO_CODE = (r"if TYPE_CHECKING:", r"class .*\bProtocol\):", r"assert_never\(")  # lines that say something to the type checker only
KEY = "covered"  # where a worker puts what it counted
FIRST = "gw0"


def ranges(lines: list[int]) -> str:
    """Lines as people write them: 3-5, 9."""
    found: list[list[int]] = []
    for line in sorted(lines):
        if found and line == found[-1][1] + 1:
            found[-1][1] = line
        else:
            found.append([line, line])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in found)


def table(files: Mapping[str, Any]) -> Iterator[str]:
    """A row for each file that has lines which no test ran."""
    width = max((len(name) for name in files), default=0)
    for name, counted in sorted(files.items()):
        if counted["missing_lines"]:
            yield f"{name:{width}} {counted['summary']['percent_covered']:4.0f}%  {ranges(counted['missing_lines'])}"


class Counting:
    """In a process that runs tests: counts, and hands what it counted to the process that collects the reports."""

    def __init__(self) -> None:
        import slipcover  # type: ignore[import-untyped]  # it brings no types

        self.counter: Any = slipcover.Slipcover(source=[str(SOURCE)], exclude_also=list(NO_CODE))
        self.loading: Any = slipcover.ImportManager(self.counter, slipcover.FileMatcher(sources=[str(SOURCE)]))
        self.loading.__enter__()

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        self.loading.__exit__(None, None, None)
        session.config.workeroutput[KEY] = json.dumps(self.counter.get_coverage())  # type: ignore[attr-defined]  # xdist puts it there


class Collecting:
    """In the process that collects the reports: adds up, shows, and fails the run below LEAST."""

    def __init__(self) -> None:
        self.counted: Any = None

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        import slipcover

        found = json.loads(getattr(node, "workeroutput", {}).get(KEY, "null"))
        self.counted = slipcover.merge_coverage(self.counted, found) if self.counted and found else self.counted or found

    def share(self) -> float:
        return float(self.counted["summary"]["percent_covered"]) if self.counted else 0.0

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if session.exitstatus == pytest.ExitCode.OK and self.share() < LEAST:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        terminalreporter.section("lines that no test ran")
        for row in table(self.counted["files"] if self.counted else {}):
            terminalreporter.write_line(row)
        said = "reached" if self.share() >= LEAST else "NOT reached"
        terminalreporter.write_line(f"Lines of the source that tests run: {self.share():.2f} %; the least of {LEAST} % is {said}.")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Before conftest.py is read, which loads the first modules of the source."""
    counts = "PYTEST_XDIST_WORKER" in os.environ
    early_config.pluginmanager.register(Counting() if counts else Collecting(), KEY)


def pytest_collection_finish() -> None:
    """What runs on import is counted once, whether or not a test imports it."""
    if os.environ.get("PYTEST_XDIST_WORKER") == FIRST:
        import detent

        for module in walk_packages(detent.__path__, "detent."):
            if not module.name.endswith("__main__"):
                import_module(module.name)
