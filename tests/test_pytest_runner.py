"""The pytest adapter: reports of real runs, the commands agents may hand in, how projects are recognised."""

import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from detent.errors import CannotTell
from detent.evidence.report import TestReport
from detent.evidence.runners import RUNNERS, Command, Folder, find_command, refuse, report_reader
from detent.evidence.runners.adapter import split_words

PYTEST = RUNNERS["pytest"]
HERE = Command((sys.executable, "-m", "pytest"), "pytest", "environment")

MANY = """
import unittest
import pytest

def test_passes(): pass
def test_asserts(): assert 1 == 2, "no"
def test_raises(): raise KeyError("k")

@pytest.mark.parametrize("x", ["a", "grün", "c::d", "[x]", "a b", "two\\nlines", "a.b", "nul\\x00"])
def test_many(x): assert x != "a"

class TestX:
    def test_y(self): pass
    class TestInner:
        @pytest.mark.parametrize("x", [1])
        def test_z(self, x): pass

class TestOld(unittest.TestCase):
    def test_u(self): self.assertEqual(1, 1)
    def test_sub(self):
        for i in range(3):
            with self.subTest(i=i): assert i != 1

@pytest.fixture
def broken(): raise RuntimeError("set-up")
@pytest.fixture
def breaks_later():
    yield
    raise RuntimeError("clean-up")
@pytest.fixture
def from_a_new_module():
    from not_there_yet import thing
    return thing

def test_set_up(broken): pass
def test_clean_up(breaks_later): pass
def test_fails_twice(breaks_later): assert 0
def test_fixture_needs_a_name(from_a_new_module): pass
def test_unknown_fixture(nobody_wrote_this): pass

@pytest.mark.skip(reason="not now")
def test_skipped(): pass
def test_skips_itself(): pytest.skip("inside")
@pytest.mark.xfail
def test_expected_failure(): assert 0
@pytest.mark.xfail(strict=True)
def test_strict_surprise(): pass
@pytest.mark.xfail
def test_surprise(): pass
def test_prüfung(): pass
def test_exits(): raise SystemExit(0)
def test_did_not_raise():
    with pytest.raises(ValueError): pass
"""

NAMES = """
import json
class Thing: pass

def test_name(): add(1, 2)
def test_module(): import not_there_yet
def test_import(): from json import not_there_yet
def test_module_attribute(): json.not_there_yet
def test_class_attribute(): Thing.not_there_yet
def test_method(): Thing().not_there_yet()
def test_of_none(): None.not_there_yet
def test_of_text(): "".not_there_yet
def test_unbound():
    print(later)
    later = 1
def test_said_by_hand(): raise NameError("x")
def test_assertion_after_import():
    try: import not_there_yet
    except ImportError: assert 0
def test_import_after_assertion():
    try: assert 0
    except AssertionError: import not_there_yet
"""

PROJECT = {
    "tests/test_many.py": MANY,
    "tests/test_names.py": NAMES,
    "tests/test_syntax.py": "def broken(:\n",
    "tests/test_no_module.py": "from not_there_yet import thing\ndef test_a(): pass\n",
    "tests/test_no_name.py": "from json import not_there_yet\ndef test_a(): pass\n",
    "tests/test_no_attribute.py": "import json\nX = json.not_there_yet\ndef test_a(): pass\n",
    "tests/test_raises.py": "raise RuntimeError('at import')\n",
    "tests/test_circle.py": "import circle_a\n",
    "circle_a.py": "from circle_b import b\na = 1\n",
    "circle_b.py": "from circle_a import a\nb = 1\n",
    "tests/test_left_out.py": "import pytest\npytest.skip('all of it', allow_module_level=True)\n",
    "tests/test_docs.txt": ">>> 1 + 1\n3\n",
    "tests/test_doc.py": '"""\n>>> 1 + 1\n2\n"""\n',
    "tests/with.dots/test_dots.py": "class TestD:\n    def test_d(self): pass\n",
    "tests/shared.py": "class Shared:\n    def test_inherited(self): assert 0\n",
    "tests/test_heirs.py": "from shared import Shared\nclass TestHeir(Shared): pass\n",
    "tests/test_lone.py": "from shared import Shared\nclass TestLone(Shared): pass\n\ndef test_own(): pass\n",
}  # fmt: skip


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


