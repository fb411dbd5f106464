"""What a run of tests on the JVM was, into outcomes by id. Knows neither commands nor the project. Starts no process.

An id is `file::test`, `file::Inner.test` for a class in a class. A file that the compiler refuses, or whose tests ended the process, is
one id, the file, with the outcome `error`; so is a class that broke outside its tests.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from detent.errors import CannotTell
from detent.evidence.ids import readable
from detent.evidence.report import Outcome, TestReport

LARGEST = 64 * 1024 * 1024
LONGEST_MESSAGE = 2000
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


class Order(msgspec.Struct):
    """What is to be run."""

    program: list[str]
    options: list[str] = []
    paths: list[str] = []
    names: list[str] = []


class Log(msgspec.Struct):
    """What the runner wrote down of a module."""

    module: str
    text: str


class Report(msgspec.Struct):
    """Everything that was asked and said."""

    code: int
    logs: list[Log] = []
    classes: dict[str, list[str]] = {}  # the files that declare each class
    broken: dict[str, list[str]] = {}  # what the compiler said, by file
    follows: list[str] = []  # files that were refused only when others had been left out
    ended: list[str] = []  # classes whose tests ended the process
    fault: str = ""  # why nothing can be told


class Played(NamedTuple):
    """One test case."""

    module: str
    classname: str
    name: str
    outcome: Outcome
    type: str = ""
    message: str = ""
    seconds: float = 0.0
    trace: str = ""


def read_report(data: bytes) -> Report:
    if len(data) > LARGEST:
        raise CannotTell(f"the test report has {len(data)} bytes; the most that is read is {LARGEST}")
    try:
        found = msgspec.json.decode(data, type=Report)
    except msgspec.DecodeError as e:
        raise CannotTell(f"the test report cannot be read: {e}") from e
    if found.fault:
        raise CannotTell(found.fault)
    return found


def summary(report: Report, played: Iterable[Played], files: dict[tuple[str, str], str], runner: str) -> TestReport:
    """The outcomes. `files`: of each class in its module."""
    found = TestReport({}, {}, (), "", report.code, runner=runner)
    missing = [file for file, said in report.broken.items() if _break(found, file, said, "BuildError") and _is_missing(report, file)]
    seconds = 0.0
    for case in played:
        file = files[case.module, case.classname]
        test = _free(found, _id(case, file))
        found.outcomes[test], found.files[test] = case.outcome if test != file or case.outcome != "failed" else "error", file
        seconds += case.seconds
        if case.outcome != "passed" and case.message:
            found.messages[test] = case.message[:LONGEST_MESSAGE]
        if case.outcome in ("failed", "error"):
            if place := _place(case, file):
                found.places[test] = place
            found.kinds[test] = "AssertionError" if ASSERTION.search(case.type) else case.type.rpartition(".")[2] or "Error"
            missing += [test] if case.type in MISSING_AT_RUN else []
    for name in report.ended:
        _break(found, files["", name], [f"{name}: its tests ended the process"], "Exit")
    return msgspec.structs.replace(found, missing_names=tuple(missing), seconds=round(seconds, 3))


def _place(case: Played, file: str) -> str:
    """The innermost line that is not of the library or a framework; the file of another class is named by its package."""
    for name, source, line in re.findall(r"^\s*at ([\w.$/@]+)\.[\w$<>]+\((\w+\.\w+):(\d+)\)", case.trace, re.MULTILINE):
        plain = name.rpartition("/")[2]
        if not FOREIGN.match(plain):
            own = plain.partition("$")[0] == case.classname.partition("$")[0]
            return f"{file}:{line}" if own else f"{'/'.join([*plain.split('.')[:-1], source])}:{line}"
    return ""


def check(found: TestReport, code: int, exit_code: int | None, output: str, program: str) -> None:
    """Exit code and report must agree."""
    tail = output.strip()[-2000:]
    if code != exit_code or exit_code not in (0, 1):
        raise CannotTell(f"{program} ended with code {exit_code}\n{tail}")
    if exit_code and not found.bad:
        raise CannotTell(f"{program} ended with code {exit_code}, but no test in its report failed\n{tail}")
    told = [test for test in found.bad if found.kinds.get(test) != "Exit"]
    if exit_code == 0 and told:
        raise CannotTell(f"{program} ended with code 0, but its report has a failure: {min(told)}")


def _break(found: TestReport, file: str, said: list[str], kind: str) -> bool:
    found.outcomes[file], found.files[file], found.kinds[file] = "error", file, kind
    found.messages[file] = "\n".join(dict.fromkeys(said))[:LONGEST_MESSAGE]
    return True


def _is_missing(report: Report, file: str) -> bool:
    """Only names are missing; of a file that was refused after others, only if nothing else was wrong with them either."""
    first = [each for each in report.broken if each not in report.follows]
    asked = [file] if file in first else [file, *first]
    return all(MISSING.search(said) for each in asked for said in report.broken[each])


def _id(case: Played, file: str) -> str:
    inner = case.classname.partition("$")[2].replace("$", ".")
    whole = (
        not case.name or case.name in (case.classname, "initializationError", "classMethod") or case.name == f"{case.classname}.{case.name}"
    )
    test = f"{file}::{inner}.{case.name}" if inner else f"{file}::{case.name}"
    return file if whole else readable(test)


def _free(found: TestReport, test: str) -> str:
    """The second of one name gets a number."""
    count, name = 1, test
    while name in found.outcomes:
        count += 1
        name = f"{test} ({count})"
    return name
