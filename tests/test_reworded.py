"""Tests that a RED step finds are left as they are: what counts as a change, and that the gate says so."""

import pytest

from detent.evidence.look import TestReport
from detent.evidence.reworded import reworded
from detent.gates.tests import others_pass, others_unchanged
from detent.kernel.model import Run
from detent.workflows.pr_data import PrData
from tests.looks import LiteralLook

OLD = "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n\n\nclass TestMore:\n    def test_zero(self):\n        assert add(0, 0) == 0\n"
NEW = "\n\ndef test_subtract():\n    assert subtract(3, 2) == 1\n"


@pytest.mark.parametrize(
    ("change", "names"),
    [
        (lambda text: text + NEW, ()),
        (lambda text: text.replace("import add", "import add, subtract") + NEW, ()),
        (lambda text: text.replace("def test_add", "@pytest.mark.parametrize('n', [1])\ndef test_add"), ()),
        (lambda text: "# a comment\n" + text.replace("  assert add(1", "  # three\n    assert add(1"), ()),
        (lambda text: text.replace("== 3", "!= 4"), ("test_add",)),
        (lambda text: text.replace("assert add(0, 0) == 0", "pass"), ("TestMore::test_zero",)),
        (lambda text: text + "\n\ndef test_add():\n    pass\n", ("test_add",)),
        (lambda text: text.replace("def test_add():", "def test_add(add):"), ("test_add",)),
        (lambda text: text.replace("def test_add", "def test_other"), ("test_add",)),
        (lambda text: "def test_add(:\n", ()),
    ],
)
def test_a_test_is_reworded_if_its_arguments_or_its_body_say_something_else(change, names: tuple[str, ...]) -> None:  # type: ignore[no-untyped-def]
    assert reworded("tests/test_calc.py", OLD, change(OLD)) == names
    assert reworded("tests/calc.test.js", OLD, change(OLD)) == ()


def test_the_gate_names_what_was_reworded() -> None:
    run = Run("r", "pr", "EXECUTING_TDD", 1, PrData())
    assert others_unchanged(LiteralLook(run)) is None
    said = others_unchanged(LiteralLook(run, said_anew=("tests/test_calc.py::test_add",)))
    assert said is not None and "tests/test_calc.py::test_add was changed; a RED step adds tests" in said


def test_a_test_that_ran_before_and_is_skipped_now_is_named() -> None:
    run = Run("r", "pr", "EXECUTING_TDD", 1, PrData())
    before = TestReport({"a": "passed", "b": "skipped"})
    said = others_pass(LiteralLook(run, before=before, now=TestReport({"a": "skipped", "b": "skipped", "c": "failed"})))
    assert said == "a ran before and is skipped now"
    assert others_pass(LiteralLook(run, before=before, now=TestReport({"a": "passed", "b": "skipped", "c": "skipped"}))) is None


def test_tests_that_wait_for_a_name_with_others_of_their_file_are_not_lost() -> None:
    run = Run("r", "pr", "EXECUTING_TDD", 1, PrData())
    before = TestReport({"t.py::a": "passed", "u.py::b": "passed"}, files={"t.py::a": "t.py", "u.py::b": "u.py"})
    waiting = TestReport({"t.py": "error", "u.py::b": "passed"}, files={"t.py": "t.py", "u.py::b": "u.py"}, missing_names=("t.py",))
    assert others_pass(LiteralLook(run, before=before, now=waiting)) is None
    gone = TestReport({"u.py::b": "passed"}, files={"u.py::b": "u.py"})
    assert others_pass(LiteralLook(run, before=before, now=gone)) == "t.py::a is no longer collected"