def play(root: Path, *selectors: str, base: Command = HERE) -> tuple[bytes | None, int, str]:
    """The machine's own call of real pytest: the report, the exit code, the output."""
    report = root.parent / f"{root.name}-report.xml"
    report.unlink(missing_ok=True)
    env = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST_", "COV_", "COVERAGE_", "PYTHON"))}
    env |= {"PYTHONDONTWRITEBYTECODE": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(
        PYTEST.argv(base, selectors, str(report)),
        cwd=root,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return report.read_bytes() if report.exists() else None, done.returncode, done.stdout


def run(root: Path, *selectors: str, base: Command = HERE) -> TestReport:
    return PYTEST.read(*play(root, *selectors, base=base))


@pytest.fixture(scope="module")
def big(tmp_path_factory: pytest.TempPathFactory) -> tuple[TestReport, Path]:
    root = write(tmp_path_factory.mktemp("pytest-runner") / "project", PROJECT)
    return run(root, base=Command((*HERE.argv, "--doctest-modules"), "pytest")), root


OUTCOMES = {
    "tests/test_many.py::test_passes": "passed",
    "tests/test_many.py::test_asserts": "failed",
    "tests/test_many.py::test_raises": "failed",
    "tests/test_many.py::test_many[a]": "failed",
    r"tests/test_many.py::test_many[gr\xfcn]": "passed",
    "tests/test_many.py::test_many[c::d]": "passed",
    "tests/test_many.py::test_many[[x]]": "passed",
    "tests/test_many.py::test_many[a b]": "passed",
    r"tests/test_many.py::test_many[two\nlines]": "passed",
    "tests/test_many.py::test_many[a.b]": "passed",
    r"tests/test_many.py::test_many[nul\x00]": "passed",
    "tests/test_many.py::TestX::test_y": "passed",
    "tests/test_many.py::TestX::TestInner::test_z[1]": "passed",
    "tests/test_many.py::TestOld::test_u": "passed",
    "tests/test_many.py::TestOld::test_sub": "failed",
    "tests/test_many.py::test_set_up": "error",
    "tests/test_many.py::test_clean_up": "error",
    "tests/test_many.py::test_fails_twice": "error",
    "tests/test_many.py::test_fixture_needs_a_name": "error",
    "tests/test_many.py::test_unknown_fixture": "error",
    "tests/test_many.py::test_skipped": "skipped",
    "tests/test_many.py::test_skips_itself": "skipped",
    "tests/test_many.py::test_expected_failure": "skipped",
    "tests/test_many.py::test_strict_surprise": "failed",
    "tests/test_many.py::test_surprise": "passed",
    "tests/test_many.py::test_prüfung": "passed",
    "tests/test_many.py::test_exits": "failed",
    "tests/test_many.py::test_did_not_raise": "failed",
    "tests/test_syntax.py": "error",
    "tests/test_no_module.py": "error",
    "tests/test_no_name.py": "error",
    "tests/test_no_attribute.py": "error",
    "tests/test_raises.py": "error",
    "tests/test_circle.py": "error",
    "tests/test_left_out.py": "skipped",
    "tests/test_docs.txt::test_docs.txt": "failed",
    "tests/test_doc.py::test_doc": "passed",
    "tests/with.dots/test_dots.py::TestD::test_d": "passed",
    "tests/test_heirs.py::TestHeir::test_inherited": "failed",
    "tests/test_lone.py::TestLone::test_inherited": "failed",
    "tests/test_lone.py::test_own": "passed",
}  # fmt: skip


def test_every_test_of_a_real_run_has_its_outcome(big: tuple[TestReport, Path]) -> None:
    report, _ = big
    others = {
        i: o for i, o in report.outcomes.items() if "test_names.py" not in i and "circle" not in i.partition("::")[0].removeprefix("tests/")
    }
    assert others == {i: o for i, o in OUTCOMES.items() if i != "tests/test_circle.py"}
    assert report.outcomes["tests/test_circle.py"] == "error"


def test_the_ids_are_those_that_pytest_itself_collects(big: tuple[TestReport, Path]) -> None:
    report, root = big
    done = subprocess.run(
        [*HERE.argv, "--collect-only", "-q", "-p", "no:cacheprovider", "--rootdir=.", "--continue-on-collection-errors", "tests"],
        cwd=root, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTEST_ADDOPTS": ""},
    )  # fmt: skip
    collected = {line for line in done.stdout.splitlines() if "::" in line and not line.startswith(("ERROR", "E "))}
    assert len(collected) > 40
    assert collected - report.ids == set()


def test_names_that_are_not_there_yet_are_told_from_other_failures(big: tuple[TestReport, Path]) -> None:
    report, _ = big
    assert sorted(report.missing_names) == [
        "tests/test_many.py::test_fixture_needs_a_name",
        "tests/test_names.py::test_class_attribute",
        "tests/test_names.py::test_import",
        "tests/test_names.py::test_import_after_assertion",
        "tests/test_names.py::test_method",
        "tests/test_names.py::test_module",
        "tests/test_names.py::test_module_attribute",
        "tests/test_names.py::test_name",
        "tests/test_no_attribute.py",
        "tests/test_no_module.py",
        "tests/test_no_name.py",
    ]


@pytest.mark.parametrize(
    ("test", "kind"),
    [
        ("tests/test_many.py::test_asserts", "AssertionError"),
        ("tests/test_many.py::test_many[a]", "AssertionError"),
        ("tests/test_many.py::test_fails_twice", "AssertionError"),
        ("tests/test_many.py::test_raises", "KeyError"),
        ("tests/test_many.py::test_set_up", "RuntimeError"),
        ("tests/test_many.py::test_exits", "SystemExit"),
        ("tests/test_many.py::test_did_not_raise", "Failed"),
        ("tests/test_names.py::test_unbound", "UnboundLocalError"),
        ("tests/test_names.py::test_assertion_after_import", "AssertionError"),
        ("tests/test_names.py::test_of_none", "AttributeError"),
        ("tests/test_syntax.py", "SyntaxError"),
        ("tests/test_no_module.py", "ModuleNotFoundError"),
        ("tests/test_raises.py", "RuntimeError"),
        ("tests/test_docs.txt::test_docs.txt", "DocTestFailure"),
    ],
)
def test_the_kind_of_a_failure_is_the_type_of_its_exception(big: tuple[TestReport, Path], test: str, kind: str) -> None:
    assert big[0].kinds[test] == kind


def test_a_report_has_messages_files_exit_code_and_time(big: tuple[TestReport, Path]) -> None:
    report, _ = big
    assert report.messages["tests/test_many.py::test_asserts"] == "AssertionError: no\nassert 1 == 2"
    assert report.messages["tests/test_many.py::test_skipped"] == "not now"
    assert report.files["tests/test_heirs.py::TestHeir::test_inherited"] == "tests/test_heirs.py"
    assert (report.exit_code, report.runner, report.complete) == (1, "pytest", True)
    assert report.seconds > 0
    assert "short test summary" in report.output


def test_the_machines_call_leaves_nothing_in_the_project(big: tuple[TestReport, Path]) -> None:
    root = big[1]
    assert sorted(p.relative_to(root).as_posix() for p in root.rglob("*") if p.is_file()) == sorted(PROJECT)


# Selections and odd projects, each a run of its own.


def test_a_passing_project_passes(tmp_path: Path) -> None:
    report = run(write(tmp_path / "p", {"test_a.py": "def test_a(): pass\n"}))
    assert (report.outcomes, report.exit_code) == ({"test_a.py::test_a": "passed"}, 0)


def test_zero_tests_are_a_report_without_ids(tmp_path: Path) -> None:
    report = run(write(tmp_path / "p", {"a.py": ""}))
    assert (report.ids, report.exit_code) == (frozenset(), 5)


@pytest.mark.slow
def test_a_selected_test_that_is_not_there_is_a_report_without_ids(tmp_path: Path) -> None:
    root = write(tmp_path / "p", {"test_a.py": "def test_a(): pass\n"})
    assert run(root, "test_a.py::test_b").ids == frozenset()
    assert run(root, "test_b.py").ids == frozenset()
    assert run(root, "-k", "nothing").ids == frozenset()


def test_a_selected_test_in_a_file_that_cannot_be_imported_is_the_file_as_an_error(tmp_path: Path) -> None:
    root = write(tmp_path / "p", {"tests/test_a.py": "from not_there_yet import x\ndef test_a(): pass\n"})
    report = run(root, "tests/test_a.py::test_a")
    assert report.outcomes == {"tests/test_a.py": "error"}
    assert report.missing_names == ("tests/test_a.py",)


def test_ids_do_not_depend_on_what_is_selected(tmp_path: Path) -> None:
    files = {"sub/pytest.ini": "[pytest]\n", "sub/tests/test_a.py": "def test_a(): pass\n"}
    root = write(tmp_path / "p", files)
    assert run(root).ids == run(root, "sub/tests/test_a.py").ids == {"sub/tests/test_a.py::test_a"}


def test_the_projects_options_cannot_stop_the_machines_run_early_or_move_its_report(tmp_path: Path) -> None:
    ini = "[pytest]\naddopts = -x --lf --strict-config --tb=no --color=yes --junitxml=elsewhere.xml --junitprefix=p -o junit_family=xunit2\ncache_dir = c\n"
    root = write(tmp_path / "p", {"pytest.ini": ini, "test_a.py": "def test_a(): assert 0\ndef test_b(): import not_there_yet\n"})
    report = run(root)
    assert report.outcomes == {"test_a.py::test_a": "failed", "test_a.py::test_b": "failed"}
    assert report.kinds == {"test_a.py::test_a": "AssertionError", "test_a.py::test_b": "ModuleNotFoundError"}
    assert sorted(p.name for p in root.iterdir()) == ["pytest.ini", "test_a.py"]
    assert "\x1b" not in report.output


@pytest.mark.slow
def test_a_configured_selection_is_narrowed_by_the_agents(tmp_path: Path) -> None:
    text = "def test_a_slow(): pass\ndef test_a(): pass\ndef test_b(): pass\n"
    root = write(tmp_path / "p", {"tests/test_it.py": text, "other/test_o.py": "def test_a(): pass\n"})
    base = PYTEST.adopt((*HERE.argv, "tests", "-k", "not slow"))
    assert base is not None
    assert run(root, base=base).ids == {"tests/test_it.py::test_a", "tests/test_it.py::test_b"}
    assert run(root, "-k", "test_a", base=base).ids == {"tests/test_it.py::test_a"}
    assert run(root, "other/test_o.py", base=base).ids == {"other/test_o.py::test_a"}


@pytest.mark.slow
def test_two_files_of_one_name_are_told_by_that_name(tmp_path: Path) -> None:
    report = run(write(tmp_path / "p", {"one/test_a.py": "def test_a(): pass\n", "two/test_a.py": "def test_a(): pass\n"}))
    assert report.messages["two/test_a.py"].startswith("another test file is called test_a too: give one of them another name")


CANNOT_BE_TOLD = {
    "a process that ends itself": ({"test_a.py": "import os\ndef test_a(): os._exit(0)\n"}, "pytest wrote no report: it exited with code 0"),
    "a set-up file that fails": ({"conftest.py": "raise RuntimeError('x')\n", "test_a.py": "def test_a(): pass\n"}, "did not accept its command line or its conf"),
    "an unknown option": ({"pytest.ini": "[pytest]\naddopts = --no-such\n", "test_a.py": ""}, "unrecognized arguments: --no-such"),
    "a hook that fails": ({"conftest.py": "def pytest_collection_modifyitems(): 1 / 0\n", "test_a.py": "def test_a(): pass\n"}, "had an internal error"),
    "a file that ends the process as it is loaded": (
        {"test_a.py": "def test_a(): pass\n", "test_b.py": "import sys\nsys.exit(0)\n"}, "pytest stopped while it loaded test_b.py, which ends the process in line 2"
    ),
    "an interrupt": ({"test_a.py": "def test_a(): raise KeyboardInterrupt\n"}, "was interrupted"),
    "a code that hides a failure": (
        {"conftest.py": "def pytest_sessionfinish(session): session.exitstatus = 0\n", "test_a.py": "def test_a(): assert 0\n"},
        "exited with code 0, but its report has a failure: test_a.py::test_a",
    ),
    "a code that no test explains": (
        {"conftest.py": "def pytest_sessionfinish(session): session.exitstatus = 1\n", "test_a.py": "def test_a(): pass\n"},
        "exited with code 1, but no test in its report failed",
    ),
    "an early exit with the code of a wrong call": (
        {"test_a.py": "import pytest\ndef test_a(): pass\ndef test_b(): pytest.exit('enough', returncode=4)\n"}, "did not accept",
    ),
}  # fmt: skip


@pytest.mark.sample(2)
@pytest.mark.parametrize("case", CANNOT_BE_TOLD)
def test_what_is_not_a_whole_honest_run_cannot_be_told(tmp_path: Path, case: str) -> None:
    files, sentence = CANNOT_BE_TOLD[case]
    with pytest.raises(CannotTell) as told:
        run(write(tmp_path / "p", files))
    assert sentence in str(told.value)


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        (None, "did not finish in time"),
        (-9, "was killed by signal 9"),
        (137, "was killed by signal 9"),
        (139, "crashed with a segmentation fault"),
        (1, "exited with code 1"),
        (0, "exited with code 0; a test or the code ended the process"),
    ],
)
def test_a_lost_report_cannot_be_told(code: int | None, sentence: str) -> None:
    with pytest.raises(CannotTell) as told:
        PYTEST.read(None, code, "the last words\n")
    assert sentence in str(told.value)
    assert str(told.value).endswith("the last words")


