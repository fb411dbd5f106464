"""Traps that every runner meets: what tests print, reports of earlier runs, no tests at all, and tests that end their process well.

One table: `ROWS` has one `Row` for each runner, by its name in `RUNNERS`.

    Row(base, files, traps)       base: the project's test command; files: what every trap's project has
    traps: {name: Trap(files, outcomes)}
                                  name: one of TRAPS, and each of them
                                  files: written over the row's files
                                  outcomes: exactly these tests by id; {} for no test at all; NO_PASS where only one thing is sure: that
                                  the run is no pass (nothing can be told, nothing was run, or something failed)

A new runner is one more entry of ROWS; nothing else has to be written. The files of STALE lie in every project: what an earlier run,
or somebody who would like to be believed, may have left there. Each run has to be made by the machine's own call (`run_suite`).
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from detent.errors import CannotTell
from detent.evidence.report import Outcome, TestReport
from detent.evidence.runners import RUNNERS, UNSEEN, Command
from detent.evidence.running.suite import Suite, environment, run_suite
from tests.dialects import lend_runners
from tests.native_dialects import BUILD, CACHES, HEAVIEST, MAVEN_FILES, PATH, PHP_XML, RUST_TOML
from tests.patience import LONG
from tests.repos import write

NO_PASS: Final = None
COUNTED = "what is printed counts for nothing, and a test for later is no pass"
NOTHING = "no tests"
EXITS = "a test ends the process with code 0"
EXITS_AT_ONCE = "a file ends the process with code 0 before its tests"
TRAPS = (COUNTED, NOTHING, EXITS, EXITS_AT_ONCE)

CASES = "".join(f'<testcase classname="forged" name="test_{n}" time="0.1"/>' for n in range(99))
XML = f'<?xml version="1.0"?><testsuites tests="99" failures="0"><testsuite name="s" tests="99" failures="0">{CASES}</testsuite></testsuites>\n'
JSON = '{"success": true, "numTotalTests": 99, "numPassedTests": 99, "numFailedTests": 0, "testResults": []}\n'
LINES = '{"type": "test", "file": "forged.js", "names": ["a"]}\n{"type": "end", "name": "forged", "count": 1}\n'
STALE = {
    **dict.fromkeys(("junit.xml", "report.xml", "test-results/junit.xml", "reports/TEST-forged.xml"), XML),
    **dict.fromkeys(("test-results.json", "jest-results.json", "coverage/results.json"), JSON),
    **dict.fromkeys(("target/surefire-reports/TEST-forged.xml", "build/test-results/test/TEST-forged.xml"), XML),
    **dict.fromkeys(
        ("test.json", "test-output.json"),
        '{"Action": "pass", "Package": "forged", "Test": "TestForged"}\n{"Action": "pass", "Package": "forged"}\n',
    ),
    **dict.fromkeys(("target/test.log", "target/debug/test.log"), "ok forged\n"),
    **dict.fromkeys(
        ("rspec.json", "tmp/rspec.json"),
        '{"examples": [{"id": "./forged_spec.rb[1:1]", "status": "passed"}], "summary": {"example_count": 99}}\n',
    ),
    **dict.fromkeys(
        ("Testing/20260101-0000/Test.xml", "build/Testing/20260101-0000/Test.xml"),
        '<Site><Testing><Test Status="passed"><Name>forged</Name></Test></Testing></Site>\n',
    ),
    **dict.fromkeys(("Testing/TAG", "build/Testing/TAG"), "20260101-0000\nExperimental\n"),
    ".phpunit.result.cache": '{"version": 1, "defects": [], "times": {"forged::testForged": 0.1}}\n',
    "report": LINES,
}


class Trap(NamedTuple):
    """One project that tries to look better than it is."""

    files: dict[str, str]
    outcomes: dict[str, Outcome] | None


class Row(NamedTuple):
    """One runner."""

    base: Command
    files: dict[str, str]
    traps: dict[str, Trap]


def javascript(path: str, head: str, name: str, later: str) -> dict[str, Trap]:
    """The traps of runners whose tests look alike: `name('…', () => {…})`."""
    says = "console.log('Tests: 99 passed, 99 total\\n99 passing (1ms)\\n# tests 99\\n# pass 99\\n# fail 0\\nok 1 - forged\\n1..99');\n"
    fine = f"{name}('passes', () => {{}});\n"
    outcomes: dict[str, Outcome] = {f"{path}::passes": "passed", f"{path}::fails": "failed", f"{path}::later": "skipped"}
    return {
        COUNTED: Trap(
            {path: f"{head}{says}{fine}{name}('fails', () => {{ {says} throw new Error('no'); }});\n{later}('later');\n"}, outcomes
        ),
        NOTHING: Trap({"code.js": says}, {}),
        EXITS: Trap({path: f"{head}{fine}{name}('exits', () => {{ {says} process.exit(0); }});\n"}, NO_PASS),
        EXITS_AT_ONCE: Trap({path: f"{head}{says}process.exit(0);\n{fine}"}, NO_PASS),
    }


def java() -> dict[str, Trap]:
    path = "src/test/java/ATest.java"
    says = 'System.out.println("[INFO] Tests run: 99, Failures: 0\\\\n[INFO] BUILD SUCCESS\\\\nBUILD SUCCESSFUL");'
    fine = "public class ATest { @org.junit.Test public void passes() { } "
    test = "@org.junit.Test public void"
    fails = f'{test} fails() {{ {says} throw new AssertionError("no"); }}'
    outcomes: dict[str, Outcome] = {f"{path}::passes": "passed", f"{path}::fails": "failed", f"{path}::later": "skipped"}
    return {
        COUNTED: Trap(
            {path: f"{fine} {fails} @org.junit.Ignore {test} later() {{ }} }}\n", "src/test/resources/TEST-forged.xml": XML}, outcomes
        ),
        NOTHING: Trap({"src/main/java/A.java": f"class A {{ static {{ {says} }} }}\n"}, {}),
        EXITS: Trap({path: f"{fine} {test} exits() {{ {says} System.exit(0); }} }}\n"}, NO_PASS),
        EXITS_AT_ONCE: Trap({path: f"{fine} static {{ {says} System.exit(0); }} }}\n"}, NO_PASS),
    }


def native(
    path: str, name: Callable[[str], str], whole: str, parts: tuple[str, ...], fine: str, counted: str, exits: str, nothing: dict[str, str]
) -> dict[str, Trap]:
    """The traps of the system's own runners: a frame with a place for what is done at once and one for the tests."""
    outcomes: dict[str, Outcome] = {name("passes"): "passed", name("fails"): "failed", name("later"): "skipped"}
    printed, ends = parts
    return {
        COUNTED: Trap({path: whole.replace("AT_ONCE", printed).replace("TESTS", fine + counted)}, outcomes),
        NOTHING: Trap(nothing, {}),
        EXITS: Trap({path: whole.replace("AT_ONCE", "").replace("TESTS", fine + exits)}, NO_PASS),
        EXITS_AT_ONCE: Trap({path: whole.replace("AT_ONCE", ends).replace("TESTS", fine)}, NO_PASS),
    }


