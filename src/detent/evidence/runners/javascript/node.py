"""node's own test runner: how a project calls it, the machine's own call, and what its report says. Starts no process.

The report is written by a reporter of ours in the process that watches the tests, not in theirs. Ids are `file::suite > name`. Exit
code and report must agree; where they do not, nothing can be told.
"""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

import msgspec

from detent.errors import CannotTell
from detent.evidence.report import TestReport
from detent.evidence.runners.adapter import REPORTERS, Canary, Command, Files
from detent.evidence.runners.javascript import node_canary, node_command, node_package
from detent.evidence.runners.javascript.node_report import read_lines, summary, unfinished
from detent.evidence.runners.shared_config import is_shared_config

REPORTER = REPORTERS / "node_reporter.mjs"
CONFIG = frozenset({"package.json", ".npmrc", "node.config.json"})
TEST_FOLDERS = frozenset({"test", "tests", "__tests__"})
CODE = frozenset({".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx"})
TEST_NAME = re.compile(r"test|test-.+|.+[._-]test|.+\.spec")  # node's own rule for file names, and one that scripts often name
NOT_FOUND = re.compile(r"^Could not find '", re.MULTILINE)
TAIL = 2000


class Node:
    """The adapter. It holds nothing."""

    name = "node"

    def adopt(self, words: tuple[str, ...]) -> Command | None:
        return node_command.adopt(words)

    def detect(self, files: Files) -> Command | None:
        words = node_package.script_words(files)
        found = node_command.adopt(words) if words else None
        return msgspec.structs.replace(found, source="npm") if found else None

    def refuse(self, command: str, base: Command) -> str | None:
        return node_command.parse(command, base).fault or None

    def selectors(self, command: str, base: Command) -> tuple[str, ...]:
        return node_command.parse(command, base).selectors

    def full(self, base: Command) -> list[str]:
        return list(base.argv)

    def argv(self, base: Command, selectors: tuple[str, ...], report_path: str, files: Files | None = None) -> list[str]:
        """The project's options without its reporters, then ours; what the agent selects replaces the configured paths."""
        end = node_command.program_end(base.argv)
        options, paths = node_command.parts(base.argv[end:])
        chosen = [each for each in selectors if not each.startswith("-")]
        return [
            *base.argv[:end],
            *(each for each in options if each.partition("=")[0] not in node_command.REPORTING),
            "--test-reporter=spec", "--test-reporter-destination=stdout",
            f"--test-reporter={REPORTER.as_uri()}", f"--test-reporter-destination={report_path}",
            *(each for each in selectors if each.startswith("-")),
            *dict.fromkeys(name for each in chosen or paths for name in _spread(each, files)),
        ]  # fmt: skip

    def read(self, report: bytes | None, exit_code: int | None, output: str) -> TestReport:
        if report is None and exit_code == 1 and NOT_FOUND.search(output):
            return TestReport(output=output, exit_code=exit_code, runner=self.name)  # a selected file is not there
        if report is None:
            raise CannotTell(f"node wrote no report: it {_end(exit_code)}{_tail(output)}")
        lines = read_lines(report)
        found = summary(lines, exit_code, output)
        _agree(found, exit_code, output)
        return _with_unfinished(found, unfinished(lines))

    def canary(self, base: Command, selectors: tuple[str, ...], files: Files, near: tuple[str, ...]) -> Canary | str:
        return node_canary.canary(base, selectors, files, near, _is_run)

    def test_patterns(self, base: Command | None, files: Files) -> tuple[str, ...]:
        from detent.evidence.runners.javascript.js_patterns import patterns

        return patterns(self.name, base, files)

    def is_test(self, path: str) -> bool:
        where = PurePosixPath(path)
        if self.is_config(path):
            return False
        name = where.name.removesuffix(".snapshot")  # node keeps the snapshots of a test file beside it
        return _is_named_as_test(name) or bool(TEST_FOLDERS & set(where.parts[:-1]))

    def is_config(self, path: str) -> bool:
        where = PurePosixPath(path)
        ours = where.name in CONFIG and not TEST_FOLDERS & set(where.parts[:-1])
        return ours or is_shared_config(path)

    def runner_part(self, path: str, text: str) -> str:
        return node_package.runner_part(path, text)


def _is_named_as_test(name: str) -> bool:
    where = PurePosixPath(name)
    return where.suffix in CODE and TEST_NAME.fullmatch(where.stem) is not None


def _spread(selector: str, files: Files | None) -> Iterator[str]:
    """A pattern or a folder as the files it stands for, since every version of node reads them differently; else the word itself."""
    if files is None or (PurePosixPath(selector).suffix in CODE and not set("*?{") & set(selector)):
        found = []
    elif set("*?{") & set(selector):
        rule = node_command.matcher(selector)
        found = [path for path in files.paths() if rule.fullmatch(path)]
    else:
        folder = selector.removeprefix("./").rstrip("/").removeprefix(".")
        found = [path for path in files.paths() if path.startswith(f"{folder}/" if folder else "") and _is_run(path)]
    yield from sorted(found) or [selector]


def _is_run(path: str) -> bool:
    """Whether node would run a file of a folder: by its name, or because it lies below a folder `test`."""
    where = PurePosixPath(path)
    return _is_named_as_test(where.name) or (where.suffix in CODE and "test" in where.parts[:-1])


def _with_unfinished(report: TestReport, ended_early: dict[str, str]) -> TestReport:
    files = [file for file in ended_early if report.outcomes.get(file) != "error"]
    said = {file: f"the process ended before the test {ended_early[file]!r} did" for file in files}
    return msgspec.structs.replace(
        report,
        outcomes={**report.outcomes, **dict.fromkeys(files, "error")},
        files={**report.files, **{file: file for file in files}},
        messages={**report.messages, **said},
        kinds={**report.kinds, **dict.fromkeys(files, "Exit")},
    )


def _agree(report: TestReport, exit_code: int | None, output: str) -> None:
    """The exit code and the report tell the same story, or nothing can be told."""
    if exit_code not in (0, 1):
        raise CannotTell(f"node {_end(exit_code)}{_tail(output)}")
    if exit_code == 1 and not report.bad:
        raise CannotTell(f"node ended with code 1, but no test in its report failed (a coverage limit?){_tail(output)}")
    if exit_code == 0 and report.bad:
        raise CannotTell(f"node ended with code 0, but its report has a failure: {min(report.bad)}")


def _end(exit_code: int | None) -> str:
    if exit_code is None:
        return "did not end in time"
    return f"was ended by signal {-exit_code}" if exit_code < 0 else f"ended with code {exit_code}"


def _tail(output: str) -> str:
    kept = output.strip()[-TAIL:]
    return f"\n{kept}" if kept else ""
