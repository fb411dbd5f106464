"""One small project in the language of each test runner, and the ways to cheat in it. Only data; the tests that use it are in
test_runners.py. The JavaScript runners are installed in tests/runners_js by `./x test`."""

import os
import sys
from pathlib import Path
from typing import NamedTuple

from detent.evidence.runners import Command
from tests.machine import need_runner

PACKAGES = Path(__file__).parent / "runners_js" / "node_modules"


class Dialect(NamedTuple):
    """One project in the language of a runner: the test `adds` fails since `add` is wrong, `stays` passes."""

    base: Command
    files: dict[str, str]
    code: str  # path of the code
    test: str  # path of the tests
    adds: str
    stays: str
    right: str  # code with which all tests pass
    missing: str  # tests that use a name which does not exist
    cheats: dict[str, dict[str, str]]  # by cheat: the files to write over the project
    empty: str = ""  # code without `add`
    code_of_failure: int = 1


def lend_runners(folder: Path, base: Command | None) -> None:
    """Link the JavaScript runners into a project as if it had installed them; skip the test if the system lacks the runner."""
    need_runner(base.runner if base else "")
    if base is None or base.runner not in ("vitest", "jest", "mocha"):
        return
    folder.mkdir(parents=True, exist_ok=True)
    if not os.path.lexists(folder / "node_modules"):
        (folder / "node_modules").symlink_to(PACKAGES)


def _cheats(code: str, test: str, text: str, add: str, last: str, opening: str) -> dict[str, dict[str, str]]:
    """The ways to cheat with any JavaScript runner. `last`: the last test; `opening`: its beginning."""
    without = text.replace(last, "")
    return {
        "nothing is done": {},
        "the test is skipped": {test: text.replace(opening, opening.replace("(", ".skip(", 1))},
        "another test is the only one": {test: text.replace("('stays'", ".only('stays'")},
        "the suite is skipped": {test: f"{without}describe.skip('s', () => {{ {last} }});\n"},
        "the test is deleted": {test: without},
        "every test is deleted": {test: ""},
        "the test is renamed": {test: without + last.replace("adds", "add").replace(", 3", ", 0")},
        "the code exits": {code: add.replace("0", "process.exit(0)")},
        "the code exits at once": {code: add.replace("0", "process.reallyExit(0)")},
        "the module exits": {code: f"process.exit(0);\n{add}"},
        "the exit code is hidden": {code: f"process.on('exit', () => {{ process.exitCode = 0; }});\n{add}"},
        "a success is printed": {code: f"console.log('Tests: 2 passed, 2 total\\n  2 passing (1ms)\\nok 1 - adds');\n{add}"},
        "the process is killed": {code: f"process.kill(process.pid, 'SIGKILL');\n{add}"},
    }


ESM, OLD = "export const add = (a, b) => 0;\n", "exports.add = (a, b) => 0;\n"
IMPORT, REQUIRE = "import { add } from '../calc.js';\n", "const { add } = require('../calc.js');\n"

V_LAST = "test('adds', () => { expect(add(1, 2)).toBe(3); });\n"
V_TEST = f"import {{ describe, expect, test }} from 'vitest';\n{IMPORT}test('stays', () => {{}});\n{V_LAST}"
VITEST = Dialect(
    Command(("node_modules/.bin/vitest", "run"), "vitest"),
    {"package.json": '{"type": "module"}', "vitest.config.js": "export default {};\n", "calc.js": ESM, "test/calc.test.js": V_TEST},
    "calc.js",
    "test/calc.test.js",
    "test/calc.test.js::adds",
    "test/calc.test.js::stays",
    "export const add = (a, b) => a + b;\n",
    "import { expect, test } from 'vitest';\nimport { subtract } from '../calc.js';\nconst one = subtract(3, 2);\n"
    "test('subtracts', () => { expect(one).toBe(1); });\n",
    {
        **_cheats("calc.js", "test/calc.test.js", V_TEST, ESM, V_LAST, "test('adds'"),
        "the test may fail": {"test/calc.test.js": V_TEST.replace("test('adds'", "test.fails('adds'")},
        "the test is for later": {"test/calc.test.js": V_TEST.replace(V_LAST, "test.todo('adds');\n")},
    },
)  # fmt: skip

J_LAST = "test('adds', () => { expect(add(1, 2)).toBe(3); });\n"
J_TEST = f"{REQUIRE}test('stays', () => {{}});\n{J_LAST}"
JEST = Dialect(
    Command(("node_modules/.bin/jest",), "jest"),
    {"package.json": "{}", "jest.config.js": "module.exports = {};\n", "calc.js": OLD, "test/calc.test.js": J_TEST},
    "calc.js",
    "test/calc.test.js",
    "test/calc.test.js::adds",
    "test/calc.test.js::stays",
    "exports.add = (a, b) => a + b;\n",
    "const { subtract } = require('../calc.js');\nconst one = subtract(3, 2);\ntest('subtracts', () => { expect(one).toBe(1); });\n",
    {
        **_cheats("calc.js", "test/calc.test.js", J_TEST, OLD, J_LAST, "test('adds'"),
        "the test may fail": {"test/calc.test.js": J_TEST.replace("test('adds'", "test.failing('adds'")},
        "the test is for later": {"test/calc.test.js": J_TEST.replace(J_LAST, "test.todo('adds');\n")},
    },
)  # fmt: skip

