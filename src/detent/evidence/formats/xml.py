"""XML of test runners, fed to whoever keeps what it needs of it. It comes from a process that ran the project's code, so it is read as hostile."""

from typing import Protocol
from xml.parsers.expat import ExpatError, ParserCreate

from detent.errors import CannotTell

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
