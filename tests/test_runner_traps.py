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
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from detent.errors import CannotTell
from detent.evidence.look import Outcome, TestReport
from detent.evidence.runners import RUNNERS, Command
from detent.evidence.suite import Suite, environment, run_suite
from tests.dialects import lend_runners
from tests.native_dialects import BUILD, HEAVIEST, MAVEN_FILES
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
        NOTHING: Trap({"code.py": f"{SAYS}\n"}, {}),
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
        NOTHING: Trap({"code.py": f"{SAYS}\n"}, {}),
        EXITS: Trap({PY: f"{UT}    def test_exits(self):\n        {SAYS}\n        os._exit(0)\n"}, NO_PASS),
        EXITS_AT_ONCE: Trap({PY: f"import os\n{SAYS}\nos._exit(0)\n"}, NO_PASS),
    }),
    "maven": Row(Command(("mvn", "test"), "maven"), MAVEN_FILES, java()),
    "gradle": Row(Command(("gradle", "test"), "gradle"), {"build.gradle": BUILD}, java()),
}  # fmt: skip
HEAVY = ("vitest", "jest")  # slow to start: the traps that their own tests try as well are long tests
LONG = (EXITS, EXITS_AT_ONCE)


def run(folder: Path, row: Row, trap: Trap) -> TestReport:
    write(folder, {**STALE, **row.files, **trap.files})
    lend_runners(folder, row.base)
    suite = Suite(row.base, 240, os.environ["PATH"], ("PYTEST_DISABLE_PLUGIN_AUTOLOAD",))
    outer = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return run_suite(suite, (), folder, folder, environment(suite, outer, folder.parent.parent / "pycache"), lambda: True)


def test_every_row_is_a_runner_and_has_every_trap() -> None:
    assert ROWS.keys() <= RUNNERS.keys()
    assert {name: tuple(row.traps) for name, row in ROWS.items()} == dict.fromkeys(ROWS, TRAPS)
    assert {name: row.base.runner for name, row in ROWS.items()} == {name: name for name in ROWS}


CELLS = [
    pytest.param(name, trap, id=f"{name}: {trap}", marks=[pytest.mark.slow] if (name in HEAVY and trap in LONG) or name in HEAVIEST else [])
    for name in ROWS
    for trap in TRAPS
]


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
