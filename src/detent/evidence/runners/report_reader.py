"""Reading test reports of any runner: size limit, what is known of each test, agreement with the exit code, and XML.

XML is fed to a target that keeps what it needs; JUnit XML is read as cases. A report comes from a process that ran the project's code, so it
is read as hostile. Knows no runner; the meaning of JSON reports is passed in. Starts no process.
"""

import re
from collections.abc import Callable, Collection, Mapping
from typing import Literal, NamedTuple, Protocol, TypeVar
from xml.parsers.expat import ExpatError, ParserCreate

import msgspec

from detent.errors import CannotTell
from detent.evidence.report import Outcome, TestReport

LARGEST = 64 * 1024 * 1024
LONGEST_MESSAGE = 2000
FRAME = re.compile(
    r"\s+at .*(?::\d+:\d+\)?|\(<anonymous>\)|\(native\))[ {]*$|\s+'?/\S+'?,?$|\s*requireStack: \[$|Node\.js v\d"
    r"|\s*# \S+:\d+:in [`']|\s*File \"(?:<frozen [^\"]*>|[^\"]*/(?:site-packages|lib/python[\d.]+)/[^\"]*)\", line \d+ in |Extension modules: "
)  # JavaScript, Ruby, and Python crashes
TAIL = 2000
SHELL_ADDS = 128  # added to a signal's number by a shell between us and the runner
SIGNALS = frozenset(range(1, 65))
CRASHES = {4: "an illegal instruction", 6: "an abort (SIGABRT)", 7: "a bus error", 8: "a floating-point error", 11: "a segmentation fault"}
T = TypeVar("T")


class SeenTest(NamedTuple):
    """What is known about one test."""

    file: str
    outcome: Outcome
    message: str = ""
    kind: str = ""  # the type of the exception that failed it
    missing: bool = False  # it failed only because a name does not exist yet
    place: str = ""
    seconds: float = 0.0
    id: str = ""  # until it becomes the key


class Written(Protocol):
    """A wrapper's report, which always has the exit code."""

    code: int


W = TypeVar("W", bound=Written)


def reader(
    name: str, title: str, kind: type[W], outcomes: Callable[[W], Mapping[str, SeenTest]], ends: Collection[int], hint: str = ""
) -> Callable[[bytes | None, int | None, str], TestReport]:
    """A reader for a wrapper's reports. `ends`: exit codes of a run that finished; `hint`: why one may fail without a failed test."""

    def read(report: bytes | None, exit_code: int | None, output: str) -> TestReport:
        if report is None:
            raise no_report(title, describe_exit(exit_code), exit_code, output)
        written = decoded(report, kind)
        if written.code != exit_code:
            raise CannotTell(f"{title} {describe_exit(exit_code)}, but with code {written.code} by its report{tail(output)}")
        found = report_of(outcomes(written), name, exit_code, output)
        agree(found, title, ends, hint)
        return found

    return read


def limit_report(data: bytes) -> bytes:
    """A report within the size limit."""
    if len(data) > LARGEST:
        raise CannotTell(f"the test report is larger than {LARGEST} bytes, the most that Detent reads")
    return data


