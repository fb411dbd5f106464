"""XML of test runners, fed to whoever keeps what it needs of it, and JUnit XML read as cases. It comes from a process that ran the project's code, so it is read as hostile."""

from typing import Literal, NamedTuple, Protocol
from xml.parsers.expat import ExpatError, ParserCreate

from detent.errors import CannotTell

PROBLEMS: dict[str, Literal["failure", "error", "skipped"]] = {
    "failure": "failure",
    "error": "error",
    "skipped": "skipped",
    "warning": "skipped",  # PHPUnit's: it proves nothing
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
    """Every test case of a report, in its order."""
    target = _Cases()
    feed(report, target)
    return target.cases


class _Cases:
    """What the XML parser talks to: keeps the cases, forgets the rest."""

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
            said = self._open[1]
            self._problems.append(Problem(PROBLEMS[tag], said.get("type", ""), said.get("message", ""), "".join(self._text)))
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


LARGEST = 64 * 1024 * 1024
DEEPEST = 100


class XmlTarget(Protocol):
    """What is told of each element; a name in a name space comes as `space}name`."""

    def start(self, tag: str, attributes: dict[str, str]) -> None: ...
    def data(self, text: str) -> None: ...
    def end(self, tag: str) -> None: ...


def feed(report: bytes, target: XmlTarget) -> None:
    """Read a report to its end. What cannot be read whole is CannotTell, never a smaller report."""
    if not report.strip():
        raise CannotTell("the test report is empty")
    if len(report) > LARGEST:
        raise CannotTell(f"the test report is larger than {LARGEST} bytes, the most that Detent reads")
    parser = ParserCreate(namespace_separator="}")
    parser.buffer_text = True
    parser.StartElementHandler, parser.CharacterDataHandler, parser.EndElementHandler = target.start, target.data, target.end
    parser.StartDoctypeDeclHandler = _no_doctype
    try:
        parser.Parse(report, True)
    except (ExpatError, ValueError, LookupError) as e:
        raise CannotTell(f"the test report cannot be read: {e}") from e


def _no_doctype(*_: object) -> None:
    """None of a report's own: so there are no entities either."""
    raise CannotTell("the test report declares a document type, which no test runner does")
