"""What PHPUnit's log says, into outcomes by id. Knows neither commands nor the project. Starts no process.

An id is `file::testName`, with the data set where there is one. A file that cannot be loaded, or whose run wrote no log, is one id, the
file, with the outcome `error`. Skipped, incomplete and warned count as skipped.
"""

import re

import msgspec

from detent.errors import CannotTell
from detent.evidence.formats.junit import Case, read_cases
from detent.evidence.ids import readable
from detent.evidence.report import Outcome, TestReport

LARGEST = 64 * 1024 * 1024
LONGEST_MESSAGE = 2000
ASSERTION = ("ExpectationFailedException", "AssertionFailedError", "ComparisonFailure")
RISKY = ("RiskyTestError", "RiskyTest", "CodeCoverageException")
MISSING = re.compile(
    r"Call to undefined (?:function|method) |(?:Class|Interface|Trait|Enum) \"[^\"]*\" not found|Undefined constant |Unknown named parameter "
    r"|Too few arguments to function |Access to undeclared static property |Undefined property: |Failed opening required "
)
RAISED = ("Error", "ArgumentCountError", "Warning")  # by PHP itself
UNCAUGHT = re.compile(rf"Uncaught \w*Error: (?:{MISSING.pattern})")
NONE = re.compile(r"No tests executed!|No tests found in class|Class '?\"?[^\n]*\"? could not be found in")


class Order(msgspec.Struct):
    """What is to be run."""

    program: list[str]
    options: list[str] = []
    paths: list[str] = []


class Ran(msgspec.Struct):
    """One call of PHPUnit; without a log it is about one file, or about nothing."""

    code: int
    output: str
    log: str = ""
    file: str = ""


class Report(msgspec.Struct):
    """All calls, and where they were made."""

    code: int
    root: str
    runs: list[Ran]


def read_report(data: bytes) -> Report:
    if len(data) > LARGEST:
        raise CannotTell(f"the test report has {len(data)} bytes; the most that is read is {LARGEST}")
    try:
        return msgspec.json.decode(data, type=Report)
    except msgspec.DecodeError as e:
        raise CannotTell(f"the test report cannot be read: {e}") from e


def summary(report: Report, exit_code: int | None, output: str) -> TestReport:
    found = TestReport({}, {}, (), output, exit_code, runner="phpunit")
    missing: list[str] = []
    seconds = 0.0
    for ran in report.runs:
        cases = read_cases(ran.log.encode()) if ran.log else []
        for case in cases:
            if case.classname.endswith("WarningTestCase") or case.name == "Warning":
                continue  # a class without tests
            _case(found, case, report.root, missing)
            seconds += case.seconds
        if not ran.log and ran.file:
            found.outcomes[ran.file], found.files[ran.file], found.kinds[ran.file] = "error", ran.file, "Exit"
            found.messages[ran.file] = ran.output.strip()[-LONGEST_MESSAGE:]
            missing += [ran.file] if UNCAUGHT.search(ran.output) else []
    return msgspec.structs.replace(found, missing_names=tuple(missing), seconds=round(seconds, 3))


def _place(text: str, root: str) -> str:
    """The innermost line of the project's own: PHPUnit lists them from there."""
    lines = re.findall(rf"^{re.escape(root.rstrip('/'))}/(?!vendor/)(\S.*?):(\d+)$", text, re.MULTILINE)
    return ":".join(lines[0]) if lines else ""


def _case(found: TestReport, case: Case, root: str, missing: list[str]) -> None:
    file = case.file.removeprefix(root).lstrip("/")
    test = readable(f"{file}::{case.name}")
    if test in found.outcomes:
        raise CannotTell(f"{test} stands twice in the report")
    outcome: Outcome = "passed"
    for problem in case.problems:
        kind = problem.type.rpartition("\\")[2]
        said = (problem.message or problem.text).strip()
        words = said.removeprefix(f"{case.classname.replace('.', chr(92))}::{case.name}").strip()
        outcome = "skipped" if problem.sort == "skipped" or kind in RISKY else "failed"
        found.messages[test] = words[:LONGEST_MESSAGE]
        if outcome == "failed":
            found.kinds[test] = "AssertionError" if kind in ASSERTION else kind
            if place := _place(problem.text, root):
                found.places[test] = place
            missing += [test] if kind in RAISED and MISSING.search(words) else []
    found.outcomes[test], found.files[test] = outcome, file
