"""RED and GREEN of `pr` over the real command line, once with each runner that has an adapter of its own since vitest."""

from pathlib import Path
from typing import NamedTuple

import pytest

from detent.evidence.runners import Folder, find_command
from tests.dialects import PACKAGES
from tests.machine import need_runner
from tests.project import PLAN, START, Project

NEEDS_PACKAGES = ("vitest", "jest", "mocha")


class Tale(NamedTuple):
    """One small project, and the work on it."""

    files: dict[str, str]
    test: str  # where the new test goes
    red: str
    code: str  # where the code goes
    wrong: str
    right: str
    command: str
    new: str  # the id of the new test
    cheat: str  # the new test, weakened


V = "import { expect, test } from 'vitest';\n"
A = "import assert from 'node:assert';\n"
U = "import unittest\nfrom calc import add\n\n\nclass Add(unittest.TestCase):\n    def test_adds(self):\n        self.assertEqual(add(1, 2), 3)\n"
TALES = {
    "unittest": Tale(
        {"calc.py": "zero = 0\n", "tests/test_start.py": "import unittest\n\n\nclass Start(unittest.TestCase):\n    def test_start(self):\n        pass\n"},
        "tests/test_add.py", U, "calc.py", "def add(a, b):\n    return 0\n", "def add(a, b):\n    return a + b\n",
        "python3 -m unittest tests/test_add.py", "tests/test_add.py::Add::test_adds", U.replace("from calc import add\n", "").replace("self.assert", "self.skipTest('no')  # "),
    ),
    "vitest": Tale(
        {"package.json": '{"type": "module", "scripts": {"test": "vitest"}}', "calc.js": "export const zero = 0;\n",
         "test/start.test.js": f"{V}test('start', () => {{}});\n"},
        "test/add.test.js", f"{V}import {{ add }} from '../calc.js';\ntest('adds', () => {{ expect(add(1, 2)).toBe(3); }});\n",
        "calc.js", "export const add = () => 0;\n", "export const add = (a, b) => a + b;\n", "npx vitest run test/add.test.js", "test/add.test.js::adds",
        f"{V}test.only('adds', () => {{}});\n",
    ),
    "jest": Tale(
        {"package.json": '{"devDependencies": {"jest": "30"}}', "calc.js": "exports.zero = 0;\n", "test/start.test.js": "test('start', () => {});\n"},
        "test/add.test.js", "const { add } = require('../sum.js');\ntest('adds', () => { expect(add(1, 2)).toBe(3); });\n",
        "sum.js", "exports.add = () => 0;\n", "exports.add = (a, b) => a + b;\n", "npx jest test/add.test.js", "test/add.test.js::adds",
        "test.todo('adds');\n",
    ),
    "mocha": Tale(
        {"package.json": '{"type": "module", "scripts": {"test": "mocha"}}', "calc.js": "export const zero = 0;\n", "test/start.js": "it('start', () => {});\n"},
        "test/add.js", f"{A}import {{ add }} from '../calc.js';\nit('adds', () => {{ assert.equal(add(1, 2), 3); }});\n",
        "calc.js", "export const add = () => 0;\n", "export const add = (a, b) => a + b;\n", "npm test -- test/add.js", "test/add.js::adds",
        "it.only('adds', () => {});\n",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", [pytest.param(name, marks=[] if name == "unittest" else [pytest.mark.slow]) for name in TALES])
def test_a_red_and_a_green_step_with_each_runner(tmp_path: Path, name: str) -> None:
    tale = TALES[name]
    project = Project(tmp_path / "p", {PLAN: START[PLAN], ".gitignore": "__pycache__/\nnode_modules\n", **tale.files})
    need_runner(name)
    if name in NEEDS_PACKAGES:
        (project.root / "node_modules").symlink_to(PACKAGES)
    base = find_command(Folder(project.root))
    assert base is not None and base.runner == name
    project.planned()
    project.write({tale.test: tale.cheat})
    assert project.submit(test_command=tale.command, expectation="FAIL")["status"] == "FAILURE"
    project.write({tale.test: tale.red})
    verdict = project.submit(test_command=tale.command, expectation="FAIL")
    assert verdict["status"] == "NEEDS_ANALYSIS", verdict
    assert project.submit(analysis_decision="SUCCESS")["status"] == "SUCCESS"
    project.write({tale.code: tale.wrong})
    verdict = project.submit(test_command=tale.command, expectation="PASS")
    assert verdict["status"] == "FAILURE" and f"{tale.new} still fails" in verdict["reasons"][0]
    project.write({tale.code: tale.right})
    verdict = project.submit(test_command=tale.command, expectation="PASS")
    assert verdict["status"] == "SUCCESS", verdict
    assert project.git("status", "--porcelain") == "" and (project.root / tale.code).read_text() == tale.right
