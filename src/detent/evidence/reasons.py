"""Why a test failed: whether code can fix it, or only the test itself. Pure."""

from collections.abc import Callable
from typing import Literal, NamedTuple

from detent.evidence.look import TestReport


class Reason(NamedTuple):
    sort: Literal["product", "test", "machine", "unknown"]
    sentence: str


def reason(report: TestReport, test: str, is_test: Callable[[str], bool], third_party: Callable[[str], bool]) -> Reason:
    said = report.messages.get(test, "").partition("\n")[0][:200]
    kind = report.kinds.get(test, "").rpartition(".")[2]
    if "fixture '" in said and "not found" in said:
        return Reason("test", said)
    if kind in ("SyntaxError", "IndentationError") and test not in report.missing_names:
        return Reason("test", said)
    return Reason("product" if kind or said else "unknown", said or kind or "not told")
