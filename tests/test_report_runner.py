"""`[test] report`: any runner that writes JUnit XML, TRX or TAP, tried with bats, with Perl's Test::More and with node, run as strangers."""

import os
import shutil
from pathlib import Path

import pytest

from detent.config.sources import load
from detent.errors import CannotTell, DetentError
from detent.evidence.report import TestReport
from detent.evidence.runners import RUNNERS, Command, Folder, find_command, refuse
from detent.evidence.runners.reports.test_file_of import FoundFile, TestFilesOf
from detent.evidence.runners.tap import TapPoint, read_points
from detent.evidence.running.suite import Suite, environment, run_suite
from tests.dialects import PACKAGES
from tests.patience import LONG
from tests.project import PLAN, START, Project
from tests.repos import write
from tests.test_check import Branch

BATS = PACKAGES / "bats" / "bin" / "bats"
CALC = "add() { echo 0; }\n"
TESTS = """setup() { . ./calc.sh; }
@test "stays" { true; }
@test "adds" { [ "$(add 1 2)" = 3 ]; }
@test "comes later" { skip "not now"; }
"""
PERL = """use Test::More;
ok(1, "stays");
is(1 + 2, 4, "adds");
subtest inner => sub { ok(1, "deep"); done_testing; };
done_testing;
"""
NODE = "const { test } = require('node:test');\ntest('stays', () => {});\ntest('adds', () => { throw new Error('no'); });\n"


def run(root: Path, command: str, report: str, *selectors: str) -> TestReport:
    """The machine's own run of a command with a report."""
    base = find_command(Folder(root), command, report)
    suite = Suite(base, LONG, os.environ["PATH"])
    return run_suite(suite, selectors, root, root, environment(suite, os.environ, root.parent / "pycache"), lambda: True)


def saying(root: Path, text: str, code: int = 0, report: str = "r.xml") -> TestReport:
    """What is made of a report of these words and of this exit code."""
    write(root, {"said": text})
    return run(root, f"cp said {report}; exit {code}", report)


@pytest.mark.needs("runners_js")
@pytest.mark.parametrize("words", [("--report-formatter junit -o out", "out/*.xml"), ("--formatter junit", "")])
def test_bats_is_read_by_its_junit_report(tmp_path: Path, words: tuple[str, str]) -> None:
    write(tmp_path / "p", {"calc.sh": CALC, "test/calc.bats": TESTS, "out/.keep": ""})
    flags, report = words
    found = run(tmp_path / "p", f"{BATS} {flags} test" + ("" if report else " > said.xml"), report or "said.xml")
    assert found.outcomes == {"test/calc.bats::stays": "passed", "test/calc.bats::adds": "failed", "test/calc.bats::comes later": "skipped"}
    assert set(found.files.values()) == {"test/calc.bats"}
    assert found.kinds == {"test/calc.bats::adds": "AssertionError"} and found.places == {"test/calc.bats::adds": "test/calc.bats:3"}
    assert (found.runner, found.exit_code) == ("report", 1)
    assert sorted(path.name for path in (tmp_path / "p").rglob("*") if path.is_file()) == [".keep", "calc.bats", "calc.sh"]


@pytest.mark.needs("runners_js")
def test_bats_is_read_by_its_tap_too_and_a_title_stands_in_the_file_that_says_it(tmp_path: Path) -> None:
    write(tmp_path / "p", {"calc.sh": CALC, "test/calc.bats": TESTS})
    found = run(tmp_path / "p", f"{BATS} --formatter tap test > r.tap", "r.tap")
    assert found.outcomes == {"test/calc.bats::stays": "passed", "test/calc.bats::adds": "failed", "test/calc.bats::comes later": "skipped"}
    assert found.places == {"test/calc.bats::adds": "test/calc.bats:3"}


@pytest.mark.skipif(not shutil.which("perl"), reason="there is no perl")
def test_tap_of_perl_with_subtests_is_read(tmp_path: Path) -> None:
    write(tmp_path / "p", {"t/calc.t": PERL})
    found = run(tmp_path / "p", "perl t/calc.t > r.tap", "r.tap")
    assert found.outcomes == {"t/calc.t::stays": "passed", "t/calc.t::adds": "failed", "t/calc.t::inner > deep": "passed"}


@pytest.mark.needs("node")
@pytest.mark.parametrize("form", ["junit", "tap"])
def test_reports_of_node_are_read_although_they_are_not_ours(tmp_path: Path, form: str) -> None:
    write(tmp_path / "p", {"test/calc.test.js": NODE})
    found = run(tmp_path / "p", f"node --test --test-reporter={form} test/calc.test.js > r.{form}", f"r.{form}")
    assert sorted(found.outcomes.values()) == ["failed", "passed"]


