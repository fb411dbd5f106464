"""PHPUnit's log as outcomes by id. Knows no commands and no project; starts no process.

An id is `file::testName`, with the data set if there is one. A file that cannot be loaded, or whose run wrote no log, is one id, the
file, with the outcome `error`. Skipped, incomplete, risky and warned tests count as skipped.
"""

import re

import msgspec

from detent.errors import CannotTell
from detent.evidence.runners.report_reader import LONGEST_MESSAGE, JUnitCase, SeenTest, read_cases
from detent.evidence.source.test_ids import readable

ASSERTION = ("ExpectationFailedException", "AssertionFailedError", "ComparisonFailure")
RISKY = ("RiskyTestError", "RiskyTest", "CodeCoverageException")
MISSING = re.compile(
    r"Call to undefined (?:function|method) |(?:Class|Interface|Trait|Enum) \"[^\"]*\" not found|Undefined constant |Unknown named parameter "
    r"|Too few arguments to function |Access to undeclared static property |Undefined property: |Failed opening required "
)
RAISED = ("Error", "ArgumentCountError", "Warning")  # raised by PHP itself
UNCAUGHT = re.compile(rf"Uncaught \w*Error: (?:{MISSING.pattern})")
NONE = re.compile(r"No tests executed!|No tests found in class|Class '?\"?[^\n]*\"? could not be found in")


class PhpunitCall(msgspec.Struct):
    """One call of PHPUnit. Without a log, `file` names the file that broke it, if one did."""

    code: int
    output: str
    log: str = ""
    file: str = ""


class PhpunitReport(msgspec.Struct):
    """All calls, and the folder they ran in."""

    code: int
    root: str
    runs: list[PhpunitCall]


def outcomes(report: PhpunitReport) -> dict[str, SeenTest]:
    found: dict[str, SeenTest] = {}
    for ran in report.runs:
        for case in read_cases(ran.log.encode()) if ran.log else []:
            if case.classname.endswith("WarningTestCase") or case.name == "Warning":
                continue  # a class without tests
            file = case.file.removeprefix(report.root).lstrip("/")
            test = readable(f"{file}::{case.name}")
            if test in found:
                raise CannotTell(f"{test} is in the report twice")
            found[test] = _case(file, case, report.root)
        if not ran.log and ran.file:
            found[ran.file] = SeenTest(ran.file, "error", ran.output.strip()[-LONGEST_MESSAGE:], "Exit", bool(UNCAUGHT.search(ran.output)))
    return found


def _place(text: str, root: str) -> str:
    """The innermost line of the project, the first that PHPUnit lists."""
    lines = re.findall(rf"^{re.escape(root.rstrip('/'))}/(?!vendor/)(\S.*?):(\d+)$", text, re.MULTILINE)
    return ":".join(lines[0]) if lines else ""


def _case(file: str, case: JUnitCase, root: str) -> SeenTest:
    seen = SeenTest(file, "passed", seconds=case.seconds)
    for problem in case.problems:
        kind = problem.type.rpartition("\\")[2]
        message = (problem.message or problem.text).strip()
        words = message.removeprefix(f"{case.classname.replace('.', chr(92))}::{case.name}").strip()
        if problem.sort == "skipped" or kind in RISKY:
            seen = seen._replace(outcome="skipped", message=words)
            continue
        missing = seen.missing or (kind in RAISED and bool(MISSING.search(words)))
        place = _place(problem.text, root) or seen.place
        seen = SeenTest(file, "failed", words, "AssertionError" if kind in ASSERTION else kind, missing, place, case.seconds)
    return seen