def decoded(data: bytes, kind: type[T]) -> T:
    """Decode a JSON report."""
    try:
        return msgspec.json.decode(limit_report(data), type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as e:
        raise CannotTell(f"the test report cannot be read: {e}") from e


def decoded_lines(data: bytes, kind: type[T]) -> list[T]:
    """Decode a JSON Lines report."""
    try:
        return msgspec.json.Decoder(kind).decode_lines(limit_report(data))
    except (msgspec.DecodeError, UnicodeDecodeError) as e:
        raise CannotTell(f"the test report cannot be read: {e}") from e


def report_of(seen: Mapping[str, SeenTest], runner: str, exit_code: int | None, output: str) -> TestReport:
    """A TestReport of these tests."""
    return TestReport(
        {test: each.outcome for test, each in seen.items()},
        {test: each.file for test, each in seen.items()},
        tuple(test for test, each in seen.items() if each.missing),
        output,
        exit_code,
        runner=runner,
        messages={test: each.message[:LONGEST_MESSAGE] for test, each in seen.items() if each.message},
        kinds={test: each.kind for test, each in seen.items() if each.kind},
        places={test: each.place for test, each in seen.items() if each.place},
        seconds=round(sum(each.seconds for each in seen.values()), 3),
    )


def numbered(test: str, taken: Collection[str]) -> str:
    """A free id: repeated names get a number."""
    count, name = 1, test
    while name in taken:
        count, name = count + 1, f"{test} ({count + 1})"
    return name


def agree(report: TestReport, title: str, ends: Collection[int], hint: str = "") -> None:
    """Raise CannotTell if exit code and report disagree. A process that a test ended may have exited with 0."""
    code, output = report.exit_code, tail(report.output)
    if code not in ends:
        raise CannotTell(f"{title} {describe_exit(code)}{output}")
    if code and not report.bad:
        raise CannotTell(
            f"{title} exited with code {code}, but no test in its report failed{f' ({hint})' if hint and report.outcomes else ''}{output}"
        )
    failing = [test for test in report.bad if report.kinds.get(test) != "Exit"]
    if code == 0 and failing:
        raise CannotTell(f"{title} exited with code 0, but its report has a failure: {min(failing)}")


def describe_exit(exit_code: int | None) -> str:
    """How a process ended, in words."""
    if exit_code is None:
        return "did not finish in time"
    number = -exit_code if exit_code < 0 else exit_code - SHELL_ADDS
    if number in CRASHES:
        return f"crashed with {CRASHES[number]}"
    return f"was killed by signal {number}" if number in SIGNALS else f"exited with code {exit_code}"


def no_report(title: str, how: str, exit_code: int | None, output: str) -> CannotTell:
    """The error for a runner without a report. With exit code 0, something else ended the process."""
    why = "; a test or the code ended the process" if exit_code == 0 else ""
    return CannotTell(f"{title} wrote no report: it {how}{why}{tail(output)}")


def tail(output: str) -> str:
    """The end of the output on lines of its own, without stack frames, which would push out the error."""
    text = "\n".join(dict.fromkeys(line for line in output.strip().splitlines() if not FRAME.match(line)))
    kept = text.strip()[-TAIL:]
    return f"\n{kept}" if kept else ""


PROBLEMS: dict[str, Literal["failure", "error", "skipped"]] = {
    "failure": "failure",
    "error": "error",
    "skipped": "skipped",
    "warning": "skipped",  # PHPUnit's; it proves nothing
    "flakyFailure": "skipped",  # Surefire's: it passed only when it was run again
    "flakyError": "skipped",
}


class Problem(NamedTuple):
    """Why a case did not simply pass."""

    sort: Literal["failure", "error", "skipped"]
    type: str
    message: str
    text: str


class JUnitCase(NamedTuple):
    """One `testcase` element."""

    classname: str
    name: str
    file: str
    seconds: float
    problems: tuple[Problem, ...]


def read_cases(report: bytes) -> list[JUnitCase]:
    """Every test case of a report, in order."""
    target = _Cases()
    feed(report, target)
    return target.cases


class _Cases:
    """A parser target that keeps the cases."""

    def __init__(self) -> None:
        self.cases: list[JUnitCase] = []
        self._depth = 0
        self._case: dict[str, str] | None = None
        self._problems: list[Problem] = []
        self._open: tuple[str, dict[str, str]] | None = None
        self._text: list[str] = []

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        tag = tag.rpartition("}")[2]
        self._depth += 1
        if self._depth == 1 and tag not in ("testsuites", "testsuite"):
            raise CannotTell(f"the test report is not JUnit XML: it starts with <{tag[:40]}>")
        if self._depth > DEEPEST:
            raise CannotTell("the test report is nested too deeply")
        if tag == "testcase":
            if self._case is not None:
                raise CannotTell("the test report has a test case inside a test case")
            self._case, self._problems = attributes, []
        elif self._case is not None and self._open is None and tag in PROBLEMS:
            self._open, self._text = (tag, attributes), []

    def data(self, text: str) -> None:
        if self._open is not None:
            self._text.append(text)

    def end(self, tag: str) -> None:
        tag = tag.rpartition("}")[2]
        self._depth -= 1
        if self._open is not None and tag == self._open[0]:
            attributes = self._open[1]
            self._problems.append(Problem(PROBLEMS[tag], attributes.get("type", ""), attributes.get("message", ""), "".join(self._text)))
            self._open = None
        elif tag == "testcase" and self._case is not None:
            case = self._case
            seconds = _seconds(case.get("time", ""))
            self.cases.append(
                JUnitCase(case.get("classname", ""), case.get("name", ""), case.get("file", ""), seconds, tuple(self._problems))
            )
            self._case = None


def _seconds(text: str) -> float:
    try:
        return max(0.0, float(text.replace(",", "")))
    except ValueError:
        return 0.0


DEEPEST = 100


class XmlTarget(Protocol):
    """Receives the elements of a report; a namespaced name comes as `space}name`."""

    def start(self, tag: str, attributes: dict[str, str]) -> None: ...
    def data(self, text: str) -> None: ...
    def end(self, tag: str) -> None: ...


def feed(report: bytes, target: XmlTarget) -> None:
    """Parse a report to its end. One that cannot be read in full is CannotTell, never a smaller report."""
    if not limit_report(report).strip():
        raise CannotTell("the test report is empty")
    parser = ParserCreate(namespace_separator="}")
    parser.buffer_text = True
    parser.StartElementHandler, parser.CharacterDataHandler, parser.EndElementHandler = target.start, target.data, target.end
    parser.StartDoctypeDeclHandler = _no_doctype
    try:
        parser.Parse(report, True)
    except (ExpatError, ValueError, LookupError) as e:
        raise CannotTell(f"the test report cannot be read: {e}") from e


def _no_doctype(*_: object) -> None:
    """Refuse a document type, and with it entities."""
    raise CannotTell("the test report declares a document type, which no test runner does")