def test_a_report_of_trx_is_read(tmp_path: Path) -> None:
    result = '<UnitTestResult testId="1" testName="Calc.Tests.CalcTests.Adds" outcome="Passed" duration="00:00:00.5"/>'
    method = '<UnitTest id="1"><TestMethod className="Calc.Tests.CalcTests"/></UnitTest>'
    write(tmp_path / "p", {"Calc.Tests/CalcTests.cs": ""})
    found = saying(tmp_path / "p", f"<TestRun><Results>{result}</Results><TestDefinitions>{method}</TestDefinitions></TestRun>")
    assert found.outcomes == {"Calc.Tests/CalcTests.cs::Adds": "passed"} and found.seconds == 0.5


CASE = '<testcase classname="{}" name="{}">{}</testcase>'
GOOD, BAD = CASE.format("a", "b", ""), CASE.format("a", "c", '<failure message="no"/>')


@pytest.mark.parametrize(
    ("text", "code", "says"),
    [
        (f"<testsuite>{GOOD}</testsuite>", 1, "the test command exited with code 1, but no test in its report failed"),
        (f"<testsuite>{BAD}</testsuite>", 0, "the test command exited with code 0, but its report has a failure"),
        (f"<testsuite>{BAD}</testsuite>", 127, "the test command exited with code 127"),
        (f"<testsuite>{GOOD}", 0, "the test report"),
        ("<html/>", 0, "it starts with <html>"),
        ("", 0, "it has no plan"),
        ("all is well\n", 0, "it has no plan"),
        ("1..2\nok 1\n", 0, "it plans 2 tests, and has 1"),
        ("1..1\nok 1\nBail out! no disk\n", 0, "the tests bailed out"),
        ("1..1\n    ok 1 - in\n    1..1\n", 0, "it ends inside a test"),
        ('<!DOCTYPE a [<!ENTITY b "c">]><testsuite/>', 0, "the test report"),
    ],
)  # fmt: skip
def test_a_report_that_does_not_fit_tells_nothing(tmp_path: Path, text: str, code: int, says: str) -> None:
    with pytest.raises(CannotTell, match=says.replace("<", ".")):
        saying(tmp_path / "p", text, code)


CRASHING = """console.log('TAP version 13\\n# ' + 'adds' + '\\nok 1 should be equal\\n# halves');
require('../calc.js').half();
"""


@pytest.mark.needs("node")
def test_an_error_of_a_test_that_ends_the_process_breaks_its_file_where_that_file_was_chosen(tmp_path: Path) -> None:
    half = "exports.half = () => {\n  throw new RangeError('no half');\n};\n"
    write(tmp_path / "p", {"calc.js": half, "test/calc.test.js": CRASHING, "test/other.test.js": ""})
    found = run(tmp_path / "p", "node test/calc.test.js > r.tap", "r.tap", "test/calc.test.js")
    assert found.outcomes == {"test/calc.test.js::adds > should be equal": "passed", "test/calc.test.js": "error"}, found
    assert found.kinds == {"test/calc.test.js": "RangeError"} and found.messages["test/calc.test.js"] == "RangeError: no half"
    for chosen in ((), ("test/other.test.js",)):
        with pytest.raises(CannotTell, match="it has no plan"):
            run(tmp_path / "p", "node test/calc.test.js > r.tap", "r.tap", *chosen)


def test_a_report_of_an_earlier_run_is_not_read(tmp_path: Path) -> None:
    write(tmp_path / "p", {"r.xml": f"<testsuite>{GOOD}</testsuite>"})
    with pytest.raises(CannotTell, match=r"it wrote nothing that \[test\] report names \(r.xml\); it exited with code 0"):
        run(tmp_path / "p", "true", "r.xml")
    os.symlink("r.xml", tmp_path / "p" / "link.xml")
    with pytest.raises(CannotTell, match="it wrote nothing"):
        run(tmp_path / "p", "touch -h link.xml", "link.xml")


def test_a_report_that_was_there_is_put_back_and_a_new_one_is_taken_away(tmp_path: Path) -> None:
    write(tmp_path / "p", {"old.xml": "before"})
    found = run(tmp_path / "p", f"echo '<testsuite>{GOOD}</testsuite>' | tee old.xml > new.xml", "*.xml")
    assert found.outcomes == {"new.xml::a > b": "passed", "old.xml::a > b": "passed"}
    assert (tmp_path / "p" / "old.xml").read_text() == "before" and not (tmp_path / "p" / "new.xml").exists()


