"""What our reporter wrote about a `node --test` run, as outcomes by id. Knows node's events, no commands and no project.

An id is `file::suite > name`; a second test of the same name is `… (2)`. Each id stands for its own code: a test that failed only because
of its subtests counts as passed, and they are listed. A suite is no test, but an error in a suite breaks every test in it. A file without
tests has no id, even if it exits well; one that fails outside its tests is one id, the file, with the outcome `error`.
"""

import re
from collections import Counter
from typing import Literal

import msgspec

from detent.errors import CannotTell
from detent.evidence.report import Outcome, TestReport
from detent.evidence.runners.report_reader import SeenTest, decoded_lines, numbered, report_of
from detent.evidence.source.test_ids import readable

OLDEST = (18, 17)  # the first version that separates a test's output from its report
FILTERED = "test name does not match pattern"  # how older versions report tests that --test-name-pattern excludes
SUBTESTS, CANCELLED = "subtestsFailed", "cancelledByParent"
FAILED = ("testCodeFailure", "uncaughtException", "unhandledRejection", "testTimeoutFailure")  # the test's own failures; others are `error`
MACHINERY = (
    "testTimeoutFailure",
    CANCELLED,
    "testAborted",
    "multipleCallbackInvocations",
    "callbackAndPromisePresent",
    "parentAlreadyFinished",
)

NAME = r"[A-Za-z_$][\w$]*"
MISSING: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("ERR_MODULE_NOT_FOUND", re.compile(r"Cannot find (?:module|package) '")),
    ("MODULE_NOT_FOUND", re.compile(r"Cannot find module '")),
    ("SyntaxError", re.compile(r"The requested module '[^']*' does not provide an export named '|Named export '[^']*' not found\. ")),
    ("ReferenceError", re.compile(rf"{NAME} is not defined\Z")),
    ("TypeError", re.compile(rf"(?!undefined |null )(?:\(0 , )?(?:{NAME}|\(intermediate value\))(?:\.#?{NAME}|\[[^\]]*\])*\)? is not a (?:function|constructor)\Z")),
    ("TypeError", re.compile(r"Class extends value undefined is not a constructor or null\Z")),
)  # fmt: skip
CARETS = re.compile(r"^\s*\^+\s*$", re.MULTILINE)
UNCAUGHT = re.compile(rf"^({NAME})(?: \[(\w+)\])?: (.*)$", re.MULTILINE)
SHOWN = re.compile(r"^(?:file://)?(/[^\n:]+):(\d+)$", re.MULTILINE)  # printed above the line of code at fault
REQUIRED = re.compile(r"^  code: '(\w+)'", re.MULTILINE)


class NodeLine(msgspec.Struct, frozen=True):
    """One line of the report."""

    type: Literal["start", "pass", "fail", "enqueue", "stderr", "end"]
    file: str = ""
    name: str = ""
    nesting: int = 0
    whole: bool = False  # the file itself, as a test
    suite: bool = False
    skip: str | None = None
    todo: str | None = None
    ms: float = 0.0
    failure: str = ""  # node's name for the failure
    kind: str = ""
    code: str = ""
    message: str = ""
    place: str = ""  # `file:line` where the error was raised
    exit: int | None = None
    signal: str = ""
    count: int = 0


def read_lines(report: bytes) -> list[NodeLine]:
    """The lines of a complete report; CannotTell if it is cut, mixed with other output, or from an old node."""
    lines = decoded_lines(report, NodeLine)
    if not lines or lines[-1].type != "end" or lines[-1].count != len(lines) - 1 or any(each.type == "end" for each in lines[:-1]):
        raise CannotTell("the test report is incomplete: something else wrote to it, or node ended early")
    found = re.match(r"v(\d+)\.(\d+)\.", lines[-1].name)
    if found is None or (int(found[1]), int(found[2])) < OLDEST:
        raise CannotTell(f"node {lines[-1].name} is too old: tests are run with 18.17 or newer")
    return lines[:-1]


def summary(lines: list[NodeLine], exit_code: int | None, output: str) -> TestReport:
    """The report of these lines. Tests of the same name in a file get numbers, in order of definition."""
    found: dict[str, SeenTest] = {}
    for each in _walk(lines):
        found[numbered(each.id, found)] = each
    return report_of(found, "node", exit_code, output)


