""".NET. A wrapper of ours runs `dotnet test` and reads its TRX reports.

Written from published reports; never tried with the real program (see `UNSEEN`). If a test host crashes, its report shows only passes, so report
and exit code then disagree.
"""

import re
from functools import partial

from detent.evidence.runners.adapter import Command, Files, Runner
from detent.evidence.runners.command_shape import CommandShape, adopt, order, parse
from detent.evidence.runners.dotnet.dotnet_files import DotnetReport
from detent.evidence.runners.report_reader import SeenTest, numbered, reader
from detent.evidence.runners.trx import read_results
from detent.evidence.runners.wrapper import wrapped
from detent.evidence.source.test_ids import readable

PROJECT = re.compile(r".+\.(?:cs|fs|vb)proj")
DEPENDENCY = re.compile(r"<(PackageReference|ProjectReference|PackageVersion)\b[^>]*?(?:/>|>.*?</\1>)", re.DOTALL)
MISSING = frozenset({"CS0103", "CS0117", "CS0234", "CS0246", "CS0426", "CS1061", "CS1501", "CS1739", "CS7036"})
ASSERTION = re.compile(r"Assert|Expected", re.IGNORECASE)
SHAPE = CommandShape(
    programs=(("dotnet", "test"),),
    selecting={"--filter": "--filter"},
    shown_flags=frozenset({"--nologo", "--no-restore"}),
    shown_values=frozenset({"-v", "--verbosity"}),
    allowed="`dotnet test` with --filter, test files or folders",
)


def detect(files: Files) -> Command | None:
    """A solution at the root, or a project that references the test SDK."""
    projects = [path for path in files.paths() if PROJECT.fullmatch(path)]
    solution = any("/" not in path and path.endswith((".sln", ".slnx")) for path in files.paths())
    tested = any("Microsoft.NET.Test.Sdk" in (files.read(path) or "") for path in projects)
    return Command(("dotnet", "test"), "dotnet", "dotnet") if tested or (solution and projects) else None


def outcomes(report: DotnetReport) -> dict[str, SeenTest]:
    found: dict[str, SeenTest] = {}
    for file, faults in report.broken.items():
        missing = all(fault.partition(":")[0] in MISSING for fault in faults)
        found[file] = SeenTest(file, "error", "\n".join(faults), "BuildError", missing)
    for result in (each for text in report.reports for each in read_results(text.encode())):
        file = report.classes.get(result.classname.partition("+")[0], report.project)
        bad = result.outcome in ("failed", "error")
        kind = "AssertionError" if result.outcome == "failed" and ASSERTION.search(result.message) else result.reported
        problem = (result.message, kind) if bad else ("", "")
        found[numbered(readable(f"{file}::{result.name}"), found)] = SeenTest(file, result.outcome, *problem, seconds=result.seconds)
    return found


def runner_part(path: str, text: str) -> str:
    """A project file without its dependencies; other files in full."""
    return DEPENDENCY.sub("", text) if PROJECT.fullmatch(path) else text


RUNNER = Runner(
    name="dotnet",
    adopt=partial(adopt, SHAPE, "dotnet"),
    detect=detect,
    parse=partial(parse, SHAPE),
    argv=wrapped("detent.evidence.runners.dotnet.dotnet_run", order),
    read=reader("dotnet", "dotnet", DotnetReport, outcomes, (0, 1)),
    tests=re.compile(r"(?:Tests?|Specs?)\.(?:cs|fs|vb)$|(?:^|/)(?:[^/]*\.)?[tT][eE][sS][tT][sS]?/").search,
    config=re.compile(
        r"\.(?:cs|fs|vb)proj$|(?:^|/)(?:(?i:[^/]+\.runsettings|[^/]*xunit\.runner\.json|Directory\.Build\.(?:props|targets)|global\.json|NuGet\.Config))$"
    ).search,
    runner_part=runner_part,
    reaches=lambda outer, files, below: True,
)