def test_of_a_selection_only_its_files_are_told_and_the_exit_code_is_theirs(tmp_path: Path) -> None:
    write(tmp_path / "p", {"test/one.sh": "", "test/two.sh": ""})
    cases = CASE.format("test/one.sh", "a", "") + CASE.format("test/two.sh", "b", "<failure/>")
    write(tmp_path / "p", {"said": f"<testsuite>{cases}</testsuite>"})
    assert run(tmp_path / "p", "cp said r.xml; exit 3", "r.xml").outcomes == {"test/one.sh::a": "passed", "test/two.sh::b": "failed"}
    one = run(tmp_path / "p", "cp said r.xml; exit 3", "r.xml", "test/one.sh")
    assert (one.outcomes, one.exit_code) == ({"test/one.sh::a": "passed"}, 0)


@pytest.mark.parametrize(
    ("words", "file", "rest"),
    [
        ("test/calc.bats", "test/calc.bats", ()),
        ("./test/calc.bats", "test/calc.bats", ()),
        ("/p/test/calc.bats", "test/calc.bats", ()),
        ("calc.bats", "test/calc.bats", ()),
        ("tests.test_calc.TestAdd", "tests/test_calc.py", ("TestAdd",)),
        ("sum › adds", "test/sum.test.js", ("adds",)),
        ("org.calc.SumTest$Inner", "", ()),
        ("same", "", ()),
        ("nothing of the kind", "", ()),
        ("", "", ()),
    ],
)  # fmt: skip
def test_the_file_of_a_test_is_found_by_its_path_or_its_name(words: str, file: str, rest: tuple[str, ...]) -> None:
    files = TestFilesOf(["test/calc.bats", "tests/test_calc.py", "test/sum.test.js", "calc.py", "test/a/same.sh", "test/b/same.sh"], "/p")
    found = files.find(words)
    assert (found.file, found.rest) == (file, rest) if found else not file


@pytest.mark.parametrize(
    ("text", "points"),
    [
        ("1..0 # SKIP none here\n", []),
        ("TAP version 14\n1..1\nok 1 - a # time=5ms\n", [TapPoint(("a",), "passed", "", 0.005)]),
        ("1..1\nok 1 a # in 2 sec\n", [TapPoint(("a",), "passed", "", 2.0)]),
        ("not ok 1 - a # TODO soon\n1..1\n", [TapPoint(("a",), "skipped", "soon")]),
        ("not ok - a \\# 1\n# why\n1..1\n", [TapPoint(("a # 1",), "failed", "why")]),
        ("not ok 1\n  ---\n  message: no\n  ...\n1..1\n", [TapPoint(("(no name)",), "failed", "  message: no")]),
        ("# Subtest: s\n    not ok 1 - a\n    1..1\nnot ok 1 - s\n1..1\n", [TapPoint(("s", "a"), "failed")]),
        ("# Subtest: s\n    ok 1 - a\n    1..1\nnot ok 1 - s\n1..1\n", [TapPoint(("s", "a"), "passed"), TapPoint(("s",), "failed")]),
        ("ok 1 - s {\n    ok 1 - a\n    1..1\n}\n1..1\n", [TapPoint(("s", "a"), "passed")]),
        ("1..1\nhello\nok 1 - a\nokay\n", [TapPoint(("a",), "passed")]),
    ],
)  # fmt: skip
def test_tap_in_all_its_forms(text: str, points: list[TapPoint]) -> None:
    assert read_points(text.encode()) == points


def test_an_agent_hands_in_the_command_as_it_is() -> None:
    base = find_command(Folder(Path("/nonexistent")), "make check > r.tap", "r.tap")
    assert base == Command(("sh", "-c", "make check > r.tap"), "report", report="r.tap") and base.text == "make check > r.tap"
    assert refuse(" make check > r.tap ", base) is None and RUNNERS["report"].parse(base.text, base).selectors == ()
    for command in ("true", "", "make check > r.tap x", "make check"):
        assert "use the project's own test command, `make check > r.tap`, unchanged" in (refuse(command, base) or "")


@pytest.mark.parametrize(
    "path", ["test/a.sh", "tests/x", "t/a.t", "a.bats", "a_test.lua", "spec/a.cr", "src/a.spec.ts", "SumTest.java", "test_a.py"]
)
def test_tests_are_known_by_their_names(path: str) -> None:
    assert RUNNERS["report"].is_test(path) and not RUNNERS["report"].is_config(path)


@pytest.mark.parametrize("path", ["a.sh", "src/contest.c", "latest/a.sh", "detent.toml", ".github/workflows/test.yml"])
def test_and_other_files_are_none(path: str) -> None:
    assert not RUNNERS["report"].is_test(path)


