"""The lines that the listener in Gradle wrote, into test cases. Knows neither commands nor the project. Starts no process."""

from collections.abc import Iterator

import msgspec

from detent.errors import CannotTell
from detent.evidence.report import Outcome
from detent.evidence.runners.jvm.jvm_report import JvmCase, JvmReport

OUTCOMES: dict[str, Outcome] = {"SUCCESS": "passed", "FAILURE": "failed", "SKIPPED": "skipped"}


class GradleLine(msgspec.Struct):
    """One line."""

    type: str
    module: str = ""
    of: str = ""
    name: str = ""
    result: str = ""
    said: str = ""
    seconds: float = 0.0
    trace: str = ""
    count: int = 0


def lines(text: str) -> list[GradleLine]:
    """All of them; the last one counts the others."""
    try:
        found = [msgspec.json.decode(line, type=GradleLine) for line in text.splitlines()]
    except msgspec.DecodeError as e:
        raise CannotTell(f"what Gradle wrote about its tests cannot be read: {e}") from e
    if not found or found[-1].type != "done" or found[-1].count != len(found) - 1:
        raise CannotTell("what Gradle wrote about its tests is incomplete")
    return found[:-1]


def cases(report: JvmReport) -> Iterator[JvmCase]:
    """Every test that ended; one that began and did not end is an error of its own."""
    begun: dict[tuple[str, str, str], int] = {}
    for log in report.logs:
        for line in lines(log.text):
            at = (line.module, line.of, line.name)
            begun[at] = begun.get(at, 0) + (1 if line.type == "start" else -1)
            if line.type == "end":
                if line.result not in OUTCOMES:
                    raise CannotTell(f"Gradle says of {line.of} {line.name} that it is {line.result!r}")
                kind, _, said = line.said.partition(": ")
                yield JvmCase(*at, OUTCOMES[line.result], kind.strip(), said or kind, line.seconds, line.trace)
    for (module, name, test), open_ in begun.items():
        if open_ > 0:
            yield JvmCase(module, name, test, "error", "Exit", "it started and did not finish: the process ended during it")
