"""Gradle. The report is written by a listener of ours in Gradle's own process, by a wrapper of ours.

Gradle's exit code and its XML say nothing of a test that ended the process with code 0.
"""

import re
from functools import partial
from pathlib import PurePosixPath

from detent.evidence.runners.adapter import Command, Files, InnerProject, Runner
from detent.evidence.runners.command_shape import CommandShape, adopt, order, parse
from detent.evidence.runners.jvm.gradle_report import cases
from detent.evidence.runners.jvm.jvm_files import is_test_file
from detent.evidence.runners.jvm.jvm_report import JvmReport, outcomes
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
    """Folders that the build names for its set of tests, where it says so in so many words."""
    text = (files.read("build.gradle") or "") + (files.read("build.gradle.kts") or "")
    return folders(word for each in SOURCE_SET.findall(text) for word in re.findall(r"""["']([^"'$]+)["']""", each))


def runner_part(path: str, text: str) -> str:
    """Of a build file all but the dependencies of production."""
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
