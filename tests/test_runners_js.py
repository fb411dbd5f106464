"""A JavaScript project from end to end: the `pr` workflow over the real command line, real git and real node."""

from pathlib import Path
from typing import Any

import pytest

from detent.evidence.running.project_site import link_node_modules
from tests.project import PLAN, START, Project
from tests.repos import sh, write

pytestmark = pytest.mark.needs("node")

TEST = "import test from 'node:test';\nimport assert from 'node:assert';\n"
FILES = {
    PLAN: START[PLAN],
    "package.json": '{"name": "calc", "type": "module", "scripts": {"test": "node --test"}}\n',
    "src/calc.js": "export const zero = 0;\n",
    "test/start.test.js": f"{TEST}import {{ zero }} from '../src/calc.js';\ntest('start', () => {{ assert.equal(zero, 0); }});\n",
    ".gitignore": "node_modules/\n",
}
RED = f"{TEST}import {{ add }} from '../src/calc.js';\n\ntest('adds', () => {{ assert.equal(add(1, 2), 3); }});\n"
GREEN = "export const zero = 0;\nexport const add = (a, b) => a + b;\n"
ONE = "node --test test/add.test.js"


def red(project: Project, test: str = RED) -> dict[str, Any]:
    project.write({"test/add.test.js": test})
    return project.submit(test_command=ONE, expectation="FAIL")


def green(project: Project, files: dict[str, str]) -> dict[str, Any]:
    project.write(files)
    return project.submit(test_command=ONE, expectation="PASS")


def reddened(folder: Path, *types: str, files: dict[str, str] | None = None) -> Project:
    """At the GREEN step, its RED proved."""
    project = Project(folder, files or FILES).planned(*types)
    verdict = red(project)
    assert verdict["status"] == "NEEDS_ANALYSIS", verdict
    assert "does not provide an export named 'add'" in verdict["output"]
    assert project.submit(analysis_decision="SUCCESS")["status"] == "SUCCESS"
    return project


@pytest.mark.slow
def test_a_cycle_of_red_green_and_refactor_in_javascript(tmp_path: Path) -> None:
    project = reddened(tmp_path / "p", "RED", "GREEN", "REFACTOR")
    verdict = green(project, {"src/calc.js": "export const add = (a, b) => a - b;\nexport const zero = 0;\n"})
    assert (verdict["status"], verdict["state"]) == ("FAILURE", "DEBUGGING")
    assert "test/add.test.js::adds still fails" in verdict["reasons"][0]
    assert green(project, {"src/calc.js": GREEN})["status"] == "SUCCESS"
    project.write({"src/calc.js": f"// Sums.\n{GREEN}", "test/add.test.js": RED.replace("(1, 2), 3", "(2, 1), 3")})
    verdict = project.submit(test_command="npm test", expectation="PASS")
    assert verdict["status"] == "SUCCESS", verdict
    assert project.task()["state"] == "CODE_REVIEW"
    assert project.git("status", "--porcelain") == ""


UNFIT = (
    (f"{TEST}test('passes', () => {{}});\n", "passes already"),
    (f"{TEST}test.todo('later');\n", "no test fails"),
    (f"{TEST}const x = (;\n", "the test file does not parse"),
    ("process.exit(0);\n", "no test fails"),
    ("console.log('not ok 1 - forged');\n", "no test fails"),
)


@pytest.mark.slow
def test_a_red_step_fails_that_does_not_show_what_is_missing(tmp_path: Path) -> None:
    project = Project(tmp_path / "p", FILES).planned()
    for test, reason in UNFIT:
        verdict = red(project, test)
        assert verdict["status"] == "FAILURE", test
        assert any(reason in said for said in verdict["reasons"]), (test, verdict["reasons"])
    assert red(project)["status"] == "NEEDS_ANALYSIS"


LOADING = {
    **FILES,
    "package.json": FILES["package.json"].replace("node --test", "node --import ./lib/setup.js --test"),
    "lib/setup.js": "globalThis.ready = true;\n",
}
CHEATS = {
    "exits at import": ({"src/calc.js": "export const zero = 0, add = 0;\nprocess.exit(0);\n"}, "no test was collected"),
    "exits in the code": ({"src/calc.js": "export const zero = 0;\nexport const add = () => process.exit(0);\n"}, "gone; tests must not be removed"),
    "deletes the test": ({"test/add.test.js": "", "src/calc.js": GREEN}, "test/add.test.js was modified"),
    "skips the test": ({"test/add.test.js": RED.replace("test('a", "test.skip('a")}, "test/add.test.js was modified"),
    "changes the script": ({"package.json": LOADING["package.json"].replace("--test", "--version"), "src/calc.js": GREEN}, "package.json changed"),
    "changes what the command loads": ({"lib/setup.js": "globalThis.ready = false;\n", "src/calc.js": GREEN}, "lib/setup.js changed"),
    "sets options for node": ({".npmrc": "node-options=--import=./x.mjs\n", "src/calc.js": GREEN}, ".npmrc changed"),
}  # fmt: skip


