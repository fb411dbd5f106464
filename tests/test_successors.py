"""Tests that are gone, and those that say under other words what they said. Tests that only wanted more time."""

from typing import cast

import pytest

from detent.errors import CannotTell
from detent.evidence.outcomes.outcomes import compare
from detent.evidence.outcomes.reasons import Reason, reason
from detent.evidence.outcomes.settle import settled
from detent.evidence.outcomes.successors import in_its_place, successors_by_words
from detent.evidence.report import Outcome, TestReport
from detent.evidence.source.diff import Changed
from detent.evidence.source.test_blocks import blocks

JS = """describe('parse', () => {
  it('throws on an open group', () => { expect(() => parse('/{:foo,')).toThrow(new PathError('Unexpected end at 7', '/{:foo,')) })
  it('throws on an open group in a group', () => { expect(() => parse('/{a/{b')).toThrow(new PathError('Unexpected end at 6', '/{a/{b')) })
})
"""
JS_TABLE = """describe('parse', () => {
  it.each(['/{', '/{:foo,', '/{a/{b'])('throws on an open group: %s', (path) => {
    expect(() => parse(path)).toThrow(new PathError(`Unexpected end at ${path.length}`, path))
  })
})
"""
LOST = ("a.test.js::parse > throws on an open group", "a.test.js::parse > throws on an open group in a group")
ROWS = frozenset(f"a.test.js::parse > throws on an open group: {row}" for row in ("/{", "/{:foo,", "/{a/{b"))
PY = "def test_one():\n    assert half(4) == 2\n\n\ndef test_two():\n    assert half(6) == 3\n"
PY_TABLE = "import pytest\n\n\n@pytest.mark.parametrize(('n', 'half_of_it'), [(4, 2), (6, 3)])\ndef test_halves(n, half_of_it):\n    assert half(n) == half_of_it\n"
GO = 'func TestOne(t *testing.T) {\n\tif Half(4) != 2 {\n\t\tt.Error("no")\n\t}\n}\n'
GO_TABLE = (
    "func TestHalves(t *testing.T) {\n\tfor _, c := range []struct{ n, want int }{{4, 2}, {6, 3}} {\n\t\tif Half(c.n) != c.want {\n"
    '\t\t\tt.Error("no")\n\t\t}\n\t}\n}\n'
)
OTHER = "def test_thirds():\n    assert third(9) == 3\n"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.test.js", "it('NAME', () => {\n  expect(half(4)).toBe(2)\n})\n"),
        ("a_test.go", "func TestNAME(t *testing.T) {\n\tcheck(t, Half(4), 2)\n}\n"),
        ("tests/a.rs", "#[test]\nfn NAME() {\n    assert_eq!(half(4), 2);\n}\n"),
        ("t.py", "def test_NAME():\n    assert half(4) == 2\n"),
    ],
)
def test_a_test_says_the_same_under_another_name(path: str, text: str) -> None:
    one, other = (list(blocks(path, text.replace("NAME", name)).values()) for name in ("halves", "is_half"))
    assert one == other and len(one) == 1


def test_tests_of_javascript_became_rows_of_a_table() -> None:
    assert successors_by_words("a.test.js", JS, JS_TABLE, LOST, ROWS) == dict.fromkeys(LOST, ROWS)


@pytest.mark.parametrize(
    ("path", "old", "new", "lost", "came"),
    [
        ("t.py", PY, PY_TABLE, "t.py::test_two", "t.py::test_halves[6-3]"),
        ("a_test.go", GO, GO_TABLE, "a_test.go::TestOne", "a_test.go::TestHalves"),
        ("t.py", PY, PY.replace("test_two", "test_six") + "    assert half(8) == 4\n", "t.py::test_two", "t.py::test_six"),
    ],
)
def test_a_test_is_taken_over_by_one_that_says_the_same(path: str, old: str, new: str, lost: str, came: str) -> None:
    assert successors_by_words(path, old, new, [lost], {came}) == {lost: frozenset({came})}


@pytest.mark.parametrize(
    ("path", "old", "new", "lost", "passing"),
    [
        (
            "t.py",
            PY,
            PY.split("\n\n\n")[0] + "\n\n\n" + OTHER,
            "t.py::test_two",
            {"t.py::test_one", "t.py::test_thirds"},
        ),  # of something else
        ("t.py", PY, PY.split("\n\n\n")[0] + "\n", "t.py::test_two", {"t.py::test_one"}),  # an older one is no successor
        ("t.py", PY, PY_TABLE, "t.py::test_two", set()),  # what does not pass is none either
        ("t.py", PY, PY_TABLE.replace("(4, 2), (6, 3)", "(10, 5)"), "t.py::test_two", {"t.py::test_halves[10-5]"}),  # its values are gone
        ("a.test.js", JS, JS_TABLE.replace("parse(path)", "compile(path)").replace("toThrow", "toBe"), LOST[0], ROWS),
    ],
)
def test_no_other_test_takes_over(path: str, old: str, new: str, lost: str, passing: set[str]) -> None:
    assert successors_by_words(path, old, new, [lost], passing) == {}


