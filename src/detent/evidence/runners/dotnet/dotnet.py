""".NET: how a project calls `dotnet test`, the machine's own call, and what its report says. Starts no process.

Made by what reports of others show; the real program was never at hand (see `UNSEEN`). Exit code and report must agree; where they do not,
nothing can be told: a test host that crashed leaves a report in which everything passed.
"""

import re
from pathlib import PurePosixPath

import msgspec

from detent.errors import CannotTell
from detent.evidence.formats.trx import Result, read_results
from detent.evidence.ids import readable
from detent.evidence.report import TestReport
from detent.evidence.runners.adapter import Command, Files
from detent.evidence.runners.command_shape import Parsed, Shape, parse, program_end
from detent.evidence.runners.dotnet.dotnet_files import CODE, Order, Report
from detent.evidence.runners.shared_config import is_shared_config
from detent.evidence.runners.wrapper import calls

LONGEST_MESSAGE = 2000
PROJECT = re.compile(r".+\.(?:cs|fs|vb)proj")
CONFIG = re.compile(r".+\.runsettings|.*xunit\.runner\.json|Directory\.Build\.(?:props|targets)|global\.json|NuGet\.Config", re.IGNORECASE)
DEPENDENCY = re.compile(r"<(PackageReference|ProjectReference|PackageVersion)\b[^>]*?(?:/>|>.*?</\1>)", re.DOTALL)
MISSING = frozenset({"CS0103", "CS0117", "CS0234", "CS0246", "CS0426", "CS1061", "CS1501", "CS1739", "CS7036"})
ASSERTION = re.compile(r"Assert|Expected", re.IGNORECASE)
SHAPE = Shape(
    programs=(("dotnet", "test"),),
    selecting={"--filter": "--filter"},
    shown_flags=frozenset({"--nologo", "--no-restore"}),
    shown_values=frozenset({"-v", "--verbosity"}),
    allowed="`dotnet test` with --filter, test files or folders",
)


class Dotnet:
    """The adapter. It holds nothing."""

    name = "dotnet"

    def adopt(self, words: tuple[str, ...]) -> Command | None:
        end = program_end(words, SHAPE)
        parsed = parse(words[end:], SHAPE)
        return Command(words, "dotnet") if end and not parsed.fault and not parsed.selectors else None

    def detect(self, files: Files) -> Command | None:
        """A solution in the root, or a project that refers to the SDK of tests."""
        projects = [path for path in files.paths() if PROJECT.fullmatch(path)]
        solution = any("/" not in path and path.endswith((".sln", ".slnx")) for path in files.paths())
        tested = any("Microsoft.NET.Test.Sdk" in (files.read(path) or "") for path in projects)
        return Command(("dotnet", "test"), "dotnet", "dotnet") if tested or (solution and projects) else None

    def refuse(self, command: str, base: Command) -> str | None:
        return self._parsed(command, base).fault or None

    def selectors(self, command: str, base: Command) -> tuple[str, ...]:
        return self._parsed(command, base).selectors

    def _parsed(self, command: str, base: Command) -> Parsed:
        return parse(command, SHAPE, base)

    def full(self, base: Command) -> list[str]:
        return list(base.argv)

    def argv(self, base: Command, selectors: tuple[str, ...], report_path: str, files: Files | None = None) -> list[str]:
        names = [each.partition("=")[2] for each in selectors if each.startswith("--filter=")]
        paths = [each for each in selectors if not each.startswith("-")]
        return calls("detent.evidence.runners.dotnet.dotnet_run", report_path, Order([base.argv[0]], paths, names))

    def read(self, report: bytes | None, exit_code: int | None, output: str) -> TestReport:
        tail = output.strip()[-2000:]
        if report is None:
            raise CannotTell(f"dotnet wrote no report: it ended with code {exit_code}\n{tail}")
        try:
            said = msgspec.json.decode(report, type=Report)
        except msgspec.DecodeError as e:
            raise CannotTell(f"the test report cannot be read: {e}") from e
        found = _summary(said, [result for text in said.reports for result in read_results(text.encode())])
        if said.code != exit_code or exit_code not in (0, 1):
            raise CannotTell(f"dotnet ended with code {exit_code}\n{tail}")
        if (exit_code == 1) != bool(found.bad):
            raise CannotTell(
                f"dotnet ended with code {exit_code}, and its report says otherwise: {min(found.bad, default='nothing failed')}\n{tail}"
            )
        return found

    def is_test(self, path: str) -> bool:
        where = PurePosixPath(path)
        named = where.suffix in CODE and re.search(r"(?:Tests?|Specs?)$", where.stem) is not None
        return not self.is_config(path) and (named or any(re.search(r"(?:^|\.)tests?$", part, re.IGNORECASE) for part in where.parts[:-1]))

    def is_config(self, path: str) -> bool:
        name = PurePosixPath(path).name
        return PROJECT.fullmatch(name) is not None or CONFIG.fullmatch(name) is not None or is_shared_config(path)

    def runner_part(self, path: str, text: str) -> str:
        """Of a project all but what it depends on."""
        return DEPENDENCY.sub("", text) if PROJECT.fullmatch(path) else text


def _summary(said: Report, results: list[Result]) -> TestReport:
    found = TestReport({}, {}, (), "", said.code, runner="dotnet")
    missing = []
    for file, faults in said.broken.items():
        found.outcomes[file], found.files[file], found.kinds[file] = "error", file, "BuildError"
        found.messages[file] = "\n".join(faults)[:LONGEST_MESSAGE]
        missing += [file] if all(fault.partition(":")[0] in MISSING for fault in faults) else []
    for result in results:
        file = said.classes.get(result.classname.partition("+")[0], said.project)
        test = _free(found, readable(f"{file}::{result.name}"))
        found.outcomes[test], found.files[test] = result.outcome, file
        if result.outcome in ("failed", "error"):
            found.kinds[test] = "AssertionError" if result.outcome == "failed" and ASSERTION.search(result.message) else result.said
            found.messages[test] = result.message[:LONGEST_MESSAGE]
    return msgspec.structs.replace(found, missing_names=tuple(missing), seconds=round(sum(each.seconds for each in results), 3))


def _free(found: TestReport, test: str) -> str:
    """The second of one name gets a number."""
    count, name = 1, test
    while name in found.outcomes:
        count, name = count + 1, f"{test} ({count + 1})"
    return name