ROW = "[[test.project]]\npath = 'a'\n"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[test]\nreport = 'r.xml'", "test.report is set, and test.command is not"),
        ("[test]\ncommand = 'x'\nreport = '/r.xml'", "expected a path below the project"),
        ("[test]\ncommand = 'x'\nreport = '../r.xml'", "expected a path below the project"),
        ("[test]\ncommand = 'x'\nreport = ['r.xml']", "test.report is a list; expected a text"),
        (f"{ROW}report = 'r.xml'", "has a report and no command"),
        (f"{ROW}command = 'x'\nreport = '../r.xml'", 'report is the text "../r.xml"; expected a path below the project'),
        (f"{ROW}command = 'x'\nreport = 1", "report is 1; expected a text"),
    ],
)  # fmt: skip
def test_a_report_that_cannot_be_meant_is_refused(text: str, says: str) -> None:
    with pytest.raises(DetentError) as refused:
        load({"detent.toml": text}.get, {})
    assert says in str(refused.value)


@pytest.mark.slow
@pytest.mark.needs("runners_js")
def test_a_red_and_a_green_step_with_a_runner_that_nobody_knows(tmp_path: Path) -> None:
    command = "bash node_modules/bats/bin/bats --report-formatter junit -o . test"
    config = f"[test]\ncommand = '{command}'\nreport = 'report.xml'\n"
    start = {"calc.sh": "zero() { echo 0; }\n", "test/start.bats": '@test "start" { true; }\n'}
    project = Project(tmp_path / "p", {PLAN: START[PLAN], "detent.toml": config, ".gitignore": "node_modules\nreport.xml\n", **start})
    (project.root / "node_modules").symlink_to(PACKAGES)
    project.planned()
    project.write({"test/add.bats": 'setup() { . ./calc.sh; }\n@test "adds" { skip; }\n'})
    assert project.submit(test_command=command, expectation="FAIL")["status"] == "FAILURE"
    project.write({"test/add.bats": 'setup() { . ./calc.sh; }\n@test "adds" { [ "$(add 1 2)" = 3 ]; }\n'})
    verdict = project.submit(test_command=command, expectation="FAIL")
    assert verdict["status"] == "NEEDS_ANALYSIS", verdict
    assert project.submit(analysis_decision="SUCCESS")["status"] == "SUCCESS"
    project.write({"calc.sh": "add() { echo 0; }\n"})
    verdict = project.submit(test_command=command, expectation="PASS")
    assert verdict["status"] == "FAILURE" and "test/add.bats::adds still fails" in verdict["reasons"][0]
    project.write({"calc.sh": 'add() { echo "$(($1 + $2))"; }\n'})
    verdict = project.submit(test_command=command, expectation="PASS")
    assert verdict["status"] == "SUCCESS", verdict
    assert project.git("status", "--porcelain") == ""


def test_a_title_alone_stands_in_the_file_that_says_it(tmp_path: Path) -> None:
    texts = {
        "test/a.js": "test('wraps words', t => {})\n",
        "test/b.js": 'test("wraps lines", t => {})\n',
        "index.js": "",
        "index.test-d.ts": "",
    }
    for path, text in texts.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    files = TestFilesOf(texts, str(tmp_path))
    assert files.saying("wraps lines") == FoundFile("test/b.js", ("wraps lines",))
    assert files.saying("wraps") is None and files.saying("") is None
    only = TestFilesOf([path for path in texts if path != "test/b.js"], str(tmp_path))
    assert only.saying("for each of 3 rows") == FoundFile("test/a.js", ("for each of 3 rows",))


POINTS = """const calc = require('../calc.js');
let count = 0;
const ok = (says, fine) => {
  console.log(`${fine ? 'ok' : 'not ok'} ${++count} ${says}`);
  if (!fine) process.exitCode = 1;
};
console.log('TAP version 13\\n# ' + 'adds');
ok('should be equal', calc.add(1, 2) === 3);
"""
HALVES = "console.log('# ' + 'halves');\nconst half = calc.half(4);\nok('should come back', true);\nok('should be half', half === 2);\n"


@pytest.mark.slow
@pytest.mark.needs("node")
@pytest.mark.parametrize(("last", "is_vacuous"), [("=== 2", False), ("!== 'x'", True)])
def test_the_points_of_one_test_of_tape_answer_for_each_other(tmp_path: Path, last: str, is_vacuous: bool) -> None:
    end = "console.log(`1..${count}`);\n"
    settings = '[test]\ncommand = "node test/calc.test.js > r.tap"\nreport = "r.tap"\n'
    code = "exports.add = (a, b) => {\n  return a + b;\n};\n"
    p = Branch(tmp_path / "p", {"detent.toml": settings, "calc.js": code, "test/calc.test.js": POINTS + end})
    p.env["DETENT_EVIDENCE_MUTATION"] = "warn"
    half = "\nexports.half = (n) => {\n  const by = 2;\n  return n / by;\n};\n"
    p.commit({"calc.js": code + half, "test/calc.test.js": POINTS + HALVES.replace("=== 2", last) + end})
    found = p.run("check", "--json").json
    assert ("vacuous-test" in {flag["kind"] for flag in found["flags"]}) is is_vacuous, found
