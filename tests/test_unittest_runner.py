"""The unittest adapter: reports of real runs, the commands agents may hand in, how projects are recognised."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from detent.errors import CannotTell
from detent.evidence.report import TestReport
from detent.evidence.runners import RUNNERS, Command, Folder, find_command, refuse
from tests.repos import write

UNITTEST = RUNNERS["unittest"]
BASE = Command((sys.executable, "-m", "unittest", "discover"), "unittest")

MANY = """
import json
import sys
import unittest


class Thing:
    pass


class Many(unittest.TestCase):
    def test_passes(self): pass
    def test_asserts(self): self.assertEqual(1, 2, "no")
    def test_plain_assert(self): assert 0
    def test_raises(self): raise KeyError("k")
    @unittest.skip("not now")
    def test_skipped(self): pass
    def test_skips_itself(self): self.skipTest("inside")
    @unittest.expectedFailure
    def test_expected_failure(self): self.fail()
    @unittest.expectedFailure
    def test_surprise(self): pass
    def test_sub(self):
        for i in range(3):
            with self.subTest(i=i): self.assertNotEqual(i, 1)
    def test_exits(self): sys.exit(0)


class Names(unittest.TestCase):
    def test_name(self): add(1)
    def test_module(self): import not_there_yet
    def test_import(self): from json import not_there_yet
    def test_attribute(self): json.not_there_yet
    def test_method(self): Thing().not_there_yet()
    def test_of_none(self): None.not_there_yet
    def test_said_by_hand(self): raise NameError("x")


class SetUp(unittest.TestCase):
    def setUp(self): raise RuntimeError("up")
    def test_a(self): pass


class TearDown(unittest.TestCase):
    def tearDown(self): raise RuntimeError("down")
    def test_a(self): pass


class ClassUp(unittest.TestCase):
    @classmethod
    def setUpClass(cls): raise RuntimeError("up")
    def test_a(self): pass
    def test_b(self): pass


class ClassName(unittest.TestCase):
    @classmethod
    def setUpClass(cls): not_there_yet()
    def test_a(self): pass


class ClassDown(unittest.TestCase):
    @classmethod
    def tearDownClass(cls): raise RuntimeError("down")
    def test_a(self): pass


class ClassSkip(unittest.TestCase):
    @classmethod
    def setUpClass(cls): raise unittest.SkipTest("no")
    def test_a(self): pass


class Later(unittest.IsolatedAsyncioTestCase):
    async def test_a(self): self.assertTrue(False)


class Outer:
    class Inner(unittest.TestCase):
        def test_a(self): pass


def load_tests(loader, tests, pattern):
    for _ in range(2):
        tests.addTests(loader.loadTestsFromTestCase(Outer.Inner))
    return tests
