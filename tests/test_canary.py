"""The canary: tests of the machine's own in each run. A runner that was tampered with does not give them back as they must be."""

import json
import os
import shutil
import sys
from collections.abc import Iterable
from fcntl import LOCK_EX, flock
from pathlib import Path
from typing import Any

import pytest

from detent.evidence.report import TestReport
from detent.evidence.runners import RUNNERS, Command, Folder
from detent.evidence.runners.python.pytest_canary import selects, wanted_by
from detent.evidence.running.canary import TAMPERED
from detent.evidence.running.suite import Suite, environment, run_suite
from detent.storage.state import write_sealed
from tests.cases import project
from tests.feature import FILES, GREEN, RED, Feature
from tests.patience import LONG
from tests.repos import write

PY = Command((sys.executable, "-m", "pytest"), "pytest")
NODE = Command(("node", "--test"), "node")
HONEST = {
    "pytest.ini": "[pytest]\npythonpath = .\n",
    "calc.py": "def add(a, b):\n    return 0\n",
    "tests/test_calc.py": "from calc import add\n\n\ndef test_stays():\n    pass\n\n\ndef test_adds():\n    assert add(1, 2) == 3\n",
}
JS_TEST = "import { test } from 'node:test';\nimport assert from 'node:assert';\nimport { add } from '../calc.js';\n"
JS_TEST += "test('stays', () => {});\ntest('adds', () => { assert.equal(add(1, 2), 3); });\n"
HONEST_JS = {"package.json": '{"type": "module"}', "calc.js": "export const add = (a, b) => 0;\n", "test/calc.test.js": JS_TEST}


def run(
    folder: Path, base: Command, files: dict[str, str], selectors: tuple[str, ...] = (), near: tuple[str, ...] = (), env: str = ""
) -> TestReport:
    """The tests of a project with the canary in the run; nothing of it is left there."""
    write(folder, files)
    before = sorted(folder.rglob("*"))
    also = ("PYTEST_DISABLE_PLUGIN_AUTOLOAD", *([env.partition("=")[0]] if env else ()))
    suite = Suite(base, LONG, os.environ["PATH"], also)
    outer = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **({env.partition("=")[0]: env.partition("=")[2]} if env else {})}
    canary = RUNNERS[base.runner].canary(base, selectors, Folder(folder), near)
    pycache = folder.parent / "pycache"
    report = run_suite(suite, selectors, folder, folder, environment(suite, outer, pycache), lambda: True, canary)
    assert sorted(folder.rglob("*")) == before
    if not isinstance(canary, str):
        words = [
            word
            for canary_file in canary.canary_files
            for word in (canary_file.word, canary_file.passes, canary_file.fails, canary_file.says)
        ]
        assert not [word for word in words if word in report.output or any(word in test for test in report.ids)]
    return report


# -- cheats --------------------------------------------------------------------------------------------------------------------

