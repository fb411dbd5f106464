"""`dotnet test`: its report as it is known from others' files, built here by hand. The program itself is played by a script: it was never at hand."""

import os
import sys
from pathlib import Path

import pytest

from detent.errors import CannotTell
from detent.evidence.report import TestReport
from detent.evidence.runners import RUNNERS, UNSEEN, Command, Folder, find_command, refuse
from detent.evidence.runners.trx import read_results
from detent.evidence.running.suite import Suite, environment, run_suite
from tests.patience import LONG
from tests.repos import write

DOTNET = RUNNERS["dotnet"]
BASE = Command(("dotnet", "test"), "dotnet")
TESTS = "Calc.Tests/CalcTests.cs"
FILES = {
    "Calc.sln": "",
    "Calc.Tests/Calc.Tests.csproj": '<Project><PackageReference Include="Microsoft.NET.Test.Sdk" /></Project>\n',
    TESTS: "namespace Calc.Tests;\n\npublic class CalcTests { }\n",
    "Calc.Tests/More.cs": "namespace Calc.Tests { class MoreTests { class Inner { } } }\n",
    "Calc.Tests/obj/Made.cs": "namespace Calc.Tests; class CalcTests { }\n",
}
HEAD = '<?xml version="1.0" encoding="utf-8"?>\n<TestRun id="r" name="n" xmlns="http://microsoft.com/schemas/VisualStudio/TeamTest/2010">'
SUMMARY = '<ResultSummary outcome="Completed"><Counters total="99" executed="99" passed="99" failed="0" /></ResultSummary></TestRun>'


def result(test: str, name: str, outcome: str, inside: str = "") -> str:
    said = f' outcome="{outcome}"' if outcome else ""
    return f'<UnitTestResult executionId="e{test}" testId="{test}" testName="{name}" duration="00:00:01.5000000"{said}>{inside}</UnitTestResult>'


def trx(*results: str, **classes: str) -> str:
    tests = "".join(
        f'<UnitTest name="x" storage="a.dll" id="{test}"><Execution id="e{test}" /><TestMethod codeBase="a.dll" className="{name}" name="m" /></UnitTest>'
        for test, name in classes.items()
    )
    return f"{HEAD}<Results>{''.join(results)}</Results><TestDefinitions>{tests}</TestDefinitions>{SUMMARY}"


FAILED = "<Output><StdOut>99 passed</StdOut><ErrorInfo><Message>Assert.Equal() Failure&#xD;\nExpected: 3</Message><StackTrace>at</StackTrace></ErrorInfo></Output>"
WHOLE = trx(
    result("a", "Calc.Tests.CalcTests.Passes", "Passed"),
    result("b", "Calc.Tests.CalcTests.Fails", "Failed", FAILED),
    result("c", "A name of its own", "NotExecuted"),
    result("d", "Calc.Tests.MoreTests+Inner.Row(n: 1)", "Passed"),
    result("d", "Calc.Tests.MoreTests+Inner.Row(n: 1)", "Inconclusive"),
    a="Calc.Tests.CalcTests", b="Calc.Tests.CalcTests", c="Calc.Tests.CalcTests", d="Calc.Tests.MoreTests+Inner",
)  # fmt: skip


def test_results_are_counted_one_by_one_and_counters_are_not_believed() -> None:
    found = read_results(WHOLE.encode())
    assert [(each.name, each.outcome) for each in found] == [
        ("Passes", "passed"), ("Fails", "failed"), ("A name of its own", "skipped"), ("Row(n: 1)", "passed"), ("Row(n: 1)", "skipped"),
    ]  # fmt: skip
    assert found[1].message.endswith("Expected: 3") and found[0].seconds == 1.5


@pytest.mark.parametrize(
    "outcome",
    ["Timeout", "Aborted", "Error", "Disconnected", "NotRunnable", "PassedButRunAborted", "InProgress", "Completed", "Splendid", ""],
)
def test_an_outcome_that_is_neither_pass_nor_failure_nor_skip_is_an_error(outcome: str) -> None:
    assert [each.outcome for each in read_results(trx(result("a", "A.B", outcome)).encode())] == ["error"]


def test_of_a_test_with_rows_only_the_rows_count() -> None:
    rows = "<InnerResults>" + result("a", "N.T.R (1)", "Passed") + result("a", "N.T.R (2)", "Failed") + "</InnerResults>"
    found = read_results(trx(result("a", "N.T.R", "Failed", rows), result("b", "N.T.S", "Passed"), a="N.T", b="N.T").encode())
    assert [(each.name, each.outcome) for each in found] == [("R (1)", "passed"), ("R (2)", "failed"), ("S", "passed")]


@pytest.mark.parametrize(
    "text", ["", "<TestRun>", "<testsuites/>", '<!DOCTYPE a [<!ENTITY b "c">]><TestRun/>', WHOLE[:-20], "<TestRun>" + "<a>" * 200]
)
def test_what_cannot_be_read_whole_is_no_report(text: str) -> None:
    with pytest.raises(CannotTell):
        read_results(text.encode())


