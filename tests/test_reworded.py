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


CASES = "import pytest\nfrom calc import add\n\nTABLE = [(1, 2)]\n\n\n@pytest.mark.parametrize(('a', 'b'), [(1, 1), (2, 2)])\ndef test_same(a, b):\n    assert a == b\n"
IDLE = "def idle(f):\n    return lambda: None\n\n\n"


@pytest.mark.parametrize(
    ("change", "names"),
    [
        (lambda text: text + NEW, ()),
        (lambda text: text.replace("import add", "import add, subtract") + NEW, ()),
        (lambda text: text.replace("from calc import add", "from calc import (\n    add,\n    subtract,\n)") + NEW, ()),
        (lambda text: "import os\nimport os.path\nfrom pathlib import Path\n" + text + NEW, ()),
        (lambda text: "# a comment\n" + text.replace("  assert add(1", "  # three\n    assert add(1"), ()),
        (lambda text: text + "\n    def test_more(self):\n        assert add(1, 1) == 2\n", ()),
        (lambda text: text + "\n\nclass TestOther:\n    def test_zero(self):\n        assert 0\n", ()),
        (lambda text: "def test_add(:\n", ()),
        (lambda text: text.replace("== 3", "!= 4"), ("test_add",)),
        (lambda text: text.replace("assert add(0, 0) == 0", "pass"), ("TestMore::test_zero",)),
        (lambda text: text + "\n\ndef test_add():\n    pass\n", ("test_add",)),
        (lambda text: text.replace("def test_add():", "def test_add(add):"), ("test_add",)),
        (lambda text: text.replace("def test_add", "def test_other"), ("test_add",)),
        (lambda text: text.replace("def test_add", f"{IDLE}@idle\ndef test_add"), ("test_add",)),
        (lambda text: text.replace("def test_add", "@pytest.mark.skip\ndef test_add"), ("test_add",)),
        (lambda text: text + "\n\ndef fine():\n    pass\n\n\ntest_add = fine\n", ("test_add",)),
        (lambda text: text + "\n\nTestMore.test_zero = lambda self: None\n", ("TestMore",)),
        (lambda text: text + "\n\nfor test_add in [print]:\n    pass\n", ("test_add",)),
        (lambda text: text + "\n\nif True:\n    def test_add():\n        pass\n", ("test_add",)),
        (lambda text: text + "\n\nglobals()['test_' + 'add'] = print\n", ("line 13",)),
        (lambda text: text + "\n\nx = setattr(TestMore, 'test_zero', print)\n", ("line 13",)),
        (lambda text: text + "\n\nprint('loaded')\n", ("line 13",)),
        (lambda text: text.replace("from calc import add", "add = lambda a, b: 3"), ("add",)),
        (lambda text: text.replace("from calc import add", "from calc import add\nfrom easy import add"), ("add",)),
        (lambda text: text.replace("from calc import add", "from calc import add, three as add"), ("add",)),
        (lambda text: text + "\n\ndef add(a, b):\n    return 3\n", ("add",)),
        (lambda text: text + "\n    def setup_method(self):\n        self.x = 1\n", ("TestMore::setup_method",)),
        (lambda text: text + "\n\npytestmark = []\n", ("pytestmark",)),
        (lambda text: text + "\n\n@pytest.fixture(autouse=True)\ndef quiet():\n    yield\n", ("quiet",)),
        (lambda text: text.replace("class TestMore:", "class TestMore(Other):"), ("TestMore", "TestMore")),
    ],
)
def test_a_file_is_reworded_if_what_was_there_says_something_else_or_is_bound_anew(change, names: tuple[str, ...]) -> None:  # type: ignore[no-untyped-def]
    assert reworded("tests/test_calc.py", OLD, change(OLD)) == tuple(sorted({f"::{name}" for name in names}))


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("(2, 2)])", "(2, 2), (3, 3)])", True),
        ("[(1, 1), ", "[(0, 0), (1, 1), ", True),
        ("[(1, 2)]", "[(1, 2), (3, 4)]", True),
        ("(1, 1), ", "", False),
        ("(2, 2)])", "(2, 2)], ids=['a', 'b'])", False),
        ("[(1, 2)]", "[(1, 3)]", False),
        ("('a', 'b')", "('a', 'b', 'c')", True),
    ],
)
def test_a_table_may_get_rows_and_lose_none(old: str, new: str, same: bool) -> None:
    assert (reworded("tests/test_calc.py", CASES, CASES.replace(old, new)) == ()) == same