FORCE = "import pytest\n\n\n@pytest.hookimpl({how})\ndef pytest_runtest_makereport(item, call):\n    {body}\n"
WRAPPED = "rep = yield\n    rep.outcome = 'passed'\n    rep.longrepr = None\n    return rep"
OLD_STYLE = "out = yield\n    rep = out.get_result()\n    rep.outcome = 'passed'\n    rep.longrepr = None"
PLUGIN = FORCE.format(how="wrapper=True", body=WRAPPED)
PY_CHEATS: dict[str, dict[str, str]] = {
    "a hook forces every report green": {"conftest.py": PLUGIN},
    "a hook of the old form does": {"conftest.py": FORCE.format(how="hookwrapper=True", body=OLD_STYLE)},
    "a hook in the tests' own folder does": {"tests/conftest.py": PLUGIN},
    "a plugin of the configuration does": {"force.py": PLUGIN, "pytest.ini": "[pytest]\npythonpath = .\naddopts = -p force\n"},
    "the call is swallowed": {"conftest.py": "def pytest_runtest_call(item):\n    item.runtest = lambda: None\n"},
    "functions are not called": {"conftest.py": "def pytest_pyfunc_call(pyfuncitem):\n    return True\n"},
    "reports are made green": {
        "conftest.py": "import _pytest.reports as r\n\n\nold = r.TestReport.__init__\n\n\ndef new(self, *a, **k):\n    old(self, *a, **k)\n"
        "    self.outcome, self.longrepr = 'passed', None\n\n\nr.TestReport.__init__ = new\n"
    },
    "unknown tests are deselected": {
        "conftest.py": "def pytest_collection_modifyitems(items):\n    items[:] = [i for i in items if i.name == 'test_stays']\n"
    },
    "a fixture skips what is not known": {
        "conftest.py": "import pytest\n\n\n@pytest.fixture(autouse=True)\ndef only(request):\n    if request.node.name != 'test_stays':\n"
        "        pytest.skip('no')\n"
    },
    "failures become expected": {
        "conftest.py": "import pytest\n\n\ndef pytest_collection_modifyitems(items):\n    for i in items:\n        i.add_marker(pytest.mark.xfail)\n"
    },
    "the code under test patches the runner": {
        "calc.py": "import _pytest.runner as r\n\n\ndef call(item):\n    pass\n\n\nimport _pytest.python as p\np.Function.runtest = call\n"
        "add = lambda a, b: 0\n"
    },
    "assertions are taken out": {
        "conftest.py": "import ast\nimport _pytest.assertion.rewrite as w\n\n\nclass Drop(ast.NodeTransformer):\n    def visit_Assert(self, node):\n"
        "        return ast.copy_location(ast.Pass(), node)\n\n\nold = w.rewrite_asserts\n"
        "w.rewrite_asserts = lambda mod, *a, **k: old(ast.fix_missing_locations(Drop().visit(mod)), *a, **k)\n"
    },
    "pytest.raises takes anything": {
        "conftest.py": "import contextlib\nimport pytest\n\npytest.raises = lambda *a, **k: contextlib.suppress(BaseException)\n"
    },
    "unittest finds all equal": {"conftest.py": "import unittest\nunittest.TestCase.assertEqual = lambda *a, **k: None\n"},
    "the exit code is always 0": {"conftest.py": "def pytest_sessionfinish(session):\n    session.exitstatus = 0\n"},
    "the messages are replaced": {
        "conftest.py": "import pytest\n\n\n@pytest.hookimpl(wrapper=True)\ndef pytest_runtest_makereport(item, call):\n    rep = yield\n"
        "    if rep.failed:\n        rep.longrepr = 'AssertionError: as expected'\n    return rep\n"
    },
    "a module that Python loads by itself": {
        "sitecustomize.py": "import sys\n\n\nclass Find:\n    def find_spec(self, name, *a):\n        if name == '_pytest.python':\n"
        "            import _pytest.runner as r\n            r.pytest_runtest_call = lambda item: None\n\n\nsys.meta_path.insert(0, Find())\n"
    },
}  # fmt: skip


QUICK = {"a hook forces every report green", "a hook in the tests' own folder does", "a plugin of the configuration does", "functions are not called",
         "unknown tests are deselected", "the code under test patches the runner", "assertions are taken out", "the exit code is always 0",
         "a module that Python loads by itself", "nothing special", "it stops at the first failure", "a filter by name in the configuration",
         "a filter by mark", "names of its own", "folders of its own", "the command names a file", "coverage without a limit"}  # fmt: skip


def long_ones_slow(names: Iterable[str]) -> list[Any]:
    """The rows of a table; those that are not quick are for the long run."""
    return [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in names]


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", long_ones_slow(PY_CHEATS))
def test_a_runner_that_was_tampered_with_does_not_give_the_canary_back(name: str, tmp_path: Path) -> None:
    env = f"PYTHONPATH={tmp_path / 'p'}" if "sitecustomize.py" in PY_CHEATS[name] else ""
    report = run(tmp_path / "p", PY, {**HONEST, **PY_CHEATS[name]}, near=("tests/test_calc.py",), env=env)
    assert report.canary == "broken", report
    assert report.canary_said