def unfinished(lines: list[NodeLine]) -> dict[str, str]:
    """Files whose process exited before their tests ended, with one such test: node takes an early exit with code 0 as success."""
    begun = Counter((each.file, each.nesting, each.name) for each in lines if each.type == "enqueue" and not each.whole)
    ended = Counter((each.file, each.nesting, each.name) for each in lines if each.type in ("pass", "fail") and not each.whole)
    return {file: name for file, _, name in begun - ended}


def _walk(lines: list[NodeLine]) -> list[SeenTest]:
    """Every test in order of definition. A start line opens a level; its end closes that level and those below."""
    errors = {each.file: each.message for each in lines if each.type == "stderr"}
    seen: list[SeenTest] = []
    names: list[str] = []
    files: list[str] = []
    begun: list[int] = []
    for line in lines:
        at = line.nesting
        if line.type == "start" and 0 <= at <= len(names):
            names[at:], files[at:], begun[at:] = [line.name], [line.file], [len(seen)]
        elif line.type == "start" or (line.type in ("pass", "fail") and (at >= len(names) or names[at] != line.name)):
            raise CannotTell(f"the test report is out of order at {line.name[:200]!r}")
        elif line.type in ("pass", "fail"):
            if not files[0]:
                raise CannotTell(f"node does not say which file the test {line.name[:200]!r} is in; run the tests with a newer node")
            test = readable(f"{files[0]}::{' > '.join(names[: at + 1])}")
            below = seen[begun[at] :]
            seen[begun[at] :] = _ended(
                line, SeenTest(files[0], "passed", seconds=line.ms / 1000, id=test), below, errors.get(line.file, "")
            )
    return seen


def _ended(line: NodeLine, test: SeenTest, below: list[SeenTest], stderr: str) -> list[SeenTest]:
    """The outcomes known once a test, a suite or a file has ended, including those below it."""
    if line.whole:
        return below if line.type == "pass" else [*below, _broken_file(line, stderr)]
    if line.skip == FILTERED:
        return below
    if line.suite:
        return _suite(line, test, below)
    return [*below, _test(line, test, below)]


def _suite(line: NodeLine, test: SeenTest, below: list[SeenTest]) -> list[SeenTest]:
    if line.skip is not None:
        return [*below, test._replace(outcome="skipped", message=line.skip)]
    if line.type == "pass" or line.failure == SUBTESTS:
        return below
    kind, missing = _kind(line)
    hit = [each.outcome == "passed" or each.kind == CANCELLED for each in below or [test]]
    return [
        each._replace(outcome="error", kind=kind, message=line.message, missing=missing, place=line.place) if broken else each
        for each, broken in zip(below or [test], hit, strict=True)
    ]


def _test(line: NodeLine, test: SeenTest, below: list[SeenTest]) -> SeenTest:
    excuse = line.skip if line.skip is not None else line.todo
    if excuse is not None:  # a test that may fail proves nothing
        return test._replace(outcome="skipped", message=excuse)
    only_below = line.failure == SUBTESTS and any(each.outcome in ("failed", "error") for each in below)
    if line.type == "pass" or only_below:
        return test
    kind, missing = _kind(line)
    outcome: Outcome = "failed" if line.failure in FAILED else "error"
    return test._replace(outcome=outcome, kind=kind, message=line.message, missing=missing, place=line.place)


def _broken_file(line: NodeLine, stderr: str) -> SeenTest:
    """A file that failed outside its tests, with the last error that its process printed."""
    last = list(CARETS.finditer(stderr))
    after = stderr[last[-1].end() :] if last else stderr
    found = UNCAUGHT.search(after)
    end = f"was killed by {line.signal}" if line.signal else f"exited with code {line.exit}"
    if found is None:
        return SeenTest(line.file, "error", f"the process of the file {end}", "Exit", id=line.file)
    required = REQUIRED.search(after)
    code = found[2] or (required[1] if required else "")
    place = SHOWN.search(stderr)
    at = f"{place[1]}:{place[2]}" if place else ""
    return SeenTest(line.file, "error", found[0], found[1], is_missing(found[1], code, found[3]), at, id=line.file)


def _kind(line: NodeLine) -> tuple[str, bool]:
    """The type of the error, and whether it says that a name does not exist yet."""
    if line.failure in MACHINERY:
        return line.failure, False
    if line.code == "ERR_ASSERTION" or (not line.kind and line.message.startswith("plan expected ")):
        return "AssertionError", False
    return line.kind or "Thrown", is_missing(line.kind, line.code, line.message)


def is_missing(kind: str, code: str, message: str) -> bool:
    first = message.partition("\n")[0]
    return any(word in (kind, code) and (pattern.match(first) or pattern.match(message)) for word, pattern in MISSING)
