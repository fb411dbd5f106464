"""Gradle. A wrapper of ours adds a listener to Gradle's own process, which writes the report.

Gradle's exit code and XML do not show a test that ended the process with code 0.
"""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import PurePosixPath

import msgspec

from detent.errors import CannotTell
from detent.evidence.report import Outcome
from detent.evidence.runners.adapter import Command, Files, InnerProject, Runner
from detent.evidence.runners.command_shape import CommandShape, adopt, order, parse
from detent.evidence.runners.jvm.jvm_files import is_test_file
from detent.evidence.runners.jvm.jvm_report import JvmCase, JvmReport, outcomes
from detent.evidence.runners.report_reader import reader
from detent.evidence.runners.wrapper import wrapped
from detent.evidence.source.file_patterns import folders

DEPENDENCY = re.compile(r"^\s*(?:implementation|api|compile|compileOnly|runtime|runtimeOnly)\b.*$", re.MULTILINE)
SOURCE_SET = re.compile(r"sourceSets\b.*?\btest\b[^}]*?\bsrcDirs?\b\s*(?:=|\+=|\()?\s*([^\n]*)", re.DOTALL)
SHAPE = CommandShape(
    programs=(("gradle", "test"), ("./gradlew", "test")),
    selecting={"--tests": "--tests"},
    shown_flags=frozenset({"-q", "--quiet", "-i", "--info", "-s", "--stacktrace", "-w", "--warn", "--offline", "--no-daemon", "--rerun-tasks", "--continue"}),
    shown_values=frozenset({"--console"}),
    allowed="`gradle test` with --tests, test files or folders",
    either="--tests",
)  # fmt: skip


def detect(files: Files) -> Command | None:
    if not (files.exists("build.gradle") or files.exists("build.gradle.kts")):
        return None
    return Command(("./gradlew" if files.exists("gradlew") else "gradle", "test"), "gradle", "gradle")


def test_patterns(base: Command | None, files: Files) -> tuple[str, ...]:
    """The folders that a build file names literally for its test source set."""
    text = (files.read("build.gradle") or "") + (files.read("build.gradle.kts") or "")
    return folders(word for each in SOURCE_SET.findall(text) for word in re.findall(r"""["']([^"'$]+)["']""", each))


def runner_part(path: str, text: str) -> str:
    """A build file without production dependencies; other files in full."""
    return DEPENDENCY.sub("", text) if ".gradle" in PurePosixPath(path).name else text


def reaches(outer: Command, files: Files, below: InnerProject) -> bool:
    texts = (files.read(name) or "" for name in ("settings.gradle", "settings.gradle.kts"))
    return any(re.search(rf"[:\"'/]{re.escape(PurePosixPath(below.folder).name)}[\"'/]", text) for text in texts)


RUNNER = Runner(
    name="gradle",
    adopt=partial(adopt, SHAPE, "gradle"),
    detect=detect,
    parse=partial(parse, SHAPE),
    argv=wrapped("detent.evidence.runners.jvm.gradle_run", order),
    read=reader("gradle", "Gradle", JvmReport, lambda report: outcomes(report, cases(report), "build.gradle"), (0, 1)),
    tests=is_test_file,
    config=re.compile(
        r"(?:^|/)(?:[^/]+\.gradle(?:\.kts)?|gradle\.properties|gradlew(?:\.bat)?|junit-platform\.properties)$|^gradle/wrapper/"
    ).search,
    runner_part=runner_part,
    test_patterns=test_patterns,
    reaches=reaches,
)


OUTCOMES: dict[str, Outcome] = {"SUCCESS": "passed", "FAILURE": "failed", "SKIPPED": "skipped"}


class GradleLine(msgspec.Struct):
    """One line that the listener wrote."""

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
    """All lines but the last, which has the number of the others. CannotTell if the log is incomplete."""
    try:
        found = [msgspec.json.decode(line, type=GradleLine) for line in text.splitlines()]
    except msgspec.DecodeError as e:
        raise CannotTell(f"what Gradle wrote about its tests cannot be read: {e}") from e
    if not found or found[-1].type != "done" or found[-1].count != len(found) - 1:
        raise CannotTell("what Gradle wrote about its tests is incomplete")
    return found[:-1]


def cases(report: JvmReport) -> Iterator[JvmCase]:
    """Every test that ended; one that started and did not end is an error."""
    begun: dict[tuple[str, str, str], int] = {}
    for log in report.logs:
        for line in lines(log.text):
            at = (line.module, line.of, line.name)
            begun[at] = begun.get(at, 0) + (1 if line.type == "start" else -1)
            if line.type == "end":
                if line.result not in OUTCOMES:
                    raise CannotTell(f"Gradle says of {line.of} {line.name} that it is {line.result!r}")
                kind, _, message = line.said.partition(": ")
                yield JvmCase(*at, OUTCOMES[line.result], kind.strip(), message or kind, line.seconds, line.trace)
    for (module, name, test), open_ in begun.items():
        if open_ > 0:
            yield JvmCase(module, name, test, "error", "Exit", "it started and did not finish: the process ended during it")