LOADED = '{"type": "module", "scripts": {"test": "node --import ./setup.mjs --test"}}'
IMPORTS = Command(("node", "--import", "./setup.mjs", "--test"), "node")
JS_CHEATS: dict[str, tuple[Command, dict[str, str], str]] = {
    "assertions are emptied": (IMPORTS, {"setup.mjs": "import assert from 'node:assert';\nassert.equal = () => {};\n"}, ""),
    "every assertion is": (
        IMPORTS,
        {"setup.mjs": "import assert from 'node:assert';\nfor (const k of Object.keys(assert)) if (typeof assert[k] === 'function' && !/^[A-Z]/.test(k)) assert[k] = () => {};\n"},
        "",
    ),
    "tests are replaced": (
        IMPORTS,
        {"setup.mjs": "import { createRequire, syncBuiltinESMExports } from 'node:module';\nconst t = createRequire(import.meta.url)('node:test');\n"
         "const old = t.test;\nt.test = (name) => old(name, () => {});\nsyncBuiltinESMExports();\n"},
        "",
    ),
    "an option of the environment loads it": (
        NODE, {"setup.cjs": "const assert = require('node:assert');\nassert.equal = () => {};\n"}, "NODE_OPTIONS=--require ./setup.cjs",
    ),
}  # fmt: skip


@pytest.mark.needs("node")
@pytest.mark.parametrize("name", JS_CHEATS)
def test_a_node_runner_that_was_tampered_with_does_not_either(name: str, tmp_path: Path) -> None:
    base, files, env = JS_CHEATS[name]
    report = run(tmp_path / "p", base, {**HONEST_JS, **files}, env=env)
    assert report.canary == "broken", report


# -- honest projects, however odd ------------------------------------------------------------------------------------------------


def ini(*lines: str) -> dict[str, str]:
    return {"pytest.ini": "\n".join(["[pytest]", "pythonpath = .", *lines, ""])}


