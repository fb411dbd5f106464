"""What cargo and the test programs it built said, into outcomes by id. Knows their words; starts no process.

An id is `file::module::name`, of a documentation test `file::doc name`. What a test program prints is never read for outcomes: they
come from the log that it writes beside. A target that cannot be built is one id, its file, with the outcome `error`.
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
)  # names, fields, methods, modules that are not there, and calls that do not fit yet
FOLLOWS = MISSING | {"E0282", "E0283", "unused"}  # what a missing name brings with it
MACRO = re.compile(r"cannot find (?:macro|attribute|derive macro) ")
SUMS_UP = re.compile(r"aborting due to |could not compile |For more information ")
ASSERTS = re.compile(r"assertion (?:`|failed|\w+ )|did not panic as expected|did not contain expected|panic did not include")
TERMINATED = "the test returned a termination value"  # how older ones put it
UNWRITTEN = re.compile(r"\n?not (?:yet )?implemented")
DOC = re.compile(r"^test (\S+) - (.*?)\(line (\d+)\)(?: - [a-z ]+)? \.\.\. (ok|FAILED|ignored)$", re.MULTILINE)


class CargoFault(msgspec.Struct):
    """One error of the compiler, and the target it belongs to."""

    file: str
    code: str
    says: str
    line: int = 0


class CargoProgram(msgspec.Struct):
    """One test program that was run."""

    file: str  # its source
    names: dict[str, str]  # every test it has, with the file its module stands in
    chosen: list[str]
    log: str
    stdout: str
    code: int
    own: bool = False  # it has no harness: only its exit code says something


class CargoReport(msgspec.Struct):
    """Everything that was asked and said."""

    code: int
    faults: list[CargoFault]
    played: list[CargoProgram]
    docs: str = ""


class CargoSaid(msgspec.Struct):
    """One line of a test program for machines; only read for what a failure says."""

    type: str = ""
    name: str = ""
    event: str = ""
    stdout: str = ""
    message: str = ""


def outcomes(report: CargoReport) -> dict[str, SeenTest]:
    played = {test: seen for each in report.played for test, seen in _played(each).items()}
    return {**dict(_not_built(report.faults)), **played, **_docs(report.docs)}


def _not_built(faults: list[CargoFault]) -> list[tuple[str, SeenTest]]:
    """Each file that the compiler refused; the lines that only sum up say nothing."""
    found: dict[str, list[CargoFault]] = {}
    for each in faults:
        if each.code or not SUMS_UP.match(each.says):
            found.setdefault(each.file, []).append(each)
    return [
        (file, SeenTest(file, "error", "\n".join(_told(e) for e in all_), "BuildError", _is_missing(all_), f"{file}:{all_[0].line}"))
        for file, all_ in found.items()
    ]


def _told(fault: CargoFault) -> str:
    """What the compiler said; its number tells a file that does not parse, which has none, from one that does not fit."""
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
    said = _failures(ran.stdout)
    found: dict[str, SeenTest] = {}
    for name in ran.chosen:
        file, outcome = ran.names[name], ended.get(name)
        if outcome is None:
            found[f"{file}::{name}"] = SeenTest(file, "error", f"the test program exited with code {ran.code} before the test did", "Exit")
        else:
            message = said.get(name, "") if outcome != "passed" else ""
            found[f"{file}::{name}"] = SeenTest(
                file, outcome, message, *((_kind(message), False, _place(message)) if outcome == "failed" else ())
            )
    wrong = any(each.outcome in ("failed", "error") for each in found.values())
    if (ran.code != 0) != wrong and (ran.code != 0 or "failed" in ended.values()):
        raise CannotTell(f"the tests of {ran.file} exited with code {ran.code}, which does not match the outcomes of its tests")
    return found


def _log(ran: CargoProgram) -> dict[str, Outcome]:
    """The outcomes in the log: a word, perhaps a reason of several lines, a name. Two outcomes of one test tell nothing."""
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
                said = msgspec.json.decode(line, type=CargoSaid)
            except msgspec.DecodeError:
                continue
            if said.type == "test" and said.event in ("failed", "ignored"):
                found[said.name] = "\n".join(
                    part for part in (said.message, said.stdout.partition("\nstack backtrace:")[0].strip()) if part
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
    """Where it panicked, in the form of today and in that of older ones; a place in the standard library is none."""
    found = re.search(r"panicked at (?:'(?s:.*?)', )?([^\s:/'][^\n:]*\.rs):(\d+):\d+", message)
    return f"{found[1]}:{found[2]}" if found else ""


def _docs(text: str) -> dict[str, SeenTest]:
    """Documentation tests, numbered where one thing has several: their lines move with the code."""
    times: Counter[str] = Counter()
    found = {}
    rows = DOC.findall(text.partition("\nfailures:\n")[0])  # in the order in which they ended
    for file, name, _, word in sorted(rows, key=lambda row: (row[0], int(row[2]))):
        test = f"{file}::doc {name.strip()}".rstrip()
        times[test] += 1
        numbered = f"{test} ({times[test]})" if times[test] > 1 else test
        found[numbered] = SeenTest(file, WORDS[word], kind="AssertionError" if word == "FAILED" else "")
    return found
