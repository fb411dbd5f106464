"""XML of test runners, fed to whoever keeps what it needs of it. It comes from a process that ran the project's code, so it is read as hostile."""

from typing import Any
from xml.etree.ElementTree import ParseError, XMLParser

from detent.errors import CannotTell

LARGEST = 64 * 1024 * 1024
DEEPEST = 100


def feed(report: bytes, target: Any) -> None:
    """Read a report to its end. What cannot be read whole is CannotTell, never a smaller report."""
    if not report.strip():
        raise CannotTell("the test report is empty")
    if len(report) > LARGEST:
        raise CannotTell(f"the test report has {len(report)} bytes; the most that is read is {LARGEST}")
    parser = XMLParser(target=target)
    try:
        parser.feed(report)
        parser.close()
    except (ParseError, ValueError, LookupError) as e:
        raise CannotTell(f"the test report cannot be read: {e}") from e
