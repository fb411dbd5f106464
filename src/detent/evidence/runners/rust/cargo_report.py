"""The output of cargo and its test programs as outcomes by id. Knows their messages; starts no process.

An id is `file::module::name`, or `file::doc name` for a documentation test. Outcomes come from the log that a test program writes, never
from its output. A target that cannot be built is one id, its file, with the outcome `error`.
"""

import re
from collections import Counter

import msgspec

from detent.errors import CannotTell
from detent.evidence.report import Outcome
from detent.evidence.runners.report_reader import SeenTest

WORDS: dict[str, Outcome] = {"ok": "passed", "failed": "failed", "ignored": "skipped", "FAILED": "failed"}
MISSING = frozenset(
    [
        "E0425",
        "E0432",
        "E0433",
        "E0412",
        "E0599",
        "E0609",
        "E0560",
        "E0405",
        "E0061",
        "E0583",
        "E0576",
        "E0407",
        "E0437",
        "E0438",
        "E0531",
        "E0574",
    ]
)  # names, fields, methods or modules that do not exist, and calls that do not fit yet
FOLLOWS = MISSING | {"E0282", "E0283", "unused"}  # errors that follow from a missing name
MACRO = re.compile(r"cannot find (?:macro|attribute|derive macro) ")
SUMS_UP = re.compile(r"aborting due to |could not compile |For more information ")
ASSERTS = re.compile(r"assertion (?:`|failed|\w+ )|did not panic as expected|did not contain expected|panic did not include")
TERMINATED = "the test returned a termination value"  # wording of older versions
UNWRITTEN = re.compile(r"\n?not (?:yet )?implemented")
DOC = re.compile(r"^test (\S+) - (.*?)\(line (\d+)\)(?: - [a-z ]+)? \.\.\. (ok|FAILED|ignored)$", re.MULTILINE)


class CargoFault(msgspec.Struct):
    """One compiler error, and the target it belongs to."""

    file: str
    code: str
    says: str
    line: int = 0


class CargoProgram(msgspec.Struct):
    """One test program that was run."""

    file: str  # its source file
    names: dict[str, str]  # every test in it, with the file of its module
    chosen: list[str]
    log: str
    stdout: str
    code: int
    own: bool = False  # without a harness: only its exit code counts


class CargoReport(msgspec.Struct):
    """Everything that the wrapper saw."""

    code: int
    faults: list[CargoFault]
    played: list[CargoProgram]
    docs: str = ""


class CargoEvent(msgspec.Struct):
    """One JSON line of a test program; read only for failure messages."""

    type: str = ""
    name: str = ""
    event: str = ""
    stdout: str = ""
    message: str = ""


def outcomes(report: CargoReport) -> dict[str, SeenTest]:
    played = {test: seen for each in report.played for test, seen in _played(each).items()}
    return {**dict(_not_built(report.faults)), **played, **_docs(report.docs)}


def _not_built(faults: list[CargoFault]) -> list[tuple[str, SeenTest]]:
    """Each file that the compiler rejected, without the lines that only sum up."""
    found: dict[str, list[CargoFault]] = {}
    for each in faults:
        if each.code or not SUMS_UP.match(each.says):
            found.setdefault(each.file, []).append(each)
    return [
        (file, SeenTest(file, "error", "\n".join(_fault_text(e) for e in all_), "BuildError", _is_missing(all_), f"{file}:{all_[0].line}"))
        for file, all_ in found.items()
    ]


def _fault_text(fault: CargoFault) -> str:
    """A compiler error. Its code tells a file that does not fit from one that cannot be parsed, which has none."""
    return f"error[{fault.code}]: {fault.says}" if fault.code else fault.says


def _is_missing(faults: list[CargoFault]) -> bool:
    named = [each.code in MISSING or bool(not each.code and MACRO.match(each.says)) for each in faults]
    return any(named) and all(is_named or each.code in FOLLOWS for is_named, each in zip(named, faults, strict=True))


def _played(ran: CargoProgram) -> dict[str, SeenTest]:
    if ran.own:
        return {
            ran.file: SeenTest(ran.file, "passed")
            if ran.code == 0
            else SeenTest(ran.file, "failed", f"it exited with code {ran.code}", "Exit")
        }
    ended = _log(ran)
    messages = _failures(ran.stdout)
    found: dict[str, SeenTest] = {}
    for name in ran.chosen:
        file, outcome = ran.names[name], ended.get(name)
        if outcome is None:
            found[f"{file}::{name}"] = SeenTest(file, "error", f"the test program exited with code {ran.code} before the test did", "Exit")
        else:
            message = messages.get(name, "") if outcome != "passed" else ""
            found[f"{file}::{name}"] = SeenTest(
                file, outcome, message, *((_kind(message), False, _place(message)) if outcome == "failed" else ())
            )
    wrong = any(each.outcome in ("failed", "error") for each in found.values())
    if (ran.code != 0) != wrong and (ran.code != 0 or "failed" in ended.values()):
        raise CannotTell(f"the tests of {ran.file} exited with code {ran.code}, which does not match the outcomes of its tests")
    return found


def _log(ran: CargoProgram) -> dict[str, Outcome]:
    """The outcomes in the log: a word, sometimes a reason of several lines, a name. CannotTell if a test has two."""
    known = "|".join(re.escape(name) for name in sorted(ran.names, key=len, reverse=True)) or "(?!)"
    ended: dict[str, Outcome] = {}
    for word, name in re.findall(rf"^(ok|failed|ignored)(?:: .*?| \([^\n]*\))? ({known})$", ran.log, re.MULTILINE | re.DOTALL):
        if name in ended:
            raise CannotTell(f"the test {name} of {ran.file} ended twice in the log")
        ended[name] = WORDS[word]
    return ended


def _failures(stdout: str) -> dict[str, str]:
    found = {}
    for line in stdout.splitlines():
        if line.startswith("{"):
            try:
                event = msgspec.json.decode(line, type=CargoEvent)
            except msgspec.DecodeError:
                continue
            if event.type == "test" and event.event in ("failed", "ignored"):
                found[event.name] = "\n".join(
                    part for part in (event.message, event.stdout.partition("\nstack backtrace:")[0].strip()) if part
                )
    return found


def _kind(message: str) -> str:
    if TERMINATED in message:
        return "Error"
    if ASSERTS.search(message):
        return "AssertionError"
    at = re.search(r"panicked at (?:[^\n]*:\n|')", message)
    if at is None:
        return "Error" if message else ""
    return "NotImplementedError" if UNWRITTEN.match(message[at.end() :]) else "panic"


def _place(message: str) -> str:
    """Where it panicked, in the current and the older format; empty for the standard library."""
    found = re.search(r"panicked at (?:'(?s:.*?)', )?([^\s:/'][^\n:]*\.rs):(\d+):\d+", message)
    return f"{found[1]}:{found[2]}" if found else ""


def _docs(text: str) -> dict[str, SeenTest]:
    """Documentation tests, numbered if one item has several, since their lines move with the code."""
    times: Counter[str] = Counter()
    found = {}
    rows = DOC.findall(text.partition("\nfailures:\n")[0])  # in the order in which they ended
    for file, name, _, word in sorted(rows, key=lambda row: (row[0], int(row[2]))):
        test = f"{file}::doc {name.strip()}".rstrip()
        times[test] += 1
        numbered = f"{test} ({times[test]})" if times[test] > 1 else test
        found[numbered] = SeenTest(file, WORDS[word], kind="AssertionError" if word == "FAILED" else "")
    return found