STUB = """#!{python}
import pathlib, sys
words = sys.argv[1:]
assert words[:2] == ["test", "--nologo"] and words[words.index("--logger") + 1].startswith("trx;"), words
here = pathlib.Path({here!r})
(here / "called").write_text(" ".join(words))
folder = pathlib.Path(words[words.index("--results-directory") + 1])
for file in here.glob("*.trx"):
    (folder / file.name).write_text(file.read_text())
sys.stdout.write((here / "says").read_text())
sys.exit(int((here / "code").read_text()))
"""


class Stage:
    """A project, and a program `dotnet` that writes what it is told to."""

    def __init__(self, folder: Path) -> None:
        self.root, self.bin = folder / "p", folder / "bin"
        write(self.root, {**FILES, "Calc.Tests/TestResults/old.trx": trx(result("z", "Forged.T.Old", "Passed"))})
        self.bin.mkdir()
        (self.bin / "dotnet").write_text(STUB.format(python=sys.executable, here=str(self.bin)))
        (self.bin / "dotnet").chmod(0o755)

    def run(self, code: int, says: str, *reports: str, selectors: tuple[str, ...] = ()) -> TestReport:
        write(self.bin, {"says": says, "code": str(code), **{f"run_{n}.trx": text for n, text in enumerate(reports)}})
        suite = Suite(BASE, LONG, f"{self.bin}{os.pathsep}{os.environ['PATH']}")
        env = environment(suite, os.environ, self.root.parent / "pycache")
        return run_suite(suite, selectors, self.root, self.root, env, lambda: True)

    def called(self) -> str:
        return (self.bin / "called").read_text()


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


def test_every_report_of_this_run_is_read_and_none_of_an_earlier_one(stage: Stage) -> None:
    other = trx(result("q", "Calc.Tests.CalcTests.Passes", "Passed"), q="Calc.Tests.CalcTests")
    seen = stage.run(1, "Passed! - Failed: 0, Passed: 99\n", WHOLE, other)
    assert seen.outcomes == {
        f"{TESTS}::Passes": "passed",
        f"{TESTS}::Fails": "failed",
        f"{TESTS}::A name of its own": "skipped",
        "Calc.Tests/More.cs::Row(n: 1)": "passed",
        "Calc.Tests/More.cs::Row(n: 1) (2)": "skipped",
        f"{TESTS}::Passes (2)": "passed",
    }
    assert seen.kinds[f"{TESTS}::Fails"] == "AssertionError" and seen.canary == "unsupported"


def test_exit_code_and_report_must_agree(stage: Stage) -> None:
    passed = trx(result("a", "Calc.Tests.CalcTests.Passes", "Passed"))
    with pytest.raises(CannotTell, match="no test in its report failed"):
        stage.run(1, "The active test run was aborted. Reason: Test host process crashed", passed)
    with pytest.raises(CannotTell, match="its report has a failure"):
        stage.run(0, "", WHOLE)
    with pytest.raises(CannotTell, match=r"crashed with an abort \(SIGABRT\)"):
        stage.run(134, "", passed)
    assert stage.run(0, "No test is available").ids == {f"{TESTS}::Passes"}, "the stub wrote it again"


def test_no_report_and_a_good_end_is_no_test(stage: Stage) -> None:
    assert stage.run(0, "99 passed\n").ids == frozenset()


def test_a_file_that_does_not_compile_is_one_id_that_may_wait_for_a_name(stage: Stage) -> None:
    fault = f"{stage.root}/{TESTS}(9,5): error CS0103: The name 'Clamp' does not exist in the current context [{stage.root}/a.csproj]\n"
    seen = stage.run(1, fault * 2)
    assert (seen.outcomes, seen.missing_names) == ({TESTS: "error"}, (TESTS,)) and "Clamp" in seen.messages[TESTS]
    other = stage.run(1, fault + fault.replace("CS0103", "CS1002"))
    assert other.missing_names == ()


def test_files_are_selected_by_the_classes_that_they_declare(stage: Stage) -> None:
    stage.run(0, "", selectors=(TESTS,))
    assert "--filter FullyQualifiedName~Calc.Tests.CalcTests." in stage.called()
    stage.run(0, "", selectors=("--filter=Name~Adds",))
    assert "--filter (Name~Adds)" in stage.called()


def test_commands_and_files_are_told_apart(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    base = find_command(Folder(tmp_path))
    assert base is not None and (base.text, base.runner) == ("dotnet test", "dotnet") and {"dotnet"} == UNSEEN
    assert refuse("dotnet test --filter Name~A", base) is None and refuse(f"dotnet test {TESTS}", base) is None
    assert refuse("dotnet run", base) and refuse("dotnet test --no-build", base)
    sorts = {
        TESTS: "test",
        "Calc.Tests/Data.json": "test",
        "src/Calc/Calc.cs": "",
        "src/Calc/Latest.cs": "",
        "a.runsettings": "config",
        "Calc/Calc.csproj": "config",
    }
    assert {path: "test" if DOTNET.is_test(path) else "config" if DOTNET.is_config(path) else "" for path in sorts} == sorts
    lean = '<Project><PackageReference Include="A" Version="1" /><IsTestProject>true</IsTestProject></Project>'
    assert DOTNET.runner_part("a.csproj", lean) == DOTNET.runner_part("a.csproj", lean.replace('"1"', '"2"'))
    assert DOTNET.runner_part("a.csproj", lean) != DOTNET.runner_part("a.csproj", lean.replace("true", "false"))
