"""What cmake, the compiler and ctest said, into outcomes by id. Knows neither commands nor the project. Starts no process.

An id is `file::test name`; the file is a source of the program that the test runs. A program that could not be built is one id, the
file at fault, with the outcome `error`. ctest knows nothing of a test but how its process ended.
"""

import re

import msgspec

from detent.errors import CannotTell
from detent.evidence.formats.junit import Problem, read_cases
from detent.evidence.report import Outcome, TestReport

LARGEST = 64 * 1024 * 1024
LONGEST_MESSAGE = 2000
FAULT = re.compile(r"^(\S[^:\n]*\.\w+):\d+(?::\d+)?: (?:fatal )?error: (.+)$", re.MULTILINE)
MISSING = re.compile(
    r"[‘'`].+[’'] (?:was not declared|undeclared|has not been declared|does not name a type|is not a member of|has no member)"
    r"|implicit declaration of function|use of undeclared identifier|no member named|no type named|unknown type name|\S+: No such file or directory"
    r"|'[^']+' file not found|too (?:many|few) arguments to function|no matching function for call|undefined reference to|has no member named"
    r"|[‘'`].+[’'] has not been declared|no template named"
)
FOLLOWS = re.compile(r"expected [‘'`];[’'] before|template argument \d+ is invalid")
ABORTED = re.compile(r"abort", re.IGNORECASE)
PLAIN = re.compile(r"Failed\Z|Required regular expression|Error regular expression")


class Order(msgspec.Struct):
    """What is to be run."""

    paths: list[str] = []
    name: str = ""  # a regular expression, as -R takes it


class Listed(msgspec.Struct):
    """One test that cmake knows: the file it belongs to, and whether its program is there."""

    name: str
    file: str
    built: bool
    excuse: str = ""  # why it proves nothing: disabled, or failing is what it should do


class Report(msgspec.Struct):
    """Everything that was asked and said."""

    code: int
    root: str
    built: str  # what the compiler and the linker said
    tests: list[Listed]
    log: str = ""
    reasons: dict[str, str] = {}  # why a test failed, by ctest's own summary
    unlinked: dict[str, list[str]] = {}  # what the linker misses, by source


def read_report(data: bytes) -> Report:
    if len(data) > LARGEST:
        raise CannotTell(f"the test report has {len(data)} bytes; the most that is read is {LARGEST}")
    try:
        return msgspec.json.decode(data, type=Report)
    except msgspec.DecodeError as e:
        raise CannotTell(f"the test report cannot be read: {e}") from e


def summary(report: Report, exit_code: int | None, output: str) -> TestReport:
    found = TestReport({}, {}, (), output, exit_code, runner="ctest")
    missing = _not_built(found, report)
    known = {each.name: each for each in report.tests}
    for case in read_cases(report.log.encode()) if report.log else []:
        listed = known.get(case.name)
        if listed is None or f"{listed.file}::{case.name}" in found.outcomes:
            raise CannotTell(f"the test {case.name!r} stands in the report, but cmake does not know it, or knows it twice")
        if not listed.built:
            continue  # its file stands for it
        problem = case.problems[0] if case.problems else None
        outcome: Outcome = "passed" if problem is None else "skipped" if problem.sort == "skipped" else "failed"
        if outcome == "passed" and listed.excuse:
            outcome = "skipped"
        _add(found, f"{listed.file}::{case.name}", listed.file, outcome, _why(report, case.name, problem) or listed.excuse)
    lost = [each.name for each in report.tests if each.built and f"{each.file}::{each.name}" not in found.outcomes]
    if lost and report.log:
        raise CannotTell(f"ctest was to run {lost[0]!r}, but its report does not have it")
    return msgspec.structs.replace(found, missing_names=tuple(missing))


def _why(report: Report, test: str, problem: Problem | None) -> str:
    return (problem.message or report.reasons.get(test, "Failed")) if problem else ""


def _add(found: TestReport, test: str, file: str, outcome: Outcome, said: str) -> None:
    found.outcomes[test], found.files[test] = outcome, file
    if said:
        found.messages[test] = said[:LONGEST_MESSAGE]
    if outcome == "failed":
        found.kinds[test] = "AssertionError" if PLAIN.match(said) or ABORTED.search(said) else said.split()[0]


def _not_built(found: TestReport, report: Report) -> list[str]:
    """Each file that the compiler or the linker refused; a program without any such file stands by its own source."""
    said: dict[str, list[str]] = {}
    for file, message in FAULT.findall(report.built):
        said.setdefault(_relative(file, report.root), []).append(message)
    for file, messages in report.unlinked.items():
        said.setdefault(_relative(file, report.root), []).extend(messages)
    for each in report.tests:
        if not each.built and each.file not in said:
            said[each.file] = [f"the program of {each.name} was not built"]
    missing = []
    for file, messages in said.items():
        found.outcomes[file], found.files[file], found.kinds[file] = "error", file, "BuildError"
        found.messages[file] = "\n".join(dict.fromkeys(messages))[:LONGEST_MESSAGE]
        named = [bool(MISSING.search(each)) for each in messages]
        if any(named) and all(is_named or FOLLOWS.search(each) for is_named, each in zip(named, messages, strict=True)):
            missing.append(file)
    return missing


def _relative(file: str, root: str) -> str:
    return file.removeprefix(root).lstrip("/")
