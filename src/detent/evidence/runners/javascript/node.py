"""node's own test runner. Our reporter writes the report in the process that watches the tests, not in theirs."""

import re
from functools import partial
from pathlib import PurePosixPath

import msgspec

from detent.evidence.report import TestReport
from detent.evidence.runners.adapter import REPORTERS, Command, Files, Runner
from detent.evidence.runners.javascript import node_canary, node_command, node_package
from detent.evidence.runners.javascript.js_patterns import patterns, reaches
from detent.evidence.runners.javascript.js_project import CODE, spread
from detent.evidence.runners.javascript.node_report import read_lines, summary, unfinished
from detent.evidence.runners.report_reader import agree, describe_exit, no_report

REPORTER = REPORTERS / "node_reporter.mjs"
TEST_FOLDERS = frozenset({"test", "tests", "__tests__"})
TEST_NAME = re.compile(r"test|test-.+|.+[._-]test|.+\.spec")  # node's own file name rule, and a name that scripts often use
NOT_FOUND = re.compile(r"^Could not find '", re.MULTILINE)


def detect(files: Files) -> Command | None:
    words = node_package.script_words(files)
    found = node_command.adopt(words) if words else None
    return msgspec.structs.replace(found, source="npm") if found else None


def argv(base: Command, selectors: tuple[str, ...], report_path: str, files: Files | None = None) -> list[str]:
    """The project's options without its reporters, then ours; an agent's selection replaces the configured paths."""
    end = node_command.program_end(base.argv)
    options, paths = node_command.parts(base.argv[end:])
    chosen = tuple(each for each in selectors if not each.startswith("-"))
    return [
        *base.argv[:end],
        *(each for each in options if each.partition("=")[0] not in node_command.REPORTING),
        "--test-reporter=spec", "--test-reporter-destination=stdout",
        f"--test-reporter={REPORTER.as_uri()}", f"--test-reporter-destination={report_path}",
        *(each for each in selectors if each.startswith("-")),
        *dict.fromkeys(spread(chosen or tuple(paths), files, is_run)),  # versions of node read folders and patterns differently
    ]  # fmt: skip


def read(report: bytes | None, exit_code: int | None, output: str) -> TestReport:
    if report is None and exit_code == 1 and NOT_FOUND.search(output):
        return TestReport(output=output, exit_code=exit_code, runner="node")  # a selected file does not exist
    if report is None:
        raise no_report("node", describe_exit(exit_code), exit_code, output)
    lines = read_lines(report)
    found = summary(lines, exit_code, output)
    agree(found, "node", (0, 1), "a coverage limit?")
    return _with_unfinished(found, unfinished(lines))


def _with_unfinished(report: TestReport, ended_early: dict[str, str]) -> TestReport:
    files = [file for file in ended_early if report.outcomes.get(file) != "error"]
    messages = {file: f"the process ended before the test {ended_early[file]!r} did" for file in files}
    return msgspec.structs.replace(
        report,
        outcomes={**report.outcomes, **dict.fromkeys(files, "error")},
        files={**report.files, **{file: file for file in files}},
        messages={**report.messages, **messages},
        kinds={**report.kinds, **dict.fromkeys(files, "Exit")},
    )


def is_run(path: str) -> bool:
    """Whether node would run a file of a folder: by its name, or because it is below a folder `test`."""
    where = PurePosixPath(path)
    return _is_named_as_test(where.name) or (where.suffix in CODE and "test" in where.parts[:-1])


def is_test(path: str) -> bool:
    where = PurePosixPath(path)
    name = where.name.removesuffix(".snapshot")  # node keeps a test file's snapshots beside it
    return _is_named_as_test(name) or bool(TEST_FOLDERS & set(where.parts[:-1]))


def _is_named_as_test(name: str) -> bool:
    where = PurePosixPath(name)
    return where.suffix in CODE and TEST_NAME.fullmatch(where.stem) is not None


RUNNER = Runner(
    name="node",
    adopt=node_command.adopt,
    detect=detect,
    parse=node_command.parse,
    argv=argv,
    read=read,
    tests=is_test,
    config=re.compile(r"(?!(?:.*/)?(?:tests?|__tests__)/)(?:.*/)?(?:package\.json|\.npmrc|node\.config\.json)").fullmatch,
    runner_part=node_package.runner_part,
    test_patterns=partial(patterns, "node"),
    reaches=partial(reaches, "node"),
    canary=partial(node_canary.canary, is_run=is_run),
)
