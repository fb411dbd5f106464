"""What our formatter wrote about RSpec runs, as outcomes by id. Knows no commands and no project; starts no process.

An id is `file::full description`; a second example of the same description is `… (2)`. A file that cannot be loaded is one id, the
file, with the outcome `error`. A pending example counts as skipped.
"""

import re

import msgspec

from detent.errors import CannotTell
from detent.evidence.report import Outcome
from detent.evidence.runners.report_reader import SeenTest, numbered
from detent.evidence.source.test_ids import readable

OUTCOME: dict[str, Outcome] = {"passed": "passed", "failed": "failed", "pending": "skipped"}
ASSERTION = ("ExpectationNotMetError", "MockExpectationError", "MultipleExpectationsNotMetError", "PendingExampleFixedError")
BUILTIN = "(?:NilClass|Integer|Float|String|Array|Hash|Symbol)"
MISSING = {
    "NameError": re.compile(r"uninitialized constant |undefined (?:local variable or )?method "),
    "NoMethodError": re.compile(rf"undefined method .+? for (?!nil\b|an instance of {BUILTIN}\b|[^\n]*:{BUILTIN}$)", re.MULTILINE),
    "LoadError": re.compile(r"cannot load such file -- "),
    "ArgumentError": re.compile(r"wrong number of arguments|(?:unknown|missing) keywords?: "),
}


class RSpecExample(msgspec.Struct):
    file: str
    name: str
    status: str
    seconds: float
    kind: str = ""
    message: str = ""
    place: str = ""


class RSpecOutside(msgspec.Struct):
    """An error outside any example."""

    file: str
    context: str
    kind: str
    message: str
    place: str = ""


class RSpecRun(msgspec.Struct):
    """What one run reported."""

    examples: list[RSpecExample] = []
    outside: list[RSpecOutside] = []
    files: list[str] = []
    dry: bool = False


class RSpecReport(msgspec.Struct):
    """All runs; a second one is without the files that could not be loaded."""

    code: int
    runs: list[RSpecRun]


def outcomes(report: RSpecReport) -> dict[str, SeenTest]:
    if any(each.dry for each in report.runs):
        raise CannotTell("RSpec ran nothing: the project configures a dry run")
    found: dict[str, SeenTest] = {}
    for each in (example for run in report.runs for example in run.examples):
        missing = each.status == "failed" and is_missing(each.kind, each.message)
        test = numbered(readable(f"{each.file}::{each.name}"), found)
        found[test] = SeenTest(
            each.file, OUTCOME.get(each.status, "error"), each.message.strip(), _kind(each.kind), missing, each.place, each.seconds
        )
    for other in (each for run in report.runs for each in run.outside):
        test = other.file or "(outside of examples)"
        missing = is_missing(other.kind, other.message) or (test in found and found[test].missing)
        found[test] = SeenTest(test, "error", other.message.strip(), _kind(other.kind), missing, other.place)
    return found


def _kind(kind: str) -> str:
    last = kind.rpartition("::")[2]
    return "AssertionError" if last in ASSERTION else last


def is_missing(kind: str, message: str) -> bool:
    """Whether an error says that a name does not exist yet."""
    pattern = MISSING.get(kind)
    return bool(pattern and pattern.match(message))
