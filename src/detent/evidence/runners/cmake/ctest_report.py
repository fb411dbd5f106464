"""The output of cmake, the compiler and ctest as outcomes by id. Knows no commands and no project; starts no process.

An id is `file::test name`, with a source file of the test's program. A program that could not be built is one id, the file at
fault, with the outcome `error`. ctest knows only how a test's process ended.
"""

import re

import msgspec

from detent.errors import CannotTell
from detent.evidence.runners.report_reader import JUnitCase, SeenTest, read_cases

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


class CTestListed(msgspec.Struct):
    """One test that cmake lists, with its source file and whether its program was built."""

    name: str
    file: str
    built: bool
    excuse: str = ""  # why its outcome proves nothing: disabled, or expected to fail


class CTestReport(msgspec.Struct):
    """Everything that the wrapper saw."""

    code: int
    root: str
    built: str  # output of the compiler and the linker
    tests: list[CTestListed]
    log: str = ""
    reasons: dict[str, str] = {}  # why each test failed, from ctest's summary
    unlinked: dict[str, list[str]] = {}  # undefined references by source file


def outcomes(report: CTestReport) -> dict[str, SeenTest]:
    found = _not_built(report)
    known = {each.name: each for each in report.tests}
    for case in read_cases(report.log.encode()) if report.log else []:
        listed = known.get(case.name)
        if listed is None or f"{listed.file}::{case.name}" in found:
            raise CannotTell(f"the test {case.name!r} is in the report, but cmake lists it not at all or twice")
        if listed.built:  # else its file has the error
            found[f"{listed.file}::{case.name}"] = _seen(listed, case, report.reasons.get(case.name, "Failed"))
    lost = [each.name for each in report.tests if each.built and f"{each.file}::{each.name}" not in found]
    if lost and report.log:
        raise CannotTell(f"ctest was to run {lost[0]!r}, but its report does not have it")
    return found


def _seen(listed: CTestListed, case: JUnitCase, reason: str) -> SeenTest:
    problem = case.problems[0] if case.problems else None
    if problem is None:
        return SeenTest(listed.file, "skipped" if listed.excuse else "passed", listed.excuse)
    message = problem.message or reason
    if problem.sort == "skipped":
        return SeenTest(listed.file, "skipped", message)
    return SeenTest(
        listed.file, "failed", message, "AssertionError" if PLAIN.match(message) or ABORTED.search(message) else message.split()[0]
    )


def _not_built(report: CTestReport) -> dict[str, SeenTest]:
    """Each file that the compiler or linker rejected; a program without such a file counts by its own source."""
    errors: dict[str, list[str]] = {}
    for file, message in FAULT.findall(report.built):
        errors.setdefault(_relative(file, report.root), []).append(message)
    for file, messages in report.unlinked.items():
        errors.setdefault(_relative(file, report.root), []).extend(messages)
    for each in report.tests:
        if not each.built and each.file not in errors:
            errors[each.file] = [f"the program of {each.name} was not built"]
    return {file: SeenTest(file, "error", "\n".join(dict.fromkeys(says)), "BuildError", _is_missing(says)) for file, says in errors.items()}


def _is_missing(says: list[str]) -> bool:
    """Whether all errors are missing names or follow from them."""
    named = [bool(MISSING.search(each)) for each in says]
    return any(named) and all(is_named or FOLLOWS.search(each) for is_named, each in zip(named, says, strict=True))


def _relative(file: str, root: str) -> str:
    return file.removeprefix(root).lstrip("/")