ODD: dict[str, tuple[tuple[str, ...], dict[str, str], tuple[str, ...]]] = {
    "nothing special": ((), {}, ()),
    "it stops at the first failure": ((), ini("addopts = -x"), ()),
    "at most one failure": (("--maxfail=1",), {}, ()),
    "a filter by name in the configuration": ((), ini("addopts = -k 'adds or stays'"), ()),
    "a filter by name in the command": (("-k", "(adds or stays) and not slow"), {}, ()),
    "a filter by name of the agent": ((), {}, ("tests/test_calc.py", "-k", "adds or stays")),
    "a filter by mark": (
        ("-m", "unit and not slow"),
        {**ini("addopts = --strict-markers", "markers =", "    unit", "    slow"),
         "tests/test_calc.py": "import pytest\npytestmark = pytest.mark.unit\n" + HONEST["tests/test_calc.py"]},
        (),
    ),
    "names of its own": (
        (), {**ini("python_files = check_*.py", "python_functions = should_*"), "tests/test_calc.py": "",
             "tests/check_calc.py": "from calc import add\n\n\ndef should_stays():\n    pass\n\n\ndef should_adds():\n    assert add(1, 2) == 3\n"}, (),
    ),
    "folders of its own": ((), {**ini("testpaths = tests other"), "aaa/test_not_ours.py": "raise SystemExit(3)\n"}, ()),
    "the command names a file": (("tests/test_calc.py",), {"aaa/test_not_ours.py": "raise SystemExit(3)\n"}, ()),
    "the agent names a test": ((), {}, ("tests/test_calc.py::test_adds", "tests/test_calc.py::test_stays")),
    "warnings are errors": (("-W", "error"), ini("filterwarnings = error"), ()),
    "several processes": (("-p", "xdist", "-n", "2"), {}, ()),
    "quiet": (("-q", "-q"), {}, ()),
    "loud": (("-vv",), {}, ()),
    "another root": ((), {"tests/pytest.ini": "[pytest]\n", "tests/__init__.py": ""}, ()),
    "configuration in pyproject.toml": (
        (), {"pyproject.toml": "[tool.pytest.ini_options]\npythonpath = ['.']\ntestpaths = ['tests']\naddopts = ['-x', '--strict-config']\n", "pytest.ini": ""}, (),
    ),
    "a configuration that the command names": (("-c", "odd.cfg"), {"odd.cfg": "[tool:pytest]\npythonpath = .\npython_functions = test_*\n"}, ()),
    "coverage without a limit": (("-p", "pytest_cov", "--cov=calc", "--cov-report="), {".coveragerc": "[run]\ndata_file = ../covered\n"}, ()),
    "the import mode of today": (("--import-mode=importlib",), {}, ()),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", long_ones_slow(ODD))
def test_an_honest_project_gives_it_back_and_its_own_tests_are_as_without_it(name: str, tmp_path: Path) -> None:
    words, files, selectors = ODD[name]
    if name == "configuration in pyproject.toml":
        files = {k: v for k, v in files.items() if v}
    base = Command((*PY.argv, *words), "pytest", paths=tuple(w for w in words if w.endswith(".py")))
    whole = {k: v for k, v in {**HONEST, **files}.items() if not (name == "configuration in pyproject.toml" and k == "pytest.ini")}
    report = run(tmp_path / "p", base, whole, selectors)
    assert report.canary == "held", (report.canary_said, report.output)
    assert {test.rpartition("_")[2]: outcome for test, outcome in report.outcomes.items()} == {"stays": "passed", "adds": "failed"}
    assert report.exit_code == 1


@pytest.mark.slow
def test_a_run_without_failures_ends_well_once_the_canary_is_taken_out(tmp_path: Path) -> None:
    report = run(tmp_path / "p", PY, {**HONEST, "calc.py": "def add(a, b):\n    return a + b\n"})
    assert (report.canary, report.exit_code, report.bad) == ("held", 0, frozenset())
    assert "2 passed" in report.output and "failed" not in report.output and "FAILURES" not in report.output
    report = run(tmp_path / "j", NODE, {**HONEST_JS, "calc.js": "export const add = (a, b) => a + b;\n"})
    assert (report.canary, report.exit_code, report.bad) == ("held", 0, frozenset())
    assert "ℹ pass 2" in report.output and "ℹ fail 0" in report.output and "AssertionError" not in report.output


NODE_ODD: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "nothing special": ((), ()),
    "a pattern": (("test/**/*.test.js",), ()),
    "a folder": (("test",), ()),
    "a file": (("test/calc.test.js",), ()),
    "a filter by name": (("--test-name-pattern=adds|stays",), ()),
    "the agent selects": ((), ("test/calc.test.js",)),
    "the agent selects by name": ((), ("--test-name-pattern=adds|stays",)),
}


@pytest.mark.needs("node")
@pytest.mark.sample(3)
@pytest.mark.parametrize("name", NODE_ODD)
def test_an_honest_node_project_gives_it_back(name: str, tmp_path: Path) -> None:
    words, selectors = NODE_ODD[name]
    base = Command(("node", "--test", *words), "node", paths=tuple(w for w in words if not w.startswith("-")))
    report = run(tmp_path / "p", base, HONEST_JS, selectors)
    assert report.canary == "held", (report.canary_said, report.output)
    assert report.outcomes == {"test/calc.test.js::stays": "passed", "test/calc.test.js::adds": "failed"}


UNSUPPORTED: dict[str, tuple[Command, dict[str, str], str]] = {
    "a coverage limit": (Command((*PY.argv, "--cov", "--cov-fail-under=90"), "pytest"), HONEST, "coverage limit"),
    "a coverage limit elsewhere": (Command((*PY.argv, "--cov"), "pytest"), {**HONEST, ".coveragerc": "[report]\nfail_under = 90\n"}, "coverage limit"),
    "step by step": (Command((*PY.argv, "--stepwise"), "pytest"), HONEST, "--stepwise would end the run"),
    "no tests": (PY, {"calc.py": ""}, "no folder"),
    "a mark that cannot be put on": (Command((*PY.argv, "-m", "unit(x=1)"), "pytest"), HONEST, "selects tests by names or marks"),
    "a part of the files": (Command(("node", "--test-shard=1/2", "--test"), "node"), HONEST_JS, "--test-shard"),
    "a coverage limit of node": (Command(("node", "--test-coverage-lines=90", "--test"), "node"), HONEST_JS, "coverage limit"),
}  # fmt: skip


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_where_there_can_be_none_the_reason_is_said(name: str, tmp_path: Path) -> None:
    base, files, says = UNSUPPORTED[name]
    write(tmp_path, files)
    found = RUNNERS[base.runner].canary(base, (), Folder(tmp_path), ())
    assert isinstance(found, str) and says in found


