"""The results of a test run on the JVM as outcomes by id. Knows no commands and no project; starts no process.

An id is `file::test`, or `file::Inner.test` for an inner class. A file that does not compile, or whose tests ended the process, is one id,
the file, with the outcome `error`; so is a class that fails outside its tests.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from detent.errors import CannotTell
from detent.evidence.report import Outcome
from detent.evidence.runners.jvm.jvm_files import file_of
from detent.evidence.runners.report_reader import SeenTest, numbered
from detent.evidence.source.test_ids import readable

MISSING = re.compile(
    r"cannot find symbol|package \S+ does not exist|cannot be applied to given types|no suitable (?:method|constructor) found"
    r"|static import only from classes and interfaces|constructor \S+ in class \S+ cannot be applied"
)
MISSING_AT_RUN = (
    "java.lang.NoSuchMethodError",
    "java.lang.NoSuchFieldError",
    "java.lang.NoClassDefFoundError",
    "java.lang.ClassNotFoundException",
)
FOREIGN = re.compile(
    r"(?:java|javax|jdk|sun|kotlin|scala|groovy|org\.(?:junit|testng|hamcrest|assertj|mockito|opentest4j|apache\.maven|gradle|codehaus))\b"
)
ASSERTION = re.compile(
    r"(?:AssertionError|AssertionFailedError|ComparisonFailure|MultipleFailuresError|ArrayComparisonFailure|PowerAssertionError)\b"
)


class Log(msgspec.Struct):
    """The report that the runner wrote for a module."""

    module: str
    text: str


class JvmReport(msgspec.Struct):
    """Everything that the wrapper saw."""

    code: int
    logs: list[Log] = []
    classes: dict[str, list[str]] = {}  # class -> the files that declare it
    broken: dict[str, list[str]] = {}  # compiler errors by file
    follows: list[str] = []  # files that failed to compile only after others had been left out
    ended: list[str] = []  # classes whose tests ended the process
    fault: str = ""  # why the run has no result


class JvmCase(NamedTuple):
    """One test case."""

    module: str
    classname: str
    name: str
    outcome: Outcome
    type: str = ""
    message: str = ""
    seconds: float = 0.0
    trace: str = ""


def outcomes(report: JvmReport, cases: Iterable[JvmCase], otherwise: str) -> dict[str, SeenTest]:
    """The outcome of each test. `otherwise`: the file for classes that no file declares."""
    if report.fault:
        raise CannotTell(report.fault)
    found = {
        file: SeenTest(file, "error", _lines(errors), "BuildError", _is_missing(report, file)) for file, errors in report.broken.items()
    }
    for case in cases:
        file = file_of(case.classname, case.module, report.classes) or otherwise
        test = _id(case, file)
        outcome: Outcome = "error" if test == file and case.outcome == "failed" else case.outcome
        message = case.message if outcome != "passed" else ""
        seen = SeenTest(file, outcome, message, seconds=case.seconds)
        if outcome in ("failed", "error"):
            kind = "AssertionError" if ASSERTION.search(case.type) else case.type.rpartition(".")[2] or "Error"
            seen = seen._replace(kind=kind, missing=case.type in MISSING_AT_RUN, place=_place(case, file))
        found[numbered(test, found)] = seen
    for name in report.ended:
        file = file_of(name, "", report.classes) or otherwise
        found[file] = SeenTest(file, "error", f"{name}: its tests ended the process", "Exit")
    return found


def _lines(errors: list[str]) -> str:
    return "\n".join(dict.fromkeys(errors))


def _place(case: JvmCase, file: str) -> str:
    """The innermost frame outside the library and frameworks; for another class the file is named by its package."""
    for name, source, line in re.findall(r"^\s*at ([\w.$/@]+)\.[\w$<>]+\((\w+\.\w+):(\d+)\)", case.trace, re.MULTILINE):
        plain = name.rpartition("/")[2]
        if not FOREIGN.match(plain):
            own = plain.partition("$")[0] == case.classname.partition("$")[0]
            return f"{file}:{line}" if own else f"{'/'.join([*plain.split('.')[:-1], source])}:{line}"
    return ""


def _is_missing(report: JvmReport, file: str) -> bool:
    """Whether all errors are missing names. A file that failed only after others also needs that the others lacked only names."""
    first = [each for each in report.broken if each not in report.follows]
    asked = [file] if file in first else [file, *first]
    return all(MISSING.search(error) for each in asked for error in report.broken[each])


def _id(case: JvmCase, file: str) -> str:
    inner = case.classname.partition("$")[2].replace("$", ".")
    whole = (
        not case.name or case.name in (case.classname, "initializationError", "classMethod") or case.name == f"{case.classname}.{case.name}"
    )
    test = f"{file}::{inner}.{case.name}" if inner else f"{file}::{case.name}"
    return file if whole else readable(test)