WHOLE = b'<testsuites><testsuite><testcase classname="t" name="a" file="t.py"/></testsuite></testsuites>'
LAUGHS = b'<!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]><testsuites>&b;</testsuites>'


@pytest.mark.parametrize(
    ("report", "sentence"),
    [
        (b"", "is empty"),
        (b" \n", "is empty"),
        (WHOLE[:-5], "cannot be read"),
        (WHOLE[:40], "cannot be read"),
        (WHOLE + b"<more/>", "cannot be read"),
        (b"5 passed", "cannot be read"),
        (b"\xff\xfe\x00", "cannot be read"),
        (b'<?xml version="1.0" encoding="no-such"?>' + WHOLE, "cannot be read"),
        (b"<html/>", "is not JUnit XML: it starts with <html>"),
        (LAUGHS, "declares a document type"),
        (b"<?xml version='1.0' encoding='utf-16'?>".decode().encode("utf-16") + LAUGHS.decode().encode("utf-16-le"), "declares a document type"),
        (b'<!DOCTYPE x SYSTEM "file:///etc/passwd"><testsuites/>', "declares a document type"),
        (b"<testsuites>" + b"<testsuite>" * 200 + b"</testsuite>" * 200 + b"</testsuites>", "nested too deeply"),
        (b"<testsuite><testcase><testcase/></testcase></testsuite>", "a test case inside a test case"),
    ],
)  # fmt: skip
def test_a_report_that_is_damaged_or_hostile_cannot_be_told(report: bytes, sentence: str) -> None:
    with pytest.raises(CannotTell) as told:
        PYTEST.read(report, 0, "")
    assert sentence in str(told.value)