def test_names_differ_from_run_to_run_and_lie_beside_the_changed_tests(tmp_path: Path) -> None:
    write(tmp_path, {**HONEST, "tests/deep/conftest.py": "", "tests/data/x.json": ""})
    near = ("tests/test_calc.py", "tests/deep/conftest.py", "tests/data/x.json", "tests/gone/test_a.py")
    made = [RUNNERS["pytest"].canary(PY, (), Folder(tmp_path), near) for _ in range(2)]
    canary_files = [canary_file for each in made if not isinstance(each, str) for canary_file in each.canary_files]
    assert [canary_file.path.rpartition("/")[0] for canary_file in canary_files] == ["tests/deep", "tests"] * 2
    words = [word for canary_file in canary_files for word in (canary_file.word, canary_file.passes, canary_file.fails, canary_file.says)]
    assert len(set(words)) == len(words) == 16


EXPRESSIONS = {
    "": (),
    "a or b": ("a",),
    "not a": (),
    "a and not b": ("a",),
    "(a or b) and c": ("a", "c"),
    "a and not a": None,
    "a[1]": None,
    "a and": None,
}


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_the_fewest_words_that_an_expression_lets_through(expression: str) -> None:
    words = EXPRESSIONS[expression]
    assert wanted_by(expression) == words
    assert words is None or selects(expression, lambda w: w in words)


def test_a_folder_that_leads_elsewhere_gets_no_file(tmp_path: Path) -> None:
    write(tmp_path / "p", HONEST)
    shutil.move(tmp_path / "p/tests", tmp_path / "elsewhere")
    (tmp_path / "p/tests").symlink_to(tmp_path / "elsewhere")
    canary = RUNNERS["pytest"].canary(PY, ("tests/test_calc.py",), Folder(tmp_path / "p"), ("tests/test_calc.py",))
    from detent.errors import CannotTell
    from detent.evidence.running.canary import planted

    with pytest.raises(CannotTell, match="no test could be added"), planted(tmp_path / "p", canary):
        pass
    assert [path.name for path in (tmp_path / "elsewhere").iterdir()] == ["test_calc.py"]


# -- what a step comes to --------------------------------------------------------------------------------------------------------

SNEAKY = f"import os\n{FORCE}".replace("{how}", "wrapper=True").replace(
    "{body}",
    "rep = yield\n    if os.path.getsize('calc.py') > 9:\n        rep.outcome = 'passed'\n        rep.longrepr = None\n    return rep",
)


@pytest.mark.slow
def test_a_step_on_a_tampered_runner_fails_with_that_reason_and_an_honest_one_says_that_it_held(tmp_path: Path) -> None:
    f = Feature(tmp_path / "p", files={**FILES, "calc.py": "", "tests/conftest.py": SNEAKY}).start()
    f.plan()
    red = f.lay({"tests/test_add.py": RED}).submit()
    assert red.status == "SUCCESS" and red.evidence and red.evidence.canary == "held", red
    assert (red.evidence.counts.passed, red.evidence.counts.errors) == (2, 1)
    green = f.lay({"calc.py": GREEN.replace("a + b", "'nothing like it'")}).submit()
    assert green.status == "FAILURE", green
    assert [r for r in green.reasons if r.startswith(f"{TAMPERED}: a test that must fail was reported as passed")], green.reasons
    assert green.evidence and green.evidence.canary == "broken"
    assert f.git("status", "--porcelain", "--ignored").replace("!! tests/__pycache__/", "").strip() in ("", "!! __pycache__/")