def test_a_file_of_python_that_cannot_be_parsed_has_no_successors_in_it() -> None:
    new = PY.replace("test_two", "test_six")
    assert successors_by_words("t.py", PY, new, ["t.py::test_two"], {"t.py::test_six"}) == {"t.py::test_two": {"t.py::test_six"}}
    for old, now in ((PY, f"{new}\ndef test_x(:\n"), (f"{PY}\ndef test_x(:\n", new), (PY, f"{new}\0")):
        assert successors_by_words("t.py", old, now, ["t.py::test_two"], {"t.py::test_six"}) == {}


PLACED = (
    b"--- a/t.py\n+++ b/t.py\n@@ -1,2 +1,2 @@\n-def test_one():\n-    assert half(4) == 2\n+def test_two():\n+    assert half(4) == 2.0\n"
)


@pytest.mark.parametrize(
    ("old", "new", "is_there"),
    [
        ("t.py::test_one", "t.py::test_two", True),
        ("t.py::test_other", "t.py::test_two", False),
        ("t.py::test_one", "t.py::test_other", False),
        ("u.py::test_one", "t.py::test_two", False),
        ("t.py::test_one", "u.py::test_two", False),
    ],
)
def test_a_test_whose_first_lines_became_those_of_another_is_shown_with_both(old: str, new: str, is_there: bool) -> None:
    both = ("def test_one():\n    assert half(4) == 2", "def test_two():\n    assert half(4) == 2.0")
    assert in_its_place(PLACED, old, new) == (both if is_there else None)


class BusyMachine:
    """Two tests that passed before and fail now; alone, the first of them passes."""

    before = TestReport(outcomes={"a.py::slow": "passed", "a.py::wrong": "passed"})
    now = TestReport(
        outcomes={"a.py::slow": "failed", "a.py::wrong": "failed"},
        messages={"a.py::slow": "Test timed out in 5000ms.", "a.py::wrong": "assert 1 == 2"},
        kinds={"a.py::slow": "Error", "a.py::wrong": "AssertionError"},
    )

    def __init__(self) -> None:
        self.asked: list[set[str]] = []

    def tests(self) -> TestReport:
        return self.now

    def tests_before(self) -> TestReport:
        return self.before

    def again(self, tests: frozenset[str], watched: bool = True) -> TestReport:
        self.asked.append(set(tests))
        return TestReport(outcomes={test: "failed" if test.endswith("wrong") else "passed" for test in sorted(tests)})

    def changed(self) -> tuple[Changed, ...]:
        return ()

    def read(self, path: str) -> str | None:
        return None

    def why(self, test: str) -> Reason:
        return reason(self.now, test, lambda path: True, lambda module: False)


def test_a_test_that_only_wanted_more_time_is_not_broken() -> None:
    eyes = BusyMachine()
    seen = settled(compare(eyes.before, eyes.now), eyes, eyes.why)
    assert (set(seen.regressions), set(seen.kept)) == ({"a.py::wrong"}, {"a.py::slow"})
    assert eyes.asked == [{"a.py::slow"}, {"a.py::wrong"}]


class Interrupted(BusyMachine):
    """Every test passes when it is run again, until none can be run any more."""

    def __init__(self, runs: int, before: TestReport | None = None, now: TestReport | None = None) -> None:
        super().__init__()
        self.runs, self.before, self.now = runs, before or self.before, now or self.now

    def again(self, tests: frozenset[str], watched: bool = True) -> TestReport:
        self.asked.append(set(tests))
        if len(self.asked) > self.runs:
            raise CannotTell("the tests cannot be run now")
        return TestReport(outcomes=dict.fromkeys(sorted(tests), "passed"))


@pytest.mark.parametrize(
    ("runs", "broken", "kept", "flaky"),
    [
        (0, {"slow", "wrong"}, set(), set()),
        (1, {"wrong"}, {"slow"}, set()),
        (2, {"wrong"}, {"slow"}, set()),
        (3, {"wrong"}, {"slow"}, set()),
        (4, set(), {"slow"}, {"wrong"}),
    ],
)
def test_a_test_that_broke_stays_broken_where_it_cannot_be_run_as_often_as_it_takes(
    runs: int, broken: set[str], kept: set[str], flaky: set[str]
) -> None:
    eyes = Interrupted(runs)
    seen = settled(compare(eyes.before, eyes.now), eyes, eyes.why)
    assert [{test.removeprefix("a.py::") for test in ids} for ids in (seen.regressions, seen.kept, seen.flaky)] == [broken, kept, flaky]


class Drawn(Interrupted):
    """Tests whose ids are drawn by lot in every run."""

    def again(self, tests: frozenset[str], watched: bool = True) -> TestReport:
        super().again(tests)
        return TestReport({"a.py::test_row[m5]": "passed"}, {"a.py::test_row[m5]": "a.py"})


