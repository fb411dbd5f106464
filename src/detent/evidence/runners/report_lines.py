"""The report that Detent's own reporters write, whatever runs the tests: JSON Lines, one for each test, and a last one with their count.

Owns the form, the ids and whether report and exit code tell the same story. What an error means in a language is handed in.
"""

import re
from collections import Counter
from collections.abc import Callable
from typing import Literal, NamedTuple

import msgspec

from detent.errors import CannotTell
from detent.evidence.ids import readable
from detent.evidence.report import Outcome, TestReport

LARGEST = 64 * 1024 * 1024
LONGEST_MESSAGE = 2000
TAIL = 2000


class Line(msgspec.Struct, frozen=True):
    """One line: a test, a file that broke outside its tests, a note on the whole run, or the end."""

    type: Literal["test", "file", "note", "end"]
    file: str = ""
    names: tuple[str, ...] = ()
    outcome: Outcome = "passed"
    kind: str = ""
    code: str = ""
    message: str = ""
    place: str = ""  # `file:line` where the error came up
    ms: float = 0.0
    name: str = ""  # of the runner, with its version
    count: int = 0


class Tongue(NamedTuple):
    """What a reader must know of the runner and its language."""

    runner: str
    between: str  # what stands between the names of suites in an id
    kind: Callable[[Line], str]  # the type of the error, as gates know it
    is_missing: Callable[[Line], bool]  # whether it says that a name is not there yet
    may_end: Callable[[int], bool]  # exit codes of a run that came to its end


def read(report: bytes | None, exit_code: int | None, output: str, tongue: Tongue) -> TestReport:
    """The report of one run. One that is cut, mixed, not ours, or contradicted by the exit code is CannotTell."""
    if report is None:
        raise CannotTell(f"{tongue.runner} wrote no report: it {_end(exit_code)}{_tail(output)}")
    lines = read_lines(report, tongue.runner)
    found = _summary([line for line in lines if line.type != "note"], tongue)
    notes = "; ".join(line.message for line in lines if line.type == "note")
    _agree(found, exit_code, notes, output, tongue)
    return msgspec.structs.replace(found, output=output, exit_code=exit_code)


def read_lines(report: bytes, runner: str) -> list[Line]:
    """The lines of a whole report, without the last."""
    if len(report) > LARGEST:
        raise CannotTell(f"the test report has {len(report)} bytes; the most that is read is {LARGEST}")
    try:
        lines = msgspec.json.Decoder(Line).decode_lines(report)
    except (msgspec.DecodeError, UnicodeDecodeError) as e:
        raise CannotTell(f"the test report cannot be read: {e}") from e
    ends = [at for at, line in enumerate(lines) if line.type == "end"]
    if ends != [len(lines) - 1] or lines[-1].count != len(lines) - 1 or lines[-1].name.partition(" ")[0] != runner:
        raise CannotTell(f"the test report is not whole: something else wrote to it, or {runner} ended early")
    return lines[:-1]


def _summary(lines: list[Line], tongue: Tongue) -> TestReport:
    if nameless := next((line for line in lines if not line.file), None):
        raise CannotTell(f"{tongue.runner} failed outside the test files: {nameless.message or nameless.kind}")
    seen = dict(zip(_ids(lines, tongue), lines, strict=True))
    bad = {test: line for test, line in seen.items() if line.outcome in ("failed", "error")}
    return TestReport(
        {test: line.outcome for test, line in seen.items()},
        {test: line.file for test, line in seen.items()},
        tuple(test for test, line in bad.items() if tongue.is_missing(line)),
        runner=tongue.runner,
        messages={test: line.message[:LONGEST_MESSAGE] for test, line in seen.items() if line.message},
        kinds={test: kind for test, line in bad.items() if (kind := tongue.kind(line))},
        places={test: line.place for test, line in bad.items() if line.place},
        seconds=round(sum(line.ms for line in lines) / 1000, 3),
    )


def _ids(lines: list[Line], tongue: Tongue) -> list[str]:
    """`file::suite > name`, or the file alone; tests of one name in one file get numbers, in the order of the report."""
    times: Counter[str] = Counter()
    found = []
    for line in lines:
        test = readable(f"{line.file}::{tongue.between.join(line.names)}" if line.type == "test" else line.file)
        times[test] += 1
        found.append(f"{test} ({times[test]})" if times[test] > 1 else test)
    return found


def _agree(report: TestReport, exit_code: int | None, notes: str, output: str, tongue: Tongue) -> None:
    """The exit code and the report tell the same story, or nothing can be told."""
    name = tongue.runner
    if exit_code is None or not tongue.may_end(exit_code):
        raise CannotTell(f"{name} {_end(exit_code)}{_tail(output)}")
    if exit_code == 0 and report.bad:
        raise CannotTell(f"{name} ended with code 0, but its report has a failure: {min(report.bad)}")
    if exit_code != 0 and report.ids and not report.bad:
        raise CannotTell(f"{name} ended with code {exit_code}, but no test in its report failed ({notes or 'a limit?'}){_tail(output)}")


def no_tests(report: bytes | None, exit_code: int | None, output: str, says: re.Pattern[str], runner: str) -> TestReport | None:
    """A run that found nothing to do, if that is what the runner says: it has no tests, so it proves nothing."""
    if report is not None or exit_code not in (0, 1) or not says.search(output):
        return None
    return TestReport(output=output, exit_code=exit_code, runner=runner)


def _end(exit_code: int | None) -> str:
    if exit_code is None:
        return "did not end in time"
    return f"was ended by signal {-exit_code}" if exit_code < 0 else f"ended with code {exit_code}"


def _tail(output: str) -> str:
    kept = output.strip()[-TAIL:]
    return f"\n{kept}" if kept else ""