def test_a_report_that_is_too_big_is_not_read() -> None:
    with pytest.raises(CannotTell, match="the most that Detent reads"):
        PYTEST.read(b"<testsuite>" + b" " * report_reader.LARGEST + b"</testsuite>", 0, "")


def test_summary_attributes_are_not_believed() -> None:
    assert PYTEST.read(b'<testsuites tests="5"><testsuite tests="5" failures="0"/></testsuites>', 0, "5 passed").ids == frozenset()


def test_other_elements_and_namespaces_are_no_obstacle() -> None:
    text = b"""<testsuite xmlns="urn:x"><properties/><testcase classname="t" name="a" file="t.py" time="1,000.5">
      <system-out><![CDATA[<failure/>]]></system-out><failure message="assert 0">why<b>x</b></failure></testcase></testsuite>"""
    assert report_reader.read_cases(text) == [
        report_reader.JUnitCase("t", "a", "t.py", 1000.5, (report_reader.Problem("failure", "", "assert 0", "whyx"),))
    ]


# Commands of agents.

VENV = Command((".venv/bin/python", "-m", "pytest"), "pytest", "environment")
TOX = Command(("tox", "-q", "-e", "py", "--"), "pytest", "tox")
CONFIGURED = find_command(Folder(Path("/nowhere")), "uv run --extra test pytest -n 4 tests --strict-markers -m 'not slow'")
assert CONFIGURED is not None