@pytest.mark.parametrize(("runs", "lost"), [(1, set()), (0, {"a.py::test_row[q1]"})], ids=["it can be run again", "it cannot"])
def test_a_test_that_is_gone_is_lost_unless_another_run_of_the_tree_shows_that_its_id_is_drawn(runs: int, lost: set[str]) -> None:
    both = ("a.py::test_row[k7]", "a.py::test_row[q1]")
    before = TestReport(dict.fromkeys(both, "passed"), dict.fromkeys(both, "a.py"))
    eyes = Drawn(runs, before, TestReport({"a.py::test_row[z3]": "passed"}, {"a.py::test_row[z3]": "a.py"}))
    assert settled(compare(eyes.before, eyes.now), eyes, eyes.why).lost == lost
    assert eyes.asked == [{"a.py::test_row[z3]"}]


def test_tests_whose_file_is_gone_are_lost_without_another_run() -> None:
    before = TestReport({"a.py::test_a": "passed", "b.py::test_b": "passed"})
    eyes = Interrupted(1, before, TestReport({"b.py::test_b": "passed"}))
    assert settled(compare(eyes.before, eyes.now), eyes, eyes.why).lost == {"a.py::test_a"}
    assert eyes.asked == []


class Loaded(BusyMachine):
    """Tests that one file says and another one loads, which is what the report names."""

    def __init__(self, old: str, new: str, was: str, now: str) -> None:
        super().__init__()
        self.texts = {"GOOD:test/more/a.js": old, "test/more/a.js": new}
        self.before = TestReport(outcomes={f"test/all.js::{was}": "passed"}, files={f"test/all.js::{was}": "test/all.js"})
        self.now = TestReport(outcomes={f"test/all.js::{now}": "passed"}, files={f"test/all.js::{now}": "test/all.js"})

    def changed(self) -> tuple[Changed, ...]:
        return (Changed("test/more/a.js", "modified", "test"),)

    def read(self, path: str) -> str | None:
        return self.texts.get(path)


OLDER = {
    "a module that skips itself": (
        "tests/test_a.py",
        "import pytest\n\n\ndef test_half():\n    assert half(4) == 2\n",
        ("import pytest\n", "import pytest\n\npytest.importorskip('extras')\n"),
        {"tests/test_a.py": "skipped"},
    ),
    "tests that are not collected": (
        "tests/test_a.py",
        "def test_half():\n    assert half(4) == 2\n\n\ndef test_third():\n    assert third(9) == 3\n",
        ("def test_third", "del test_half\n\n\ndef test_third"),
        {"tests/test_a.py::test_third": "passed"},
    ),
    "a comment around it": (
        "test/a.test.js",
        "it('test_half', () => {\n  equal(half(4), 2)\n})\nit('thirds', () => {\n  equal(third(9), 3)\n})\n",
        ("it('test_half'", "/*\nit('test_half'"),
        {"test/a.test.js::thirds": "passed"},
    ),
    "below the end of a file": (
        "spec/a_spec.rb",
        "it 'thirds' do\n  expect(third(9)).to eq(3)\nend\nit 'test_half' do\n  expect(half(4)).to eq(2)\nend\n",
        ("it 'test_half'", "__END__\nit 'test_half'"),
        {"spec/a_spec.rb::thirds": "passed"},
    ),
}


class Older(BusyMachine):
    """One file of tests that was changed."""

    def __init__(self, path: str, text: str, edit: tuple[str, str], now: dict[str, str]) -> None:
        super().__init__()
        self.path, self.texts = path, {f"GOOD:{path}": text, path: text.replace(*edit)}
        ids = [f"{path}::test_half", *(test for test in now if "third" in test)]
        self.before = TestReport(dict.fromkeys(ids, "passed"), dict.fromkeys(ids, path))
        self.now = TestReport({test: cast(Outcome, how) for test, how in now.items()}, dict.fromkeys(now, path))

    def changed(self) -> tuple[Changed, ...]:
        return (Changed(self.path, "modified", "test"),)

    def read(self, path: str) -> str | None:
        return self.texts.get(path)


@pytest.mark.parametrize("name", OLDER)
def test_a_test_whose_words_stand_where_nothing_runs_them_is_lost(name: str) -> None:
    eyes = Older(*OLDER[name])
    assert settled(compare(eyes.before, eyes.now), eyes, eyes.why).lost == {f"{eyes.path}::test_half"}


HALF = "it('halves', () => {\n  assert.equal(half(4), 2)\n})\n"


@pytest.mark.parametrize(
    ("new", "now", "lost"),
    [
        (HALF.replace("halves", "is half"), "is half", False),
        ("it('is half', () => {\n  for (const n of [4]) assert.equal(half(n), 2)\n})\n", "is half", False),
        ("it('thirds', () => {\n  equal(third(9), 3)\n})\n", "thirds", True),
    ],
)
def test_a_test_of_a_file_that_another_one_loads_is_found_there(new: str, now: str, lost: bool) -> None:
    eyes = Loaded(HALF, new, "halves", now)
    assert bool(settled(compare(eyes.before, eyes.now), eyes, eyes.why).lost) == lost
