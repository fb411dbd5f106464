"""Maven with Surefire. A wrapper of ours reads Surefire's JUnit XML."""

import re
import shlex
from collections.abc import Iterator
from pathlib import PurePosixPath
from xml.etree.ElementTree import ParseError, fromstring, tostring

import msgspec

from detent.evidence.report import Outcome
from detent.evidence.runners import command_shape
from detent.evidence.runners.adapter import Command, Files, InnerProject, Parsed, Runner, split_words
from detent.evidence.runners.command_shape import CommandShape
from detent.evidence.runners.command_shape import parse as parse_plain
from detent.evidence.runners.jvm.jvm_files import is_test_file
from detent.evidence.runners.jvm.jvm_report import JvmCase, JvmReport, outcomes
from detent.evidence.runners.report_reader import read_cases, reader
from detent.evidence.runners.wrapper import RunOrder, wrapped
from detent.evidence.source.file_patterns import folders

PROGRAMS = ("mvn", "./mvnw")
ALWAYS = frozenset(
    {"-q", "--quiet", "-B", "--batch-mode", "-e", "--errors", "-X", "--debug", "-o", "--offline", "-ntp", "--no-transfer-progress"}
)
KEPT_FLAGS = frozenset({"-am", "--also-make"})
KEPT_VALUES = frozenset({"-P", "--activate-profiles", "-pl", "--projects", "-s", "--settings", "-T", "--threads"})
NOT_KEPT = ("-Dtest", "-DskipTests", "-Dmaven.test.", "-Dsurefire.", "-DfailIf", "-Dit.test")
SHAPE = CommandShape(
    programs=tuple((program, "test") for program in PROGRAMS),
    selecting={"-Dtest": "-Dtest"},
    shown_flags=ALWAYS,
    shown_values=frozenset(),
    allowed="`mvn test` with -Dtest=Class#method, or with test files or folders",
    either="-Dtest",
)


def place_of_goal(words: tuple[str, ...]) -> int:
    """The index of `test` in a call of Maven; 0 if there is none. A `clean` before it is accepted, since every build is fresh."""
    if not words or words[0] not in PROGRAMS or "test" not in words:
        return 0
    return words.index("test")


def kept(words: tuple[str, ...]) -> list[str] | None:
    """The options of the project's own command that the machine keeps; None if one is unknown."""
    found: list[str] = []
    left = [word for word in words[1:] if word not in ALWAYS and word not in ("clean", "test")]
    while left:
        word = left.pop(0)
        if (
            word in KEPT_FLAGS
            or (word.startswith("-D") and len(word) > 2 and not word.startswith(NOT_KEPT))
            or (word[:2] == "-P" and word[2:])
        ):
            found.append(word)
        elif word in KEPT_VALUES and left and not left[0].startswith("-"):
            found += [word, left.pop(0)]
        else:
            return None
    return found


def parse(command: str, base: Command) -> Parsed:
    """The selectors of an agent's command, whose options may come before the goal."""
    words, fault = split_words(command)
    if not fault and words[: len(base.argv)] != base.argv and (at := place_of_goal(words)):
        before = [word for word in words[1:at] if word != "clean"]
        command = shlex.join([words[0], "test", *before, *words[at + 1 :]])
    return parse_plain(SHAPE, command, base)


ORDINARY = frozenset(
    {"dependencies", "version", "name", "description", "url", "licenses", "developers", "contributors", "scm", "organization"}
)


def adopt(words: tuple[str, ...]) -> Command | None:
    return Command(words, "maven") if place_of_goal(words) and kept(words) is not None else None


def detect(files: Files) -> Command | None:
    if not re.search("junit|testng", files.read("pom.xml") or "", re.IGNORECASE):
        return None
    return Command(("./mvnw" if files.exists("mvnw") else "mvn", "test"), "maven", "maven")


def order(base: Command, selectors: tuple[str, ...], files: Files | None) -> RunOrder:
    return msgspec.structs.replace(command_shape.order(base, selectors, files), options=kept(base.argv) or [])


def test_patterns(base: Command | None, files: Files) -> tuple[str, ...]:
    return folders(re.findall(r"<testSourceDirectory>([^<$]+)</testSourceDirectory>", files.read("pom.xml") or ""))


def runner_part(path: str, text: str) -> str:
    """`pom.xml` without the project's own dependencies and description; other files in full."""
    if PurePosixPath(path).name != "pom.xml" or "<!DOCTYPE" in text:
        return text
    try:
        project = fromstring(text)
    except (ParseError, ValueError):
        return text
    for child in [each for each in project if each.tag.rpartition("}")[2] in ORDINARY]:
        project.remove(child)
    return " ".join(tostring(project, "unicode").split())


def cases(report: JvmReport) -> Iterator[JvmCase]:
    """Every test case of Surefire's files, which are one per class; their totals are not read."""
    for log in report.logs:
        for case in read_cases(log.text.encode()):
            problem = next(iter(case.problems), None)
            if problem is None:
                yield JvmCase(log.module, case.classname, case.name, "passed", seconds=case.seconds)
                continue
            message = problem.message or problem.text.strip()
            outcome: Outcome = "skipped" if problem.sort == "skipped" else "failed"
            yield JvmCase(log.module, case.classname, case.name, outcome, problem.type, message or problem.type, case.seconds, problem.text)


def reaches(outer: Command, files: Files, below: InnerProject) -> bool:
    modules = [each.strip("/") for each in re.findall(r"<module>\s*([^<\s]+)\s*</module>", files.read("pom.xml") or "")]
    return any(below.folder == each or below.folder.startswith(f"{each}/") for each in modules)


RUNNER = Runner(
    name="maven",
    adopt=adopt,
    detect=detect,
    parse=parse,
    argv=wrapped("detent.evidence.runners.jvm.maven_run", order),
    read=reader("maven", "Maven", JvmReport, lambda report: outcomes(report, cases(report), "pom.xml"), (0, 1)),
    tests=is_test_file,
    config=re.compile(r"(?:^|/)(?:pom\.xml|mvnw|mvnw\.cmd|junit-platform\.properties)$|^\.mvn/").search,
    runner_part=runner_part,
    test_patterns=test_patterns,
    reaches=reaches,
)