ALLOWED: tuple[tuple[str, Command, tuple[str, ...]], ...] = (
    ("pytest", VENV, ()),
    ("pytest tests/test_a.py", VENV, ("tests/test_a.py",)),
    ("pytest ./tests/test_a.py", VENV, ("tests/test_a.py",)),
    ("pytest tests/test_a.py::TestX::test_y", VENV, ("tests/test_a.py::TestX::test_y",)),
    ("pytest 'tests/test_a.py::test_y[a b]'", VENV, ("tests/test_a.py::test_y[a b]",)),
    ("pytest tests/test_a.py::test_y[1-2]", VENV, ("tests/test_a.py::test_y[1-2]",)),
    ("pytest 'tests/test_a.py::test_y[$x;(`y`)|*>]'", VENV, ("tests/test_a.py::test_y[$x;(`y`)|*>]",)),
    ("pytest tests/ -k 'a and not b'", VENV, ("tests/", "-k", "a and not b")),
    ("pytest -ka tests", VENV, ("tests", "-k", "a")),
    ("pytest -k=a tests", VENV, ("tests", "-k", "a")),
    ("pytest -xk a tests", VENV, ("tests", "-k", "a")),
    ("pytest -k a -k b", VENV, ("-k", "b")),
    ("pytest -m 'not slow' tests", VENV, ("tests", "-m", "not slow")),
    ("pytest -q -v -x -s -l --tb=short --maxfail 1 -rA tests", VENV, ("tests",)),
    ("pytest -xvs tests", VENV, ("tests",)),
    ("pytest --tb short --no-header --color=yes tests", VENV, ("tests",)),
    ("py.test tests", VENV, ("tests",)),
    ("python -m pytest tests", VENV, ("tests",)),
    ("python3 -m pytest tests", VENV, ("tests",)),
    ("python3.12 -m pytest tests", VENV, ("tests",)),
    (".venv/bin/python -m pytest tests", VENV, ("tests",)),
    ("./.venv/bin/python3 -m pytest tests", VENV, ("tests",)),
    (".venv/bin/pytest tests", VENV, ("tests",)),
    ("uv run pytest tests", VENV, ("tests",)),
    ("uv run --frozen -- python -m pytest tests", VENV, ("tests",)),
    ("poetry run pytest tests", VENV, ("tests",)),
    ("  pytest\ttests  ", VENV, ("tests",)),
    ("tox -q -e py -- tests", TOX, ("tests",)),
    ("tox -q -e py", TOX, ()),
    ("uv run --extra test pytest -n 4 tests --strict-markers -m 'not slow'", CONFIGURED, ()),
    ("uv run --extra test pytest -n 4 --strict-markers -m 'not slow' tests/test_a.py", CONFIGURED, ("tests/test_a.py",)),
    ("uv run --extra test pytest -n 4 tests --strict-markers -m 'not slow' -k x", CONFIGURED, ("-k", "x")),
    ("pytest tests/test_a.py", CONFIGURED, ("tests/test_a.py",)),
)  # fmt: skip