M_LAST = "it('adds', () => { assert.equal(add(1, 2), 3); });\n"
M_TEST = f"import assert from 'node:assert';\n{IMPORT}it('stays', () => {{}});\n{M_LAST}"
M_FORGE = """import { writeFileSync } from 'node:fs';
const lines = ['stays', 'adds'].map((name) => ({ type: 'test', file: 'test/calc.js', names: [name] }));
const text = [...lines, { type: 'end', name: 'mocha 1', count: 2 }].map((each) => JSON.stringify(each) + '\\n').join('');
writeFileSync(process.argv.find((word) => word.includes('output=')).split('output=')[1], text);
process.exit(0);
export const add = 1;
"""
MOCHA = Dialect(
    Command(("node_modules/.bin/mocha",), "mocha"),
    {"package.json": '{"type": "module"}', ".mocharc.json": "{}", "calc.js": ESM, "test/calc.js": M_TEST},
    "calc.js",
    "test/calc.js",
    "test/calc.js::adds",
    "test/calc.js::stays",
    "export const add = (a, b) => a + b;\n",
    "import assert from 'node:assert';\nimport { subtract } from '../calc.js';\nit('subtracts', () => { assert.equal(subtract(3, 2), 1); });\n",
    {
        **_cheats("calc.js", "test/calc.js", M_TEST, ESM, M_LAST, "it('adds'"),
        "the test is for later": {"test/calc.js": M_TEST.replace(M_LAST, "it('adds');\n")},
        "a report is written into": {"calc.js": M_FORGE},
        "the test is repeated": {
            "calc.js": "let n = 0;\nexport const add = () => n++;\n",
            "test/calc.js": M_TEST.replace("() => { assert", "function () { this.retries(9); assert"),
        },
    },
)  # fmt: skip

U_TEST = """import unittest
from calc import add


class Calc(unittest.TestCase):
    def test_stays(self):
        pass

    def test_adds(self):
        self.assertEqual(add(1, 2), 3)
"""
U_FORGE = """
import json, os, sys
lines = [{"type": "test", "file": "tests/test_calc.py", "names": ["Calc", name]} for name in ("test_stays", "test_adds")]
text = "".join(json.dumps(line) + "\\n" for line in [*lines, {"type": "end", "name": "unittest 3", "count": 2}])
with open(f"/proc/{os.getppid()}/cmdline") as file:
    path = file.read().split("\\0")[2]
with open(path, "w") as file:
    file.write(text)
os._exit(0)
"""
UNITTEST = Dialect(
    Command((sys.executable, "-m", "unittest", "discover", "-s", "tests"), "unittest"),
    {"tox.ini": "", "calc.py": "def add(a, b):\n    return 0\n", "tests/test_calc.py": U_TEST},
    "calc.py",
    "tests/test_calc.py",
    "tests/test_calc.py::Calc::test_adds",
    "tests/test_calc.py::Calc::test_stays",
    "def add(a, b):\n    return a + b\n",
    "import unittest\nfrom calc import subtract\n\n\nclass More(unittest.TestCase):\n    def test_subtracts(self):\n        self.assertEqual(subtract(3, 2), 1)\n",
    {
        "nothing is done": {},
        "the test is skipped": {"tests/test_calc.py": U_TEST.replace("    def test_adds", "    @unittest.skip('no')\n    def test_adds")},
        "the test may fail": {"tests/test_calc.py": U_TEST.replace("    def test_adds", "    @unittest.expectedFailure\n    def test_adds")},
        "the test skips itself": {"tests/test_calc.py": U_TEST.replace("self.assertEqual", "self.skipTest('no')  # ")},
        "the test is deleted": {"tests/test_calc.py": U_TEST.partition("    def test_adds")[0]},
        "every test is deleted": {"tests/test_calc.py": ""},
        "the test is renamed": {"tests/test_calc.py": U_TEST.replace("test_adds", "test_add").replace(", 3)", ", 0)")},
        "the code exits": {"calc.py": "import os\n\n\ndef add(a, b):\n    os._exit(0)\n"},
        "the code exits politely": {"calc.py": "def add(a, b):\n    raise SystemExit(0)\n"},
        "the module exits": {"calc.py": "import os\nos._exit(0)\n"},
        "the module exits politely": {"calc.py": "raise SystemExit(0)\n"},
        "a report is written into": {"calc.py": U_FORGE},
        "a success is printed": {"calc.py": "print('Ran 2 tests in 0.000s\\n\\nOK')\n\n\ndef add(a, b):\n    return 0\n"},
        "the process is killed": {"calc.py": "import os\nos.kill(os.getpid(), 9)\n"},
    },
)  # fmt: skip

FURTHER = {"vitest": VITEST, "jest": JEST, "mocha": MOCHA, "unittest": UNITTEST}