@pytest.mark.slow
def test_a_project_in_which_it_never_held_is_not_accused(tmp_path: Path) -> None:
    odd = (
        "def pytest_collection_modifyitems(items):\n    items[:] = [i for i in items if i.path.name in ('test_other.py', 'test_add.py')]\n"
    )
    f = Feature(tmp_path / "p", files={**FILES, "conftest.py": odd, "calc.py": ""}).start()
    assert f.plan().state == "RED"
    red = f.lay({"tests/test_add.py": RED}).submit()
    assert red.status == "SUCCESS" and red.evidence and red.evidence.canary == "unsupported", red
    assert "[Detent could not add its own tests to this run: a test that must " in red.output


ELSEWHERE = """import os

import calc
import pytest

HERE = {here!r}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    rep = yield
    if not hasattr(calc, "add") and os.getcwd() != HERE and rep.when == "call":
        rep.outcome, rep.longrepr = "failed", "no"
    elif hasattr(calc, "add"):
        rep.outcome, rep.longrepr = "passed", None
    return rep
"""


@pytest.mark.slow
def test_a_project_does_not_become_one_in_which_it_never_held_by_what_a_step_brought(tmp_path: Path) -> None:
    """The last good tree is the agent's own; if its canary was seen to hold, only the commit that the work began from can say otherwise."""
    f = Feature(tmp_path / "p", files={**FILES, "calc.py": ""}).start()
    f.plan()
    f.lay({"tests/conftest.py": ELSEWHERE.format(here=str(f.root))}).person("steer", note="tests/conftest.py may do what it likes")
    red = f.lay({"tests/test_add.py": RED}).submit()
    assert red.status == "SUCCESS" and red.evidence and red.evidence.canary == "held", red
    green = f.lay({"calc.py": GREEN.replace("a + b", "'nothing like it'")}).submit()
    assert green.status == "FAILURE" and green.evidence and green.evidence.canary == "broken", green
    assert TAMPERED in green.reasons[-1]


@pytest.mark.slow
def test_what_a_killed_run_left_behind_is_no_part_of_a_change_and_goes_with_the_next_run(tmp_path: Path) -> None:
    f = Feature(tmp_path / "p", files={**FILES, "calc.py": ""}).start()
    f.plan()
    f.lay({"tests/test_left.py": "def test_left():\n    assert 0\n", "tests/test_add.py": RED})
    write_sealed(f.root / ".git/detent/planted.json", '["tests/test_left.py"]')
    red = f.submit()
    assert red.status == "SUCCESS", red.reasons
    assert not (f.root / "tests/test_left.py").exists()
    assert "tests/test_left.py" not in f.git("ls-tree", "-r", "--name-only", "HEAD")


@pytest.mark.slow
def test_what_a_killed_run_left_behind_is_gone_when_the_next_task_is_asked_for(tmp_path: Path) -> None:
    p = project(tmp_path / "p").reddened()
    quick = p.run("get-task").out
    planted, left = p.root / ".git/detent/planted.json", p.root / "tests/test_left.py"
    left.write_text("def test_left():\n    assert 0\n")
    write_sealed(planted, '["tests/test_left.py"]')
    with (planted.with_suffix(".lock")).open("a") as at_work:
        flock(at_work, LOCK_EX)
        assert p.run("get-task").out == quick and left.exists(), "that of a run that is at work stays"
    assert p.run("get-task").out == quick
    assert not left.exists() and not planted.exists()


@pytest.mark.slow
def test_a_list_of_what_to_remove_that_somebody_else_wrote_removes_nothing(tmp_path: Path) -> None:
    p = project(tmp_path / "p").reddened()
    mine = p.root.parent / "mine"
    mine.write_text("mine\n")
    (p.root / ".git/detent/planted.json").write_text(json.dumps(["../mine", "calc.py"]))
    assert p.green()["status"] == "SUCCESS"
    assert mine.exists() and (p.root / "calc.py").exists()