@pytest.mark.parametrize(("command", "base", "selectors"), ALLOWED)
def test_a_call_of_the_projects_runner_with_selectors_is_taken(command: str, base: Command, selectors: tuple[str, ...]) -> None:
    assert refuse(command, base) is None
    assert PYTEST.parse(command, base).selectors == selectors


REFUSED = (
    ("", "the command is empty"),
    ("   ", "the command is empty"),
    ("true", "`true` is not a call of the project's test runner"),
    ("false", "`false` is not a call"),
    (":", "`:` is not a call"),
    ("echo 5 passed", "`echo` is not a call"),
    ("echo pytest", "`echo` is not a call"),
    ("make test", "`make` is not a call"),
    ("python -c 'import pytest'", "`python` is not a call"),
    ("python -m unittest", "`python` is not a call"),
    ("python -X dev -m pytest", "`python` is not a call"),
    ("python run.py pytest", "`python` is not a call"),
    ("/usr/bin/pytest tests", "`/usr/bin/pytest` is not a call"),
    ("../pytest tests", "`../pytest` is not a call"),
    ("tools/pytest tests", "`tools/pytest` is not a call"),
    ("env pytest", "`env` is not a call"),
    ("sh -c pytest", "`sh` is not a call"),
    ("timeout 5 pytest", "`timeout` is not a call"),
    ("uv run python x.py", "`uv` is not a call"),
    ("uv run --with evil pytest", "`uv` is not a call"),
    ("npx pytest", "`npx` is not a call"),
    ("FOO=1 pytest tests", "`FOO=1` sets an environment variable"),
    ("PYTEST_ADDOPTS=--co pytest", "sets an environment variable"),
    ("pytest; true", "`;` chains commands"),
    ("pytest && true", "`&` chains commands"),
    ("pytest || true", "`|` chains commands"),
    ("pytest | tee log", "`|` chains commands"),
    ("pytest &", "`&` chains commands"),
    ("pytest > out", "`>` redirects"),
    ("pytest 2>&1", "`>` redirects"),
    ("pytest < in", "`<` redirects"),
    ("pytest $(echo tests)", "`$` is expanded by a shell"),
    ('pytest "$HOME"', "`$` is expanded by a shell"),
    ('pytest "`id`"', "a backtick runs another command"),
    ("pytest `id`", "a backtick runs another command"),
    ("(pytest)", "`(` starts a subshell"),
    ("pytest tests/test_*.py", "`*` is expanded by a shell"),
    ("pytest tests\ntrue", "a line break or control character"),
    ("pytest 'tests\n'", "a line break or control character"),
    ("pytest tests\x00", "a line break or control character"),
    ("pytest 'tests", "cannot be split into words (no closing quotation)"),
    ("pytest " + "a" * 10_000, "characters"),
    ("pytest -p no:junitxml", "the option -p can change the result"),
    ("pytest -pno:junitxml", "the option -p can"),
    ("pytest -c other.ini", "the option -c can"),
    ("pytest -o addopts=", "the option -o can"),
    ("pytest --override-ini=addopts=", "the option --override-ini can"),
    ("pytest --ignore=tests/test_a.py", "the option --ignore can"),
    ("pytest --ignore-glob x", "the option --ignore-glob can"),
    ("pytest --deselect tests/test_a.py::test_x", "the option --deselect can"),
    ("pytest --co", "the option --co can"),
    ("pytest --collect-only", "the option --collect-only can"),
    ("pytest --rootdir=/tmp", "the option --rootdir can"),
    ("pytest --junitxml=x.xml", "the option --junitxml can"),
    ("pytest --junit-xml x.xml", "the option --junit-xml can"),
    ("pytest --import-mode=importlib", "the option --import-mode can"),
    ("pytest -n 4", "the option -n can"),
    ("pytest --confcutdir=.", "the option --confcutdir can"),
    ("pytest --noconftest", "the option --noconftest can"),
    ("pytest --cov=src", "the option --cov can"),
    ("pytest --pyargs os", "the option --pyargs can"),
    ("pytest -W ignore", "the option -W can"),
    ("pytest --lf", "the option --lf can"),
    ("pytest --runxfail", "the option --runxfail can"),
    ("pytest --pdb", "the option --pdb can"),
    ("pytest --help", "the option --help can"),
    ("pytest -h", "the option -h can"),
    ("pytest --version", "the option --version can"),
    ("pytest -xh", "the option -h can"),
    ("pytest --", "the option -- can"),
    ("pytest -", "`-` is not a selector"),
    ("pytest -k", "the option -k has no value"),
    ("pytest -k ''", "the option -k has no value"),
    ("pytest -k -x", "the option -k has no value"),
    ("pytest -k=-x", "the option -k has no value"),
    ("pytest --tb", "the option --tb has no value"),
    ("pytest /etc", "`/etc` is not a path inside the project"),
    ("pytest ~/tests", "`~/tests` is not a path inside"),
    ("pytest @arguments.txt", "`@arguments.txt` is not a path inside"),
    ("pytest ../other", "`../other` leaves the project"),
    ("pytest tests/../../x::test_a", "leaves the project"),
    ("pytest ::test_a", "`::test_a` does not name a file"),
)  # fmt: skip


