"""What our formatter wrote of RSpec runs, into outcomes by id. Knows neither commands nor the project. Starts no process.

An id is `file::full description`; the second example of one description is `… (2)`. A file that cannot be loaded is one id, the file,
with the outcome `error`. A pending example counts as skipped.
"""

import re
from collections import Counter

import msgspec

from detent.errors import CannotTell
from detent.evidence.ids import readable
from detent.evidence.report import Outcome, TestReport

LARGEST = 64 * 1024 * 1024
LONGEST_MESSAGE = 2000
OUTCOME: dict[str, Outcome] = {"passed": "passed", "failed": "failed", "pending": "skipped"}
ASSERTION = ("ExpectationNotMetError", "MockExpectationError", "MultipleExpectationsNotMetError", "PendingExampleFixedError")
BUILTIN = "(?:NilClass|Integer|Float|String|Array|Hash|Symbol)"
MISSING = {
    "NameError": re.compile(r"uninitialized constant |undefined (?:local variable or )?method "),
    "NoMethodError": re.compile(rf"undefined method .+? for (?!nil\b|an instance of {BUILTIN}\b|[^\n]*:{BUILTIN}$)", re.MULTILINE),
    "LoadError": re.compile(r"cannot load such file -- "),
    "ArgumentError": re.compile(r"wrong number of arguments|(?:unknown|missing) keywords?: "),
}


class Order(msgspec.Struct):
    """What is to be run."""

    program: list[str]
    options: list[str] = []
    paths: list[str] = []


class Example(msgspec.Struct):
    file: str
    name: str
    status: str
    seconds: float
    kind: str = ""
    message: str = ""
    place: str = ""


class Outside(msgspec.Struct):
    """An error that belongs to no example."""

    file: str
    context: str
    kind: str
    message: str
    place: str = ""


class Said(msgspec.Struct):
    """What one run said."""

    examples: list[Example] = []
    outside: list[Outside] = []
    files: list[str] = []
    dry: bool = False


class Report(msgspec.Struct):
    """All runs: the second is without the files that could not be loaded."""

    code: int
    runs: list[Said]


def read_report(data: bytes) -> Report:
    if len(data) > LARGEST:
        raise CannotTell(f"the test report has {len(data)} bytes; the most that is read is {LARGEST}")
    try:
        report = msgspec.json.decode(data, type=Report)
    except msgspec.DecodeError as e:
        raise CannotTell(f"the test report cannot be read: {e}") from e
    if any(each.dry for each in report.runs):
        raise CannotTell("RSpec ran nothing: the project asks for a dry run")
    return report


def summary(report: Report, exit_code: int | None, output: str) -> TestReport:
    found = TestReport({}, {}, (), output, exit_code, runner="rspec")
    times: Counter[str] = Counter()
    missing = []
    for each in (example for run in report.runs for example in run.examples):
        test = readable(f"{each.file}::{each.name}")
        times[test] += 1
        test = f"{test} ({times[test]})" if times[test] > 1 else test
        _add(found, test, each.file, OUTCOME.get(each.status, "error"), each.kind, each.message, each.place)
        missing += [test] if each.status == "failed" and is_missing(each.kind, each.message) else []
    for other in (each for run in report.runs for each in run.outside):
        test = other.file or "(outside of examples)"
        _add(found, test, test, "error", other.kind, other.message, other.place)
        missing += [test] if is_missing(other.kind, other.message) and test not in missing else []
    seconds = sum(example.seconds for run in report.runs for example in run.examples)
    return msgspec.structs.replace(found, missing_names=tuple(missing), seconds=round(seconds, 3))


def _add(found: TestReport, test: str, file: str, outcome: Outcome, kind: str, message: str, place: str) -> None:
    found.outcomes[test], found.files[test] = outcome, file
    if message:
        found.messages[test] = message.strip()[:LONGEST_MESSAGE]
    if place:
        found.places[test] = place
    if kind:
        last = kind.rpartition("::")[2]
        found.kinds[test] = "AssertionError" if last in ASSERTION else last


def is_missing(kind: str, message: str) -> bool:
    """Whether an error says that a name is not there yet."""
    pattern = MISSING.get(kind)
    return bool(pattern and pattern.match(message))
