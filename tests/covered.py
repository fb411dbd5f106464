"""Counts which lines of the source the tests run, and in its core which branches: `./x check` loads it with `-p tests.covered`, and fails below LEAST
and CORE.

Lines are marked in the bytecode when a module is loaded, and a mark is removed once its line has run (docs/decisions/021), so counting costs almost
nothing. It counts what the test processes run, and in the core also what forked calls of the command line run (`tests/warm_counted.py`).
Other programs that tests start are not counted.
"""

import json
import marshal
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from importlib import import_module
from importlib.machinery import ModuleSpec
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "detent"
LEAST = 80  # per cent of all lines
CORE = {
    "kernel": 100,
    "journal": 100,
    "door.py": 100,
    "evidence/outcomes": 100,
    "gates": 97,
}  # per cent of the branches; these may only rise
NO_CODE = (r"if TYPE_CHECKING:", r"class .*\bProtocol\):", r"assert_never\(")  # code only for the type checker
KEY = "covered"  # a worker's key for its counts
FOLDER = "TESTS_COVERED"  # the variable with the folder where forked calls leave their counts
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


def percent(covered: int, missing: int) -> float:
    return 100.0 * covered / (covered + missing) if covered + missing else 100.0


def table(files: Mapping[str, Any]) -> Iterator[str]:
    """A row for each file with lines or branches that no test ran."""
    width = max((len(name) for name in files), default=0)
    for name, counted in sorted(files.items()):
        lines = counted["missing_lines"]
        missed = [f"{start}->{end}" for start, end in counted.get("missing_branches", ()) if start not in lines and end not in lines]
        if lines or missed:
            share = percent(len(counted["executed_lines"]), len(lines))
            yield f"{name:{width}} {share:4.0f}%  {', '.join(filter(None, [ranges(lines), *missed]))}"


def room(path: str) -> str:
    """The room of CORE that a file belongs to; empty if none."""
    name = Path(path).resolve().relative_to(SOURCE).as_posix()
    return next((core for core in CORE if name == core or name.startswith(f"{core}/")), "")


def finder(counter: Any) -> Any:
    """An import hook that counts modules of the source as they are loaded. Branches only in the core, because those modules must be recompiled."""
    from slipcover.importer import FileMatcher, SlipcoverLoader, SlipcoverMetaPathFinder  # type: ignore[import-untyped]  # it brings no types

    class LineLoader(SlipcoverLoader):  # type: ignore[misc]  # likewise
        def exec_module(self, module: Any) -> None:
            self.sci.register_module(module)
            exec(self.sci.instrument(self.orig_loader.get_code(module.__name__)), module.__dict__)

    class Finder(SlipcoverMetaPathFinder):  # type: ignore[misc]  # likewise
        def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
            spec: ModuleSpec | None = super().find_spec(fullname, path, target)
            loader: Any = spec.loader if spec else None
            if spec and spec.origin and isinstance(loader, SlipcoverLoader) and not room(spec.origin):
                spec.loader = LineLoader(loader.sci, loader.orig_loader, spec.origin)
            return spec

    return Finder(counter, FileMatcher(sources=[str(SOURCE)]))


def core_counter() -> Any:
    """Start counting the core alone."""
    from slipcover import FileMatcher, Slipcover  # type: ignore[import-untyped]  # it brings no types

    counter = Slipcover(branch=True, exclude_also=list(NO_CODE))
    found = finder(counter)
    found.file_matcher = FileMatcher(sources=[str(SOURCE / core) for core in CORE])
    sys.meta_path.insert(0, found)
    return counter


def add_forked(files: Mapping[str, Any], folder: Path) -> None:
    """Add the counts of forked calls to the counts of each file."""
    seen: dict[str, set[Any]] = {}
    for place in (each for each in folder.iterdir() if each.suffix != ".part"):  # left by a call that was killed while writing
        for name, found in marshal.loads(place.read_bytes()).items():
            seen.setdefault(name, set()).update(found)
    for name, counted in files.items():
        for sort in ("lines", "branches") if room(name) else ():
            move(counted, sort, seen.get(str(Path(name).resolve()), set()))


