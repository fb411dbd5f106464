"""Gradle: how a project calls it, the machine's own call, and what its report says. Starts no process.

The report is written by a listener in Gradle's own process: Gradle's exit code and its XML say nothing of a test that ended the process
with code 0. Exit code and report must agree; where they do not, nothing can be told.
"""

import re
from pathlib import PurePosixPath

from detent.errors import CannotTell
from detent.evidence.patterns import folders
from detent.evidence.report import TestReport
from detent.evidence.runners.adapter import Command, Files
from detent.evidence.runners.command_shape import Parsed, Shape, parse, program_end
from detent.evidence.runners.jvm.gradle_report import cases
from detent.evidence.runners.jvm.jvm_files import file_of, is_test_file
from detent.evidence.runners.jvm.jvm_report import Order, check, read_report, summary
from detent.evidence.runners.shared_config import is_shared_config
from detent.evidence.runners.wrapper import calls

CONFIG = re.compile(r".+\.gradle(?:\.kts)?|gradle\.properties|gradlew(?:\.bat)?|junit-platform\.properties")
DEPENDENCY = re.compile(r"^\s*(?:implementation|api|compile|compileOnly|runtime|runtimeOnly)\b.*$", re.MULTILINE)
SOURCE_SET = re.compile(r"sourceSets\b.*?\btest\b[^}]*?\bsrcDirs?\b\s*(?:=|\+=|\()?\s*([^\n]*)", re.DOTALL)
SHAPE = Shape(
    programs=(("gradle", "test"), ("./gradlew", "test")),
    selecting={"--tests": "--tests"},
    shown_flags=frozenset({"-q", "--quiet", "-i", "--info", "-s", "--stacktrace", "-w", "--warn", "--offline", "--no-daemon", "--rerun-tasks", "--continue"}),
    shown_values=frozenset({"--console"}),
    allowed="`gradle test` with --tests, test files or folders",
)  # fmt: skip


class Gradle:
    """The adapter. It holds nothing."""

    name = "gradle"

    def adopt(self, words: tuple[str, ...]) -> Command | None:
        end = program_end(words, SHAPE)
        parsed = parse(words[end:], SHAPE)
        return Command(words, "gradle") if end and not parsed.fault and not parsed.selectors else None

    def detect(self, files: Files) -> Command | None:
        if not (files.exists("build.gradle") or files.exists("build.gradle.kts")):
            return None
        return Command(("./gradlew" if files.exists("gradlew") else "gradle", "test"), "gradle", "gradle")

    def refuse(self, command: str, base: Command) -> str | None:
        return _parsed(command, base).fault or None

    def selectors(self, command: str, base: Command) -> tuple[str, ...]:
        return _parsed(command, base).selectors

    def full(self, base: Command) -> list[str]:
        return list(base.argv)

    def argv(self, base: Command, selectors: tuple[str, ...], report_path: str, files: Files | None = None) -> list[str]:
        names = [each.partition("=")[2] for each in selectors if each.startswith("--tests=")]
        paths = [each for each in selectors if not each.startswith("-")]
        return calls("detent.evidence.runners.jvm.gradle_run", report_path, Order([base.argv[0]], [], paths, names))

    def read(self, report: bytes | None, exit_code: int | None, output: str) -> TestReport:
        if report is None:
            raise CannotTell(f"Gradle wrote no report: it ended with code {exit_code}\n{output.strip()[-2000:]}")
        said = read_report(report)
        played = list(cases(said))
        asked = {(case.module, case.classname) for case in played}
        found = summary(said, played, {at: file_of(at[1], at[0], said.classes) or "build.gradle" for at in asked}, "gradle")
        check(found, said.code, exit_code, output, "Gradle")
        return found

    def test_patterns(self, base: Command | None, files: Files) -> tuple[str, ...]:
        """Folders that the build names for its set of tests, where it says so in so many words."""
        text = (files.read("build.gradle") or "") + (files.read("build.gradle.kts") or "")
        lists = SOURCE_SET.findall(text)
        return folders(word for each in lists for word in re.findall(r"""["']([^"'$]+)["']""", each))

    def is_test(self, path: str) -> bool:
        return not self.is_config(path) and is_test_file(path)

    def is_config(self, path: str) -> bool:
        return CONFIG.fullmatch(PurePosixPath(path).name) is not None or path.startswith("gradle/wrapper/") or is_shared_config(path)

    def runner_part(self, path: str, text: str) -> str:
        """Of a build file all but the dependencies of production."""
        return DEPENDENCY.sub("", text) if ".gradle" in PurePosixPath(path).name else text


def _parsed(command: str, base: Command) -> Parsed:
    parsed = parse(command, SHAPE, base)
    names = [each for each in parsed.selectors if each.startswith("-")]
    if names and len(names) < len(parsed.selectors):
        return Parsed(fault=f"--tests and files are both there; name the tests either way; allowed is one call of `{base.text}`")
    return parsed