GO = """package a

import "testing"

func TestDouble(t *testing.T) {
\tcases := []struct{ in, want int }{
\t\t{1, 2},
\t}
\tfor _, c := range cases {
\t\tif Double(c.in) != c.want {
\t\t\tt.Fatal("no")
\t\t}
\t}
}
"""
JS = 'import test from "node:test";\nimport { double } from "../a.mjs";\n\ndescribe("numbers", () => {\n  test("double", () => {\n    assert.equal(double(2), 4);\n  });\n});\n'
RB = 'require "a"\n\nRSpec.describe "double" do\n  it "doubles" do\n    expect(A.double(2)).to eq(4)\n  end\nend\n'


@pytest.mark.parametrize(
    ("path", "text", "old", "new", "says"),
    [
        ("a_test.go", GO, "{1, 2},\n", "{1, 2},\n\t\t{2, 4},\n", ""),
        ("a_test.go", GO, 'import "testing"', 'import (\n\t"fmt"\n\t"testing"\n)', ""),
        ("a_test.go", GO, "\t}\n}\n", "\t}\n}\n\nfunc TestMore(t *testing.T) {\n\tClamp(1)\n}\n", ""),
        ("a_test.go", GO, "Double(c.in) != c.want", "Double(c.in) == -1", ":10 (`if Double(c.in) != c.want {` is gone)"),
        ("a_test.go", GO, "T) {\n", "T) {\nreturn\n", ":6 (`return` came into a test)"),
        ("a_test.go", GO, "{1, 2},\n", "", "`{1, 2},` is gone"),
        ("a.test.mjs", JS, "{ double }", "{ clamp, double }", ""),
        ("a.test.mjs", JS, "  });\n});", "  });\n  test('clamp', () => {\n    assert.equal(clamp(1), 1);\n  });\n});", ""),
        ("a.test.mjs", JS, "{ double }", "{\n  clamp,\n  double,\n}", ""),
        ("a.test.mjs", JS, "{ double }", "{ double as other, four as double }", "is gone"),
        ("a.test.mjs", JS, '"../a.mjs";', '"../easy.mjs"; // from "../a.mjs";', "is gone"),
        ("a.test.mjs", JS, "double(2), 4", "4, 4", "is gone"),
        ("a.test.mjs", JS, 'import { double } from "../a.mjs"', "const double = () => 4", "is gone"),
        ("a.test.mjs", JS, '{ double } from "../a.mjs"', '{ double } from "../easy.mjs"', "is gone"),
        ("a.test.mjs", JS, "() => {\n    assert", "() => {\nreturn;\n    assert", "came into a test"),
        ("a_spec.rb", RB, "  end\nend\n", '  end\n\n  it "clamps" do\n    expect(A.clamp(1)).to eq(1)\n  end\nend\n', ""),
        ("a_spec.rb", RB, "A.double(2)", "4", "is gone"),
        ("a_spec.rb", RB, "do\n    expect", "do\nnext\n    expect", "came into a test"),
    ],
)
def test_in_other_languages_lines_may_come_outside_of_older_tests_and_none_may_go(
    path: str, text: str, old: str, new: str, says: str
) -> None:
    assert old in text
    found = reworded(path, text, text.replace(old, new, 1))
    assert (says in " ".join(found)) if says else found == (), found


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