@pytest.mark.parametrize(("command", "fault"), REFUSED)
def test_anything_else_is_refused_naming_what_is_allowed(command: str, fault: str) -> None:
    sentence = refuse(command, VENV)
    assert sentence is not None
    assert fault in sentence
    assert (
        "use one call of the project's own test runner: `.venv/bin/python -m pytest` with test files, folders, node ids, -k or -m"
        in sentence
    )
    assert "\n" not in sentence


def test_without_a_framework_any_command_is_taken_but_an_empty_one() -> None:
    assert refuse("make check && true", None) is None
    assert "use `make test` (only its exit code is read)" in str(refuse("true", Command(("sh", "-c", "make test"))))
    assert refuse(" ", None) is not None


# How a project is recognised.


class Small:
    """A project that consists of names and texts, on a machine with certain programs."""

    def __init__(self, files: dict[str, str], programs: dict[str, str] | None = None) -> None:
        self.files = files
        self.programs = {"python3": "/usr/bin/python3"} if programs is None else programs

    def exists(self, path: str) -> bool:
        return path in self.files

    def read(self, path: str) -> str | None:
        return self.files.get(path)

    def paths(self) -> Iterator[str]:
        return iter(self.files)

    def which(self, name: str) -> str | None:
        return self.programs.get(name)


PIP = {"python3": "/usr/bin/python3", "pytest": "/usr/bin/pytest", "uv": "/bin/uv", "tox": "/bin/tox"}
LOCK = '[[package]]\nname = "pytest"\nversion = "9"\n'
TOX_INI = "[testenv]\ndeps = pytest\ncommands =\n    pytest {posargs}\n"
OWN = {".venv/bin/python": "", ".venv/bin/pytest": ""}


@pytest.mark.parametrize(
    ("files", "programs", "call", "source"),
    [
        ({"pytest.ini": "", **OWN, "uv.lock": LOCK}, PIP, ".venv/bin/python -m pytest", "environment"),
        ({"setup.py": "", "venv/bin/python": "", "venv/bin/pytest": ""}, PIP, "venv/bin/python -m pytest", "environment"),
        ({"setup.py": "", ".venv/bin/python": ""}, PIP, "python3 -m pytest", "path"),
        ({"pyproject.toml": "", "uv.lock": LOCK}, PIP, "uv run --frozen python -m pytest", "uv"),
        ({"pyproject.toml": "", "uv.lock": 'name = "pytester"'}, PIP, "python3 -m pytest", "path"),
        ({"pyproject.toml": "", "uv.lock": LOCK}, None, "python3 -m pytest", "path"),
        ({"tox.ini": TOX_INI}, PIP, "tox -q -e py --", "tox"),
        ({"tox.ini": TOX_INI}, None, "python3 -m pytest", "path"),
        ({"tox.ini": "[testenv]\ncommands = pytest\n"}, PIP, "python3 -m pytest", "path"),
        ({"tox.ini": "[pytest]\n[testenv\n"}, PIP, "python3 -m pytest", "path"),
        ({"conftest.py": ""}, {"python3": "/usr/bin/python3", "pytest": "/root/.local/bin/pytest"}, "pytest", "path"),
        ({"conftest.py": ""}, {"pytest": "/opt/bin/pytest"}, "pytest", "path"),
        ({"setup.cfg": "[tool:pytest]\n"}, PIP, "python3 -m pytest", "path"),
        ({"src/deep/test_a.py": ""}, PIP, "python3 -m pytest", "path"),
        ({"a_test.py": ""}, {}, "python3 -m pytest", "path"),
    ],
)
def test_a_project_that_uses_pytest_is_recognised(files: dict[str, str], programs: dict[str, str] | None, call: str, source: str) -> None:
    found = find_command(Small(files, programs))
    assert found is not None
    assert (found.text, found.source, found.runner) == (call, source, "pytest")