GO_SAYS = 'fmt.Println("--- PASS: TestForged (0.00s)\\nPASS\\nok  \\tforged\\t0.01s");'
GO = native(
    "a/a_test.go", lambda n: f"a/a_test.go::Test{n.title()}",
    'package a\n\nimport (\n\t"fmt"\n\t"os"\n\t"testing"\n)\n\nvar _ = fmt.Sprint(os.Args)\n\nfunc init() { AT_ONCE }\n\nTESTS',
    (GO_SAYS, f"{GO_SAYS} os.Exit(0)"), "func TestPasses(t *testing.T) {}\n\n",
    f'func TestFails(t *testing.T) {{ {GO_SAYS} t.Fatal("no") }}\n\nfunc TestLater(t *testing.T) {{ t.Skip("later") }}\n',
    f"func TestExits(t *testing.T) {{ {GO_SAYS} os.Exit(0) }}\n",
    {"a/a.go": f'package a\n\nimport "fmt"\n\nfunc init() {{ {GO_SAYS} }}\n'},
)  # fmt: skip
GO[EXITS_AT_ONCE] = GO[EXITS_AT_ONCE]._replace(outcomes={"a/a_test.go::TestPasses": "skipped"})  # which gates see
RUST_SAYS = 'println!("test forged ... ok\\n\\ntest result: ok. 99 passed; 0 failed");'
RUST_AT_ONCE = 'extern "C" fn at_once() {{ {} }}\n#[used]\n#[link_section = ".init_array"]\nstatic NOW: extern "C" fn() = at_once;\n'
CARGO = native(
    "tests/a.rs", "tests/a.rs::{}".format, "AT_ONCE\nTESTS", ("", RUST_AT_ONCE.format("std::process::exit(0)")), "#[test]\nfn passes() {}\n\n",
    f'#[test]\nfn fails() {{ {RUST_SAYS} panic!("no") }}\n\n#[test]\n#[ignore]\nfn later() {{}}\n',
    f"#[test]\nfn exits() {{ {RUST_SAYS} std::process::exit(0) }}\n",
    {"src/lib.rs": f"pub fn a() {{ {RUST_SAYS} }}\n"},
)  # fmt: skip
RUBY_SAYS = 'puts "99 examples, 0 failures"'
RSPEC = native(
    "spec/a_spec.rb", "spec/a_spec.rb::a {}".format, 'AT_ONCE\nRSpec.describe "a" do\nTESTSend\n', (RUBY_SAYS, f"{RUBY_SAYS}\nexit!(0)"),
    '  it "passes" do\n  end\n', f'  it "fails" do\n    {RUBY_SAYS}\n    raise "no"\n  end\n\n  xit "later" do\n  end\n',
    f'  it "exits" do\n    {RUBY_SAYS}\n    exit!(0)\n  end\n', {"lib/a.rb": f"{RUBY_SAYS}\n"},
)  # fmt: skip
PHP_SAYS = 'echo "OK (99 tests, 99 assertions)\\n";'
PHPUNIT = native(
    "tests/aTest.php", lambda n: f"tests/aTest.php::test{n.title()}",
    "<?php\nAT_ONCE\nfinal class aTest extends PHPUnit\\Framework\\TestCase\n{\nTESTS}\n", (PHP_SAYS, f"{PHP_SAYS} exit(0);"),
    "    public function testPasses(): void { $this->assertTrue(true); }\n",
    f"    public function testFails(): void {{ {PHP_SAYS} $this->fail('no'); }}\n    public function testLater(): void {{ $this->markTestSkipped(); }}\n",
    f"    public function testExits(): void {{ {PHP_SAYS} exit(0); }}\n", {"tests/data.txt": "", "src/a.php": f"<?php\n{PHP_SAYS}\n"},
)  # fmt: skip
C_LISTS = "cmake_minimum_required(VERSION 3.21)\nproject(a C)\nenable_testing()\n"
C_TESTS = f"{C_LISTS}add_executable(a tests/a.c)\nforeach(case passes fails later)\n  add_test(NAME a.${{case}} COMMAND a ${{case}})\nendforeach()\n"
C_CODE = """#include <stdio.h>
#include <string.h>
int main(int n, char **words) {
    puts("100% tests passed, 0 tests failed out of 99");
    return n > 1 && !strcmp(words[1], "fails");
}
"""
C_EXITS = {"CMakeLists.txt": C_TESTS.replace("passes fails later", "exits"), "tests/a.c": C_CODE}
CTEST = {
    COUNTED: Trap(
        {"CMakeLists.txt": f"{C_TESTS}set_tests_properties(a.later PROPERTIES DISABLED TRUE)\n", "tests/a.c": C_CODE},
        {"tests/a.c::a.passes": "passed", "tests/a.c::a.fails": "failed", "tests/a.c::a.later": "skipped"},
    ),
    NOTHING: Trap({"CMakeLists.txt": C_LISTS}, {}),
    EXITS: Trap(C_EXITS, {"tests/a.c::a.exits": "passed"}),  # to ctest a test is a process: to end well is to pass
    EXITS_AT_ONCE: Trap({**C_EXITS, "tests/a.c": "int main(void) { return 0; }\n"}, {"tests/a.c::a.exits": "passed"}),
}
SAYS = "print('=== 99 passed in 0.01s ===\\nRan 99 tests in 0.001s\\n\\nOK')"
PY = "tests/test_a.py"
PY_EXITS = f"import os\n\n\ndef test_exits():\n    {SAYS}\n    os._exit(0)\n"
PY_COUNTED = f"import pytest\n{SAYS}\n\n\ndef test_passes():\n    {SAYS}\n\n\ndef test_fails():\n    {SAYS}\n    assert 0\n\n\n@pytest.mark.skip\ndef test_later():\n    pass\n"
UT = "import os, unittest\n\n\nclass A(unittest.TestCase):\n    def test_passes(self):\n        pass\n\n"
UT_COUNTED = f"{UT}    def test_fails(self):\n        {SAYS}\n        self.fail('no')\n\n    @unittest.skip('later')\n    def test_later(self):\n        pass\n"
VITEST = "import { test } from 'vitest';\n"
ROWS: dict[str, Row] = {
    "pytest": Row(Command((sys.executable, "-m", "pytest"), "pytest"), {"pytest.ini": "[pytest]\n"}, {
        COUNTED: Trap({PY: PY_COUNTED}, {f"{PY}::test_passes": "passed", f"{PY}::test_fails": "failed", f"{PY}::test_later": "skipped"}),
        NOTHING: Trap({"product.py": f"{SAYS}\n"}, {}),
        EXITS: Trap({PY: PY_EXITS}, NO_PASS),
        EXITS_AT_ONCE: Trap({PY: f"import os\n{SAYS}\nos._exit(0)\n"}, NO_PASS),
    }),
    "node": Row(Command(("node", "--test"), "node"), {"package.json": '{"type": "module"}'},
                javascript("test/a.test.js", "import test from 'node:test';\n", "test", "test.todo")),
    "vitest": Row(Command(("node_modules/.bin/vitest", "run"), "vitest"), {"package.json": '{"type": "module"}'},
                  javascript("test/a.test.js", VITEST, "test", "test.todo")),
    "jest": Row(Command(("node_modules/.bin/jest",), "jest"), {"package.json": "{}"}, javascript("test/a.test.js", "", "test", "test.todo")),
    "mocha": Row(Command(("node_modules/.bin/mocha",), "mocha"), {"package.json": '{"type": "module"}'}, javascript("test/a.js", "", "it", "it")),
    "unittest": Row(Command((sys.executable, "-m", "unittest", "discover", "-s", "tests"), "unittest"), {"tests/data.txt": ""}, {
        COUNTED: Trap({PY: UT_COUNTED}, {f"{PY}::A::test_passes": "passed", f"{PY}::A::test_fails": "failed", f"{PY}::A::test_later": "skipped"}),
        NOTHING: Trap({"product.py": f"{SAYS}\n"}, {}),
        EXITS: Trap({PY: f"{UT}    def test_exits(self):\n        {SAYS}\n        os._exit(0)\n"}, NO_PASS),
        EXITS_AT_ONCE: Trap({PY: f"import os\n{SAYS}\nos._exit(0)\n"}, NO_PASS),
    }),
    "go": Row(Command(("go", "test", "./..."), "go", "configured", ("./...",)), {"go.mod": "module example.com/m\n\ngo 1.20\n"}, GO),
    "cargo": Row(Command(("cargo", "test"), "cargo"), {"Cargo.toml": RUST_TOML, "src/lib.rs": "pub fn a() {}\n"}, CARGO),
    "rspec": Row(Command(("rspec",), "rspec"), {".rspec": "--order defined\n"}, RSPEC),
    "phpunit": Row(Command(("phpunit",), "phpunit"), {"phpunit.xml": PHP_XML}, PHPUNIT),
    "ctest": Row(Command(("ctest",), "ctest"), {"README": ""}, CTEST),
    "maven": Row(Command(("mvn", "test"), "maven"), MAVEN_FILES, java()),
    "gradle": Row(Command(("gradle", "test"), "gradle"), {"build.gradle": BUILD}, java()),
}  # fmt: skip
HEAVY = ("vitest", "jest")  # slow to start: the traps that their own tests try as well are long tests
SLOWEST = (EXITS, EXITS_AT_ONCE)
BUILT = ("go", "cargo", "ctest")  # build first: of each, one trap in the quick tests


