"""The report format of Detent's own reporters, the same for every runner: JSON Lines, one per test, and a last line with their count.

Owns the format, the ids, and whether report and exit code agree. What an error means in a language is passed in.
"""

import re
from collections.abc import Callable, Collection
from typing import Literal, NamedTuple

import msgspec

from detent.errors import CannotTell
from detent.evidence.report import Outcome, TestReport
from detent.evidence.runners.report_reader import SeenTest, agree, decoded_lines, describe_exit, no_report, numbered, report_of
from detent.evidence.source.test_ids import readable


class ReportLine(msgspec.Struct, frozen=True):
    """One line: a test, a file that failed outside its tests, a note on the whole run, or the end."""

    type: Literal["test", "file", "note", "end"]
    file: str = ""
    names: tuple[str, ...] = ()
    outcome: Outcome = "passed"
    kind: str = ""
    code: str = ""
    message: str = ""
    place: str = ""  # `file:line` where the error was raised
    ms: float = 0.0
    name: str = ""  # the runner's name and version
    count: int = 0


class ReportLanguage(NamedTuple):
    """What a reader must know about the runner and its language."""

    runner: str
    between: str  # separates the names of suites in an id
    kind: Callable[[ReportLine], str]  # the type of an error, as gates know it
    is_missing: Callable[[ReportLine], bool]  # whether the error says that a name does not exist yet
    ends: Collection[int] = (0, 1)  # exit codes of a run that finished
    title: str = ""  # the runner's name for people; by default `runner`


def read_report(report: bytes | None, exit_code: int | None, output: str, language: ReportLanguage) -> TestReport:
    """Read the report of one run. CannotTell if it is cut, mixed with other output, or contradicted by the exit code."""
    title = language.title or language.runner
    if report is None:
        raise no_report(title, describe_exit(exit_code), exit_code, output)
    lines = read_lines(report, language.runner)
    found = report_of(_seen([line for line in lines if line.type != "note"], language), language.runner, exit_code, output)
    if found.ids or exit_code not in language.ends:
        agree(found, title, language.ends, "; ".join(line.message for line in lines if line.type == "note") or "a limit?")
    return found


def read_lines(report: bytes, runner: str) -> list[ReportLine]:
    """The lines of a complete report, without the last."""
    lines = decoded_lines(report, ReportLine)
    ends = [at for at, line in enumerate(lines) if line.type == "end"]
    if ends != [len(lines) - 1] or lines[-1].count != len(lines) - 1 or lines[-1].name.partition(" ")[0] != runner:
        raise CannotTell(f"the test report is incomplete: something else wrote to it, or {runner} ended early")
    return lines[:-1]


def _seen(lines: list[ReportLine], language: ReportLanguage) -> dict[str, SeenTest]:
    """Tests by `file::suite > name`, broken files by path; repeated names get numbers, in the order of the report."""
    found: dict[str, SeenTest] = {}
    for line in lines:
        if not line.file:
            raise CannotTell(f"{language.runner} failed outside the test files: {line.message or line.kind}")
        test = readable(f"{line.file}::{language.between.join(line.names)}" if line.type == "test" else line.file)
        seen = SeenTest(line.file, line.outcome, line.message, seconds=line.ms / 1000)
        if line.outcome in ("failed", "error"):
            seen = seen._replace(kind=language.kind(line), missing=language.is_missing(line), place=line.place)
        found[numbered(test, found)] = seen
    return found


def no_tests(report: bytes | None, exit_code: int | None, output: str, says: re.Pattern[str], runner: str) -> TestReport | None:
    """An empty report if the runner says that it found no tests; a run without tests proves nothing."""
    if report is not None or exit_code not in (0, 1) or not says.search(output):
        return None
    return TestReport(output=output, exit_code=exit_code, runner=runner)
