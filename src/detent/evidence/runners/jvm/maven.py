"""Maven with Surefire: how a project calls it, the machine's own call, and what its report says. Starts no process.

The report is Surefire's own, JUnit XML, one file per class. Exit code and report must agree; where they do not, nothing can be told.
"""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from xml.etree.ElementTree import ParseError, fromstring, tostring

from detent.errors import CannotTell
from detent.evidence.formats.junit import read_cases
from detent.evidence.patterns import folders
from detent.evidence.report import Outcome, TestReport
from detent.evidence.runners.adapter import Command, Files
from detent.evidence.runners.jvm.jvm_files import file_of, is_test_file
from detent.evidence.runners.jvm.jvm_report import Order, Played, Report, check, read_report, summary
from detent.evidence.runners.jvm.maven_command import kept, parse, place_of_goal
from detent.evidence.runners.shared_config import is_shared_config
from detent.evidence.runners.wrapper import calls

CONFIG = frozenset({"pom.xml", "mvnw", "mvnw.cmd", "junit-platform.properties"})
ORDINARY = frozenset(
    {"dependencies", "version", "name", "description", "url", "licenses", "developers", "contributors", "scm", "organization"}
)


class Maven:
    """The adapter. It holds nothing."""

    name = "maven"

    def adopt(self, words: tuple[str, ...]) -> Command | None:
        return Command(words, "maven") if place_of_goal(words) and kept(words) is not None else None

    def detect(self, files: Files) -> Command | None:
        if not re.search("junit|testng", files.read("pom.xml") or "", re.IGNORECASE):
            return None
        return Command(("./mvnw" if files.exists("mvnw") else "mvn", "test"), "maven", "maven")

    def refuse(self, command: str, base: Command) -> str | None:
        return parse(command, base).fault or None

    def selectors(self, command: str, base: Command) -> tuple[str, ...]:
        return parse(command, base).selectors

    def full(self, base: Command) -> list[str]:
        return list(base.argv)

    def argv(self, base: Command, selectors: tuple[str, ...], report_path: str, files: Files | None = None) -> list[str]:
        names = [each.partition("=")[2] for each in selectors if each.startswith("-Dtest=")]
        paths = [each for each in selectors if not each.startswith("-")]
        return calls("detent.evidence.runners.jvm.maven_run", report_path, Order([base.argv[0]], kept(base.argv) or [], paths, names))

    def read(self, report: bytes | None, exit_code: int | None, output: str) -> TestReport:
        if report is None:
            raise CannotTell(f"Maven wrote no report: it ended with code {exit_code}\n{output.strip()[-2000:]}")
        said = read_report(report)
        played = list(cases(said))
        asked = {*((case.module, case.classname) for case in played), *(("", name) for name in said.ended)}
        found = summary(said, played, {at: file_of(at[1], at[0], said.classes) or "pom.xml" for at in asked}, "maven")
        check(found, said.code, exit_code, output, "Maven")
        return found

    def test_patterns(self, base: Command | None, files: Files) -> tuple[str, ...]:
        said = re.findall(r"<testSourceDirectory>([^<$]+)</testSourceDirectory>", files.read("pom.xml") or "")
        return folders(said)

    def is_test(self, path: str) -> bool:
        return not self.is_config(path) and is_test_file(path)

    def is_config(self, path: str) -> bool:
        return PurePosixPath(path).name in CONFIG or path.startswith(".mvn/") or is_shared_config(path)

    def runner_part(self, path: str, text: str) -> str:
        """Of `pom.xml` all but the project's own dependencies and its description."""
        if PurePosixPath(path).name != "pom.xml" or "<!DOCTYPE" in text:
            return text
        try:
            project = fromstring(text)
        except (ParseError, ValueError):
            return text
        for child in [each for each in project if each.tag.rpartition("}")[2] in ORDINARY]:
            project.remove(child)
        return " ".join(tostring(project, "unicode").split())


def cases(report: Report) -> Iterator[Played]:
    """Every test case of every file; the numbers above them are not read."""
    for log in report.logs:
        for case in read_cases(log.text.encode()):
            problem = next(iter(case.problems), None)
            if problem is None:
                yield Played(log.module, case.classname, case.name, "passed", seconds=case.seconds)
                continue
            said = problem.message or problem.text.strip()
            outcome: Outcome = "skipped" if problem.sort == "skipped" else "failed"
            yield Played(log.module, case.classname, case.name, outcome, problem.type, said or problem.type, case.seconds, problem.text)
