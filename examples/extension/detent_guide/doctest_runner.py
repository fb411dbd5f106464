"""The test runner `doctest`: the examples of markdown files, one test for each section. Builds the call and reads its report; starts nothing."""

import json
import sys

from detent.errors import CannotTell
from detent.evidence.report import Outcome, TestReport
from detent.evidence.runners import Command, Files, Runner
from detent.evidence.runners.adapter import Parsed

NAME = "doctest"
CALL = ("python3", "-m", "doctest")


def adopt(words: tuple[str, ...]) -> Command | None:
    """`python3 -m doctest FILE.md …`, as `[test] command` may have it."""
    files = words[len(CALL) :]
    fits = words[: len(CALL)] == CALL and all(each.endswith(".md") for each in files)
    return Command(words, NAME, "configured", files) if fits else None


def detect(files: Files) -> Command | None:
    """Asked only where no built-in runner recognises the project."""
    found = tuple(path for path in files.paths() if path.endswith(".md") and ">>> " in (files.read(path) or ""))
    return Command((*CALL, *found), NAME, "path") if found else None


def parse(command: str, base: Command) -> Parsed:
    """An agent's test command: all examples, or none."""
    return Parsed() if command.strip() == base.text else Parsed(fault=f"allowed is `{base.text}`, which runs all examples")


def argv(base: Command, selectors: tuple[str, ...], report_path: str, files: Files | None = None) -> list[str]:
    """The machine's own call, over every markdown file that is there now."""
    return [sys.executable, "-I", "-m", "detent_guide.doctest_run", report_path, *selectors]


def read(report: bytes | None, exit_code: int | None, output: str) -> TestReport:
    """Report and exit code must agree; where they do not, nothing can be told."""
    try:
        messages = json.loads(report or b"")
    except ValueError as e:
        raise CannotTell(f"doctest wrote no report: it ended with code {exit_code}\n{output.strip()[-2000:]}") from e
    outcomes: dict[str, Outcome] = {test: "failed" if message else "passed" for test, message in messages.items()}
    if exit_code != int("failed" in outcomes.values()):
        raise CannotTell(f"doctest ended with code {exit_code}, which does not fit its report\n{output.strip()[-2000:]}")
    return TestReport(
        outcomes=outcomes,
        files={test: test.partition("::")[0] for test in messages},
        messages={test: message for test, message in messages.items() if message},
        output=output,
        exit_code=exit_code,
        runner=NAME,
    )


RUNNER = Runner(NAME, adopt, detect, parse, argv, read, tests=lambda path: path.endswith(".md"), config=lambda path: False)