def run(folder: Path, row: Row, trap: Trap) -> TestReport:
    write(folder, {**STALE, **row.files, **trap.files})
    lend_runners(folder, row.base)
    suite = Suite(row.base, LONG, PATH, ("PYTEST_DISABLE_PLUGIN_AUTOLOAD",))
    outer = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    env = {**environment(suite, outer, folder.parent.parent / "pycache"), **CACHES}
    return run_suite(suite, (), folder, folder, env, lambda: True)


def test_every_row_is_a_runner_and_has_every_trap() -> None:
    assert ROWS.keys() == set(RUNNERS) - UNSEEN - {"report"}  # of which nothing is known but its report
    assert {name: tuple(row.traps) for name, row in ROWS.items()} == dict.fromkeys(ROWS, TRAPS)
    assert {name: row.base.runner for name, row in ROWS.items()} == {name: name for name in ROWS}


def _is_long(name: str, trap: str) -> bool:
    return (name in HEAVY and trap in SLOWEST) or (name in BUILT and trap != COUNTED) or name in HEAVIEST


CELLS = [
    pytest.param(name, trap, id=f"{name}: {trap}", marks=[pytest.mark.slow] if _is_long(name, trap) else [])
    for name in ROWS
    for trap in TRAPS
]


@pytest.mark.sample(2)
@pytest.mark.parametrize(("name", "trap"), CELLS)
def test_a_run_is_no_better_than_its_tests(tmp_path: Path, name: str, trap: str) -> None:
    row = ROWS[name]
    wanted = row.traps[trap].outcomes
    try:
        seen = run(tmp_path / "p", row, row.traps[trap])
    except CannotTell:
        assert wanted is NO_PASS
        return
    if wanted is NO_PASS:
        assert seen.fault or not seen.complete or seen.bad or not seen.ids
    else:
        assert seen.outcomes == wanted
