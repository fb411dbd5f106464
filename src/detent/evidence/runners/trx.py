"""TRX, as `dotnet test --logger trx` writes it: the test results, one by one. Its summary counters are never read.

It comes from a process that ran the project's code, so it is read as hostile, like JUnit XML. A test with rows has a result of its own and
one inside for each row; only the inner ones count.
"""

from typing import NamedTuple

from detent.errors import CannotTell
from detent.evidence.report import Outcome
from detent.evidence.runners.report_reader import DEEPEST, feed

OUTCOMES: dict[str, Outcome] = {
    "Passed": "passed",
    "Failed": "failed",
    "NotExecuted": "skipped",
    "Inconclusive": "skipped",
    "Pending": "skipped",
    "Warning": "skipped",
}  # any other (Timeout, Aborted, Error, Disconnected, NotRunnable, …), or none, is an error


class TrxResult(NamedTuple):
    """One innermost `UnitTestResult`."""

    classname: str
    name: str  # as displayed, with the values of its row
    outcome: Outcome
    reported: str
    message: str
    seconds: float


def read_results(report: bytes) -> list[TrxResult]:
    """Every result of a report, in order."""
    target = _Results()
    feed(report, target)
    return [_result(each, message, target.classes.get(each.get("testId", ""), "")) for each, message in target.found]


def _result(attributes: dict[str, str], message: str, classname: str) -> TrxResult:
    name, word = attributes.get("testName", ""), attributes.get("outcome", "")
    owner = classname or name.partition("(")[0].rpartition(".")[0]
    return TrxResult(
        owner,
        name.removeprefix(f"{owner}."),
        OUTCOMES.get(word, "error"),
        word or "no outcome",
        message,
        _seconds(attributes.get("duration", "")),
    )


class _Results:
    """A parser target that keeps the results and the classes of tests."""

    def __init__(self) -> None:
        self.found: list[tuple[dict[str, str], str]] = []
        self.classes: dict[str, str] = {}
        self._depth = 0
        self._open: list[tuple[dict[str, str], list[str]]] = []  # open results, the innermost last
        self._rows = 0  # results kept since the innermost one was opened
        self._test = ""
        self._in: str = ""

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        tag = tag.rpartition("}")[2]
        self._depth += 1
        if self._depth == 1 and tag != "TestRun":
            raise CannotTell(f"the test report is not TRX: it starts with <{tag[:40]}>")
        if self._depth > DEEPEST:
            raise CannotTell("the test report is nested too deeply")
        if tag == "UnitTestResult":
            self._open.append((attributes, []))
            self._rows = 0
        elif tag == "UnitTest":
            self._test = attributes.get("id", "")
        elif tag == "TestMethod" and self._test:
            self.classes[self._test] = attributes.get("className", "").partition(",")[0]
        self._in = tag

    def data(self, text: str) -> None:
        if self._open and self._in == "Message":
            self._open[-1][1].append(text)

    def end(self, tag: str) -> None:
        tag = tag.rpartition("}")[2]
        self._depth -= 1
        self._in = ""
        if tag == "UnitTestResult" and self._open:
            attributes, words = self._open.pop()
            if not self._rows:
                self.found.append((attributes, "".join(words)))
            self._rows = self._rows + 1 if self._open else 0
        elif tag == "UnitTest":
            self._test = ""


def _seconds(text: str) -> float:
    """The seconds of `00:01:02.5000000`."""
    try:
        hours, minutes, seconds = text.split(":")
        return max(0.0, int(hours) * 3600 + int(minutes) * 60 + float(seconds))
    except ValueError:
        return 0.0