@pytest.mark.parametrize("files", [{}, {"main.go": ""}, {"setup.cfg": "[metadata]\n"}, {"tox.ini": "[testenv]\n"}, {"testing.py": ""}])
def test_a_project_without_a_sign_of_pytest_is_not(files: dict[str, str]) -> None:
    assert find_command(Small(files, PIP)) is None


@pytest.mark.parametrize(
    ("configured", "runner", "paths"),
    [
        ("pytest", "pytest", ()),
        ("pytest -q tests unit", "pytest", ("tests", "unit")),
        ("python -X dev -m pytest --strict-markers tests", "pytest", ("tests",)),
        ("coverage run -m pytest tests", "pytest", ("tests",)),
        ("uv run --with pytest pytest tests", "pytest", ("tests",)),
        ("/opt/venv/bin/pytest --cov src tests", "pytest", ("tests",)),
        ("env A=1 pytest", "pytest", ()),
        ("tox -q -e py --", "pytest", ()),
        ("tox", "", ()),
        ("make pytest", "", ()),
        ("echo pytest", "", ()),
        ("cd sub && pytest", "", ()),
        ("A=1 pytest", "", ()),
        ("npm test", "", ()),
    ],
)
def test_a_configured_command_is_adopted_when_it_surely_calls_pytest(configured: str, runner: str, paths: tuple[str, ...]) -> None:
    found = find_command(Small({"pytest.ini": "", **OWN}), configured)
    assert found is not None
    assert (found.runner, found.paths, found.source) == (runner, paths, "configured")
    assert found.argv == (tuple(shlex.split(configured)) if runner else ("sh", "-c", configured))


def test_what_is_detected_is_adopted_again_when_it_is_written_down() -> None:
    for files in ({"pytest.ini": "", **OWN}, {"pyproject.toml": "", "uv.lock": LOCK}, {"tox.ini": TOX_INI}, {"setup.py": ""}):
        found = find_command(Small(files, PIP))
        assert found is not None
        again = find_command(Small({}), found.text)
        assert again is not None
        assert (again.argv, again.runner, again.paths) == (found.argv, found.runner, ())


@pytest.mark.parametrize(
    ("path", "sort"),
    [
        ("tests/test_a.py", "test"), ("test_a.py", "test"), ("src/pkg/a_test.py", "test"), ("app/tests.py", "test"), ("tests/teams.py", "test"),
        ("tests/data/a.json", "test"), ("pkg/test/x.txt", "test"), ("conftest.py", "config"), ("tests/conftest.py", "config"),
        ("pytest.ini", "config"), ("sub/pyproject.toml", "config"), ("setup.cfg", "config"), ("tox.ini", "config"), (".coveragerc", "config"),
        ("src/sitecustomize.py", "config"), ("usercustomize.py", "config"), (".github/workflows/ci.yml", "config"), (".gitlab-ci.yml", "config"),
        ("detent.toml", "config"), ("pytest.py", "config"), ("_pytest/junitxml.py", "config"), ("pytest/__init__.py", "config"),
        ("src/a.py", ""), ("testing.py", ""), ("src/contest.py", ""), ("latest.py", ""), ("docs/test_plan.md", ""), ("src/pytest.py", ""),
    ],
)  # fmt: skip
def test_tests_and_configuration_are_told_from_the_rest(path: str, sort: str) -> None:
    assert (PYTEST.is_test(path), PYTEST.is_config(path)) == (sort == "test", sort == "config")


def test_a_folder_shows_its_files_but_neither_hidden_folders_nor_dependencies(tmp_path: Path) -> None:
    write(tmp_path, {"a/test_a.py": "x", ".venv/lib/test_b.py": "", "node_modules/test_c.py": "", "z.txt": ""})
    folder = Folder(tmp_path, str(tmp_path))
    assert sorted(folder.paths()) == ["a/test_a.py", "z.txt"]
    assert (folder.exists("a"), folder.exists("b"), folder.read("a/test_a.py"), folder.read("a")) == (True, False, "x", None)
    assert folder.which("sh") is None


def test_words_are_split_as_a_shell_would() -> None:
    assert split_words(r"""pytest 'a b' "c d" e\ f \;g""") == (("pytest", "a b", "c d", "e f", ";g"), "")


def test_of_a_crash_only_the_frames_of_the_project_are_kept() -> None:
    said = 'Fatal Python error: Segmentation fault\n  File "/tmp/x/tests/test_a.py", line 3 in test_a\n  File "/usr/lib/python3.11/runpy.py", line 9 in run\n'
    with pytest.raises(CannotTell) as told:
        PYTEST.read(None, 139, f'{said}  File "<frozen runpy>", line 88 in _run_code\n\nExtension modules: _cffi_backend (total: 1)\n')
    assert "line 3 in test_a" in str(told.value) and "runpy" not in str(told.value) and "_cffi" not in str(told.value)