def move(counted: dict[str, Any], sort: str, found: set[Any]) -> None:
    """Count as executed what was missing and has now been found."""
    missing = [tuple(each) if isinstance(each, list) else each for each in counted[f"missing_{sort}"]]
    counted[f"missing_{sort}"] = [each for each in missing if each not in found]
    counted[f"executed_{sort}"].extend(each for each in missing if each in found)


class Counting:
    """In a process that runs tests: counts, and passes the counts to the collecting process."""

    def __init__(self) -> None:
        import slipcover

        self.counter: Any = slipcover.Slipcover(branch=True, source=[str(SOURCE)], exclude_also=list(NO_CODE))
        self.finder = finder(self.counter)
        sys.meta_path.insert(0, self.finder)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        sys.meta_path.remove(self.finder)
        session.config.workeroutput[KEY] = json.dumps(self.counter.get_coverage())  # type: ignore[attr-defined]  # xdist puts it there


class Collecting:
    """In the process that collects the reports: adds up, prints, and fails the run below LEAST."""

    def __init__(self) -> None:
        self.counted: Any = None
        self.folder = tempfile.TemporaryDirectory(prefix="detent-tests-covered-")
        os.environ[FOLDER] = self.folder.name  # for the processes that run tests

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        import slipcover

        found = json.loads(getattr(node, "workeroutput", {}).get(KEY, "null"))
        self.counted = slipcover.merge_coverage(self.counted, found) if self.counted and found else self.counted or found

    def share(self) -> float:
        """The percentage of lines that ran."""
        files = list((self.counted or {"files": {}})["files"].values())
        ran, missing = (sum(len(counted[f"{word}_lines"]) for counted in files) for word in ("executed", "missing"))
        return percent(ran, missing if files else 1)

    def branches(self) -> dict[str, float]:
        """The percentage of branches taken, for each room of the core."""
        sums = {core: [0, 0] for core in CORE}
        for name, counted in (self.counted["files"] if self.counted else {}).items():
            if core := room(name):
                sums[core][0] += len(counted["executed_branches"])
                sums[core][1] += len(counted["missing_branches"])
        return {core: percent(*both) for core, both in sums.items()}

    def short(self) -> list[str]:
        """What is below its limit."""
        lines = [f"lines {self.share():.2f} of {LEAST} %"] if self.share() < LEAST else []
        return lines + [
            f"branches of {core} {share:.2f} of {CORE[core]} %" for core, share in self.branches().items() if share < CORE[core]
        ]

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        with self.folder:
            add_forked(self.counted["files"] if self.counted else {}, Path(self.folder.name))
        if session.exitstatus == pytest.ExitCode.OK and self.short():
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        terminalreporter.section("lines that no test ran, and branches of the core that no test took")
        for row in table(self.counted["files"] if self.counted else {}):
            terminalreporter.write_line(row)
        terminalreporter.write_line(f"Lines of the source that tests run: {self.share():.2f} %.")
        terminalreporter.write_line("Branches: " + ", ".join(f"{core} {share:.2f} %" for core, share in self.branches().items()) + ".")
        terminalreporter.write_line(f"NOT reached: {'; '.join(self.short())}." if self.short() else "Enough is reached.")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Before conftest.py, which loads the first modules of the source."""
    counts = "PYTEST_XDIST_WORKER" in os.environ
    early_config.pluginmanager.register(Counting() if counts else Collecting(), KEY)


def pytest_collection_finish() -> None:
    """Import every module in one worker, so that code that runs on import counts even if no test imports it."""
    if os.environ.get("PYTEST_XDIST_WORKER") == FIRST:
        import detent

        for module in walk_packages(detent.__path__, "detent."):
            if not module.name.endswith("__main__"):
                import_module(module.name)