@pytest.mark.slow
def test_a_green_step_fails_that_does_not_pass_honestly(tmp_path: Path) -> None:
    project = reddened(tmp_path / "p", files=LOADING)
    for name, (files, reason) in CHEATS.items():
        verdict = green(project, files)
        assert verdict["status"] == "FAILURE", name
        assert any(reason in said for said in verdict["reasons"]), (name, verdict["reasons"])
        project.write({**LOADING, "test/add.test.js": RED})
        (project.root / ".npmrc").unlink(missing_ok=True)
    free = LOADING["package.json"].replace('"type"', '"description": "sums", "type"')  # a part that does not concern the tests
    assert green(project, {"package.json": free, "src/calc.js": GREEN})["status"] == "SUCCESS"


@pytest.mark.slow
def test_a_step_that_is_satisfied_already_is_closed_only_if_its_test_can_fail(tmp_path: Path) -> None:
    project = Project(tmp_path / "p", {**FILES, "src/calc.js": GREEN}).planned()
    assert "passes already" in red(project)["reasons"][0]
    weak = f"{TEST}import {{ add }} from '../src/calc.js';\ntest('adds', () => {{ assert.ok(add); }});\n"
    project.write({"test/add.test.js": weak})
    verdict = project.submit(test_command=ONE, expectation="FAIL", reply="ALREADY_SATISFIED")
    assert (
        verdict["status"] == "FAILURE"
        and "no small change to the code that the entry is about makes the test fail" in verdict["reasons"][0]
    )
    project.write({"test/add.test.js": RED})
    assert project.submit(test_command=ONE, expectation="FAIL", reply="ALREADY_SATISFIED")["status"] == "SUCCESS"


@pytest.mark.slow
def test_a_refactoring_that_weakens_a_test_fails(tmp_path: Path) -> None:
    project = reddened(tmp_path / "p", "RED", "GREEN", "REFACTOR")
    assert green(project, {"src/calc.js": GREEN})["status"] == "SUCCESS"
    project.write({"test/add.test.js": f"{TEST}test('adds', () => {{ assert.ok(true); }});\n"})
    verdict = project.submit(test_command="node --test", expectation="PASS")
    assert verdict["status"] == "FAILURE" and "is weakened" in verdict["reasons"][0]


@pytest.mark.slow
def test_installed_packages_are_there_in_clean_checkouts(tmp_path: Path) -> None:
    project = Project(tmp_path / "p", {**FILES, "src/calc.js": "export { zero } from 'zero';\n"})
    project.write(
        {"node_modules/zero/package.json": '{"type": "module", "exports": "./i.js"}', "node_modules/zero/i.js": "export const zero = 0;\n"}
    )
    project.planned()
    assert red(project)["status"] == "NEEDS_ANALYSIS"  # the tests before it ran in a clean checkout, and passed
    assert not (project.root / "node_modules" / "zero").is_symlink()


def test_a_checkout_has_the_projects_packages_but_its_own_workspaces(tmp_path: Path) -> None:
    root, checkout = tmp_path / "root", tmp_path / "checkout"
    for folder in (root, checkout):
        own = {"packages/own/package.json": "{}", "packages/own/index.js": f"module.exports = '{folder.name}';\n"}
        write(folder, {"package.json": "{}", **own, "a.js": "console.log(require('own'), require('@scope/far'), require('near'))\n"})
    for name in ("near", "@scope/far"):
        write(root, {f"node_modules/{name}/package.json": "{}", f"node_modules/{name}/index.js": f"module.exports = '{name}';\n"})
    (root / "node_modules" / "own").symlink_to("../packages/own")
    link_node_modules(root, checkout)
    link_node_modules(root, checkout)
    assert sh(checkout, "node", "a.js") == "checkout @scope/far near"
    assert sh(root, "node", "a.js") == "root @scope/far near"


def test_a_script_of_another_runner_is_read_by_its_exit_code(tmp_path: Path) -> None:
    check = "import { add } from './src/calc.js';\nif (add(1, 2) !== 3) process.exit(1);\n"
    script = FILES["package.json"].replace("node --test", "node check.js")
    project = Project(tmp_path / "p", {**FILES, "package.json": script, "check.js": ""}).planned()
    project.write({"check.js": check})
    assert "use `npm test` (only its exit code is read)" in project.submit(test_command="false", expectation="FAIL")["reasons"][0]
    verdict = project.submit(test_command="npm test", expectation="FAIL")
    assert verdict["status"] == "NEEDS_ANALYSIS"
    assert "no adapter reads the tests of `npm test`: only its exit code counts" in verdict["output"]