"""
UP = "import unittest\n\n\ndef setUpModule():\n    raise RuntimeError('m')\n\n\nclass A(unittest.TestCase):\n    def test_a(self): pass\n"
PROJECT = {
    "calc.py": "",
    "tests/__init__.py": "",
    "tests/test_many.py": MANY,
    "tests/test_module_up.py": UP,
    "tests/test_syntax.py": "def broken(:\n",
    "tests/test_no_module.py": "from not_there_yet import thing\n",
    "tests/test_no_name.py": "from calc import subtract\n",
    "tests/test_raises.py": "raise RuntimeError('at import')\n",
    "tests/test_exits.py": "raise SystemExit(0)\n",
    "tests/test_left_out.py": "import unittest\nraise unittest.SkipTest('all of it')\n",
    "tests/deep/__init__.py": "",
    "tests/deep/test_er.py": "import unittest\n\n\nclass Er(unittest.TestCase):\n    def test_a(self): pass\n    def test_b(self): pass\n",
}
OUTCOMES = {
    "many.py::Many::test_passes": "passed", "many.py::Many::test_asserts": "failed", "many.py::Many::test_plain_assert": "failed",
    "many.py::Many::test_raises": "failed", "many.py::Many::test_skipped": "skipped", "many.py::Many::test_skips_itself": "skipped",
    "many.py::Many::test_expected_failure": "skipped", "many.py::Many::test_surprise": "failed", "many.py::Many::test_sub": "failed",
    "many.py::Many::test_exits": "failed",
    **{f"many.py::Names::test_{name}": "failed" for name in ("name", "module", "import", "attribute", "method", "of_none", "said_by_hand")},
    "many.py::SetUp::test_a": "failed", "many.py::TearDown::test_a": "failed", "many.py::ClassUp::test_a": "error", "many.py::ClassUp::test_b": "error",
    "many.py::ClassName::test_a": "error", "many.py::ClassDown::test_a": "error", "many.py::ClassSkip::test_a": "skipped",
    "many.py::Later::test_a": "failed", "many.py::Outer::Inner::test_a": "passed", "many.py::Outer::Inner::test_a (2)": "passed",
    "module_up.py::A::test_a": "error", "syntax.py": "error", "no_module.py": "error", "no_name.py": "error", "raises.py": "error", "exits.py": "error",
    "left_out.py": "skipped",
}  # fmt: skip
DEEP = {"tests/deep/test_er.py::Er::test_a", "tests/deep/test_er.py::Er::test_b"}


def play(root: Path, *selectors: str, base: Command = BASE) -> tuple[bytes | None, int, str]:
    """The machine's own call of the real unittest: the report, the exit code, the output."""
    report = root.parent / f"{root.name}-report"
    report.unlink(missing_ok=True)
    argv = UNITTEST.argv(base, selectors, str(report), Folder(root))
    env = {"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(argv, cwd=root, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return (report.read_bytes() or None) if report.exists() else None, done.returncode, done.stdout


def run(root: Path, *selectors: str, base: Command = BASE) -> TestReport:
    return UNITTEST.read(*play(root, *selectors, base=base))


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unittest-runner") / "project"
    write(folder, PROJECT)
    return folder


def test_a_real_run_is_read_test_by_test(root: Path) -> None:
    report = run(root)
    assert report.outcomes == {**{f"tests/test_{test}": outcome for test, outcome in OUTCOMES.items()}, **dict.fromkeys(DEEP, "passed")}
    named = ("many.py::Names::test_name", "many.py::Names::test_module", "many.py::Names::test_import", "many.py::Names::test_attribute")
    broken = ("many.py::Names::test_method", "many.py::ClassName::test_a", "no_module.py", "no_name.py")
    assert set(report.missing_names) == {f"tests/test_{test}" for test in (*named, *broken)}
    kinds = {
        "many.py::Many::test_asserts": "AssertionError",
        "many.py::Many::test_plain_assert": "AssertionError",
        "syntax.py": "SyntaxError",
    }
    kinds |= {"many.py::ClassUp::test_a": "RuntimeError", "many.py::Many::test_exits": "SystemExit", "exits.py": "SystemExit"}
    assert {test: report.kinds[f"tests/test_{test}"] for test in kinds} == kinds
    assert report.messages["tests/test_many.py::Many::test_asserts"] == "1 != 2 : no"
    assert report.messages["tests/test_many.py::ClassUp::test_a"] == "up"
    assert set(report.files.values()) <= set(PROJECT) and (report.exit_code, report.runner) == (1, "unittest")
    assert {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()} == set(PROJECT)


SELECTED: tuple[tuple[str, set[str]], ...] = (
    ("tests/deep", DEEP),
    ("tests/deep/test_er.py", DEEP),
    ("tests.deep.test_er", DEEP),
    ("tests.deep", DEEP),
    ("tests.deep.test_er.Er.test_a", {"tests/deep/test_er.py::Er::test_a"}),
    ("tests/deep/test_er.py -k test_b", {"tests/deep/test_er.py::Er::test_b"}),
    ("discover -s tests/deep", DEEP),
    ("discover -p test_er.py -v", DEEP),
    ("tests.test_syntax", {"tests/test_syntax.py"}),
    ("tests/nowhere.py", set()),
)


@pytest.mark.sample(2)
@pytest.mark.parametrize(("words", "ids"), SELECTED)
def test_a_selection_runs_what_it_names(root: Path, words: str, ids: set[str]) -> None:
    selectors = UNITTEST.parse(f"python -m unittest {words}", BASE).selectors
    assert run(root, *selectors).ids == ids


def test_the_projects_own_words_hold(tmp_path: Path) -> None:
    body = "assert sys.argv[1:] == ['discover', '-s', 'tests', '-p', 'check*.py', '-f']"
    text = f"import sys, unittest\nimport calc, near\n\n\nclass A(unittest.TestCase):\n    def test_a(self): {body}\n    def test_b(self): pass\n"
    write(tmp_path / "p", {"calc.py": "", "tests/near.py": "", "tests/check_a.py": text})
    words = ("discover", "-s", "tests", "-p", "check*.py", "-f")
    report = run(tmp_path / "p", base=Command((sys.executable, "-m", "unittest", *words), "unittest"))
    assert report.outcomes == {"tests/check_a.py::A::test_a": "passed", "tests/check_a.py::A::test_b": "passed"}


def test_the_code_of_a_run_must_fit_its_report(tmp_path: Path) -> None:
    text = "import atexit, os, unittest\natexit.register(os._exit, CODE)\n\n\nclass A(unittest.TestCase):\n    def test_a(self): BODY\n"
    for code, body in (("0", "self.fail()"), ("1", "pass"), ("3", "pass")):
        write(tmp_path / "p", {"tests/__init__.py": "", "tests/test_a.py": text.replace("CODE", code).replace("BODY", body)})
        with pytest.raises(CannotTell, match=f"unittest exited with code {code}"):
            run(tmp_path / "p")
    with pytest.raises(CannotTell, match="unittest wrote no report: it exited with code"):
        run(tmp_path / "p", base=Command((sys.executable, "-m", "unittest", "discover", "-s", "nowhere"), "unittest"))


ALLOWED = (
    (f"{sys.executable} -m unittest discover", ()),
    ("python -m unittest", ()),
    ("python3 -m unittest -v tests/test_a.py", ("tests/test_a.py",)),
    (".venv/bin/python -m unittest tests.test_a", ("tests/test_a.py",)),
    ("uv run --frozen python -m unittest tests.test_a.TestA", ("tests/test_a.py::TestA",)),
    ("python -m unittest discover tests", ("tests",)),
    ("python -m unittest discover -s ./tests -p test_a.py", ("tests", "-p=test_a.py")),
    ("python -m unittest -k adds -k two", ("-k=adds", "-k=two")),
    ("python -m unittest -b -f", ()),
)


@pytest.mark.parametrize(("command", "selectors"), ALLOWED)
def test_a_call_of_the_projects_runner_with_selectors_is_taken(command: str, selectors: tuple[str, ...]) -> None:
    assert refuse(command, BASE) is None
    assert UNITTEST.parse(command, BASE).selectors == selectors


REFUSED = (
    ("", "the command is empty"),
    ("true", "`true` is not a call"),
    ("python tests/test_a.py", "`python` is not a call"),
    ("python -c pass", "`python` is not a call"),
    ("python -m pytest", "`python` is not a call"),
    ("python -O -m unittest", "`python` is not a call"),
    ("/tmp/python -m unittest", "is not a call"),
    ("PYTHONPATH=x python -m unittest", "sets an environment variable"),
    ("python -m unittest && true", "`&` chains"),
    ("python -m unittest -W error", "the option -W can change"),
    ("python -m unittest --durations=3", "the option --durations can change"),
    ("python -m unittest -k", "the option -k has no value"),
    ("python -m unittest discover -s ../x", "leaves the project"),
    ("python -m unittest /etc/test_a.py", "is not a path inside the project"),
)


@pytest.mark.parametrize(("command", "fault"), REFUSED)
def test_anything_else_is_refused_naming_what_is_allowed(command: str, fault: str) -> None:
    said = refuse(command, BASE) or ""
    assert fault in said and "use one call of the project's own test runner: `python -m unittest` with test files" in said


U = "import unittest\n\n\nclass A(unittest.TestCase):\n    def test_a(self): pass\n"
DISCOVER = "python3 -m unittest discover"
DETECTED: tuple[tuple[dict[str, str], str], ...] = (
    ({"test_a.py": U}, DISCOVER),
    ({"tests/__init__.py": "", "tests/test_a.py": U}, DISCOVER),
    ({"tests/test_a.py": U, "pyproject.toml": "[project]\n"}, f"{DISCOVER} -s tests"),
    ({"tests/test_a.py": "from unittest import TestCase\n", "tests/unit/test_b.py": U}, f"{DISCOVER} -s tests"),
    ({"tests/test_a.py": U, ".venv/bin/python": ""}, ".venv/bin/python -m unittest discover -s tests"),
)
NOT_DETECTED: tuple[dict[str, str], ...] = (
    {"tests/test_a.py": U, "pytest.ini": ""},
    {"tests/test_a.py": U, "pyproject.toml": "[tool.pytest.ini_options]\n"},
    {"tests/test_a.py": U, "requirements-dev.txt": "pytest>=8\n"},
    {"tests/test_a.py": U, "tests/conftest.py": ""},
    {"tests/test_a.py": U, "tests/test_b.py": "import pytest\n"},
    {"tests/test_a.py": "def test_a(): pass\n"},
)


@pytest.mark.parametrize(("files", "text"), DETECTED)
def test_tests_of_unittest_without_a_sign_of_pytest_are_found(tmp_path: Path, files: dict[str, str], text: str) -> None:
    write(tmp_path, files)
    found = find_command(Folder(tmp_path))
    assert found is not None and (found.text, found.runner) == (text, "unittest")
    assert (find_command(Folder(tmp_path), text) or found).runner == "unittest"


@pytest.mark.parametrize("files", NOT_DETECTED)
def test_any_sign_of_pytest_means_pytest(tmp_path: Path, files: dict[str, str]) -> None:
    write(tmp_path, files)
    found = find_command(Folder(tmp_path))
    assert found is not None and found.runner == "pytest"


@pytest.mark.parametrize(
    ("path", "sort"),
    [
        ("tests/test_a.py", "test"), ("tests/data.json", "test"), ("test_a.py", "test"), ("src/testing_a.py", "test"), ("a_test.py", "test"),
        ("tests/__init__.py", "test"), ("pyproject.toml", "config"), ("setup.cfg", "config"), ("sitecustomize.py", "config"), ("unittest.py", "config"),
        ("unittest/case.py", "config"), ("detent.toml", "config"), ("src/a.py", ""), ("contest.py", ""), ("README.md", ""),
    ],
)  # fmt: skip
def test_tests_and_configuration_are_told_from_the_rest(path: str, sort: str) -> None:
    assert (UNITTEST.is_test(path), UNITTEST.is_config(path)) == (sort == "test", sort == "config")
