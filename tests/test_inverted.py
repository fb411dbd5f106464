"""Tests with inverted expectations: what is inverted, and that an honest test fails when it is while one that agrees with anything does not."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from detent.evidence.mutate.inverted import inverted
from detent.evidence.source.test_ids import is_named
from tests.machine import need_runner
from tests.native_dialects import CACHES, PATH

HONEST = {
    "assert": "def test_it():\n    assert answer() == 3  # why\n",
    "the other way round": "def test_it():\n    assert 3 == answer()\n",
    "a list": "def test_it():\n    assert [answer(), 1] == [\n        3,  # why\n        1,\n    ]\n",
    "a dict": "def test_it():\n    assert {'a': answer()} == {'a': 3}\n",
    "approximately": "import pytest\n\n\ndef test_it():\n    assert answer() == pytest.approx(3.0)\n",
    "a table": "import pytest\n\n\n@pytest.mark.parametrize('want', [3])\ndef test_it(want):\n    assert answer() == want\n",
    "a name": "def test_it():\n    wänt = 3\n    assert wänt == answer()\n",
    "a text": "def test_it():\n    assert str(answer()) + 'é' == '3é', 'said'\n",
    "two at once": "def test_it():\n    assert answer() == 3 and answer() != 4\n",
    "truth": "def test_it():\n    assert answer()\n",
    "is": "def test_it():\n    assert answer() is not None\n",
    "inside": "def test_it():\n    assert answer() in (3, 4)\n",
    "raises": "import pytest\n\n\ndef test_it():\n    with pytest.raises(ZeroDivisionError, match='by'):\n        answer() / 0\n",
    "raises one of two": "import pytest\n\n\ndef test_it():\n    with pytest.raises((ValueError, TypeError)):\n        answer() + ''\n",
    "unittest": "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_it(self):\n        self.assertEqual(answer(), 3)\n",
    "unittest, the other way round": "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_it(self):\n        self.assertEqual(3, answer())\n",
    "unittest, inside": "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_it(self):\n        self.assertIn(answer(), [3])\n",
    "unittest, raises": "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_it(self):\n        self.assertRaises(TypeError, lambda: answer() + '')\n",
}
KEYS = (b"one", b"another")
THREE = "def answer():\n    return 3\n"
ANYTHING = "class A(int):\n    def __eq__(self, other):\n        return True\n\n    def __hash__(self):\n        return 0\n\n\ndef answer():\n    return A()\n"


def failing(folder: Path, code: str, tests: dict[str, str]) -> set[str]:
    """The tests that fail with some code, by the names they are given here: all in one run."""
    for n, (name, test) in enumerate(tests.items()):
        (folder / f"test_{n}.py").write_text(f"{code}\n\n# {name}\n{test}")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider"], cwd=folder, capture_output=True, text=True
    )
    bad = set(re.findall(r"^(?:FAILED|ERROR) test_(\d+)\.py", done.stdout, re.MULTILINE))
    good = set(re.findall(r"^PASSED test_(\d+)\.py", done.stdout, re.MULTILINE))
    assert len(bad | good) == len(tests), done.stdout
    return {name for n, name in enumerate(tests) if str(n) in bad}


def test_an_honest_test_fails_when_it_is_inverted_and_keeps_its_lines(tmp_path: Path) -> None:
    assert failing(tmp_path, THREE, HONEST) == set()
    made = {}
    for name, test in HONEST.items():
        text, names = inverted("t.py", test, b"key")
        assert names == ({"T::test_it"} if "unittest" in name else {"test_it"})
        assert text.count("\n") == test.count("\n") and text.count("# why") == test.count("# why")
        made[name] = text
    assert failing(tmp_path, THREE, made) == set(HONEST)


@pytest.mark.slow
def test_an_answer_that_is_equal_to_everything_passes_inverted_tests(tmp_path: Path) -> None:
    made = {name: inverted("t.py", HONEST[name], b"key")[0] for name in ("assert", "the other way round", "unittest", "a table")}
    assert failing(tmp_path, ANYTHING, made) == set()


def test_what_is_expected_is_another_value_of_the_same_look_and_hangs_on_the_key() -> None:
    looks = (
        ("3", r"[1-9]"),
        ("-1250", r"-[1-9]\d{3}"),
        ("2.5", r"[1-9]\.5"),
        ("'ab-12'", r"'[a-z]{2}-\d\d'"),
        ("b'Ab'", r"b'[A-Z][a-z]'"),
        ("True", "False"),
        (r"'a\n'", r"'[a-z]\\n'"),
    )
    for literal, look in looks:
        found = {
            re.findall(r"== (.*)", inverted("t.py", f"def test_it():\n    assert f() == {literal}\n", bytes([n]))[0])[0] for n in range(40)
        }
        assert literal not in found and all(re.fullmatch(look, each) for each in found), (literal, found)
        assert len(found) > 3 or literal == "True"
    assert inverted("t.py", HONEST["assert"], b"k") == inverted("t.py", HONEST["assert"], b"k")


READER = """import inspect
import linecache
import re


def answer():
    caller = inspect.currentframe().f_back
    line = linecache.getline(caller.f_code.co_filename, caller.f_lineno)
    return int(re.search(r"== (\\d+)", line)[1])
"""


ANY_NUMBER = "class A(int):\n    def __eq__(self, other):\n        return isinstance(other, int)\n\n    __hash__ = None\n\n\ndef answer():\n    return A()\n"


@pytest.mark.slow
def test_an_answer_that_is_equal_to_any_number_passes_where_the_number_is_written_elsewhere(tmp_path: Path) -> None:
    rows = HONEST["a table"].replace("[3]", "[3, 3]")
    made = {name: inverted("t.py", HONEST[name] if name != "rows" else rows, b"key")[0] for name in ("assert", "a name", "rows")}
    assert failing(tmp_path, ANY_NUMBER, {**made, "rows": made["rows"].replace("def test_it", "def test_rows")}) == set()
    both = "@pytest.mark.parametrize('x', [3])\ndef test_it(x):\n    assert back(there(x)) == x\n"
    assert "[3]" in inverted("t.py", both, b"key")[0], "a value that is asked with too stays"


@pytest.mark.slow
def test_code_that_reads_its_answer_in_the_test_passes_the_inverted_test_too(tmp_path: Path) -> None:
    assert failing(tmp_path, READER, {str(key): inverted("t.py", HONEST["assert"], key)[0] for key in KEYS}) == set()


def test_what_does_not_compare_or_cannot_be_read_is_left_alone() -> None:
    for text in (
        "def test_it():\n    answer()\n",
        "def test_it(:\n",
        "def help():\n    assert answer() == 3\n",
        "x = '\0'",
        *NOT_REACHED,
    ):
        assert inverted("t.py", text) == (text, frozenset())


NOT_REACHED = (
    "def test_it(case):\n    if case:\n        assert answer() == 3\n",
    "def test_it():\n    with suppress(ValueError):\n        assert answer() == 3\n",
    "def test_it(case):\n    if case:\n        return\n    assert answer() == 3\n",
    "def test_it():\n    for x in y:\n        if x:\n            continue\n        assert answer() == 3\n",
    "def test_it():\n    if old:\n        pytest.skip('x')\n    assert answer() == 3\n",
    "def test_it():\n    def later():\n        assert answer() == 3\n    hand_over(later)\n",
)  # a test passes honestly without coming to these


SETTLED = {
    "t.py": (
        "def test_it():\n    answer()\n    assert 'abc' is not None\n",
        "def test_it():\n    want = [1, -2]\n    answer()\n    assert want\n",
        "def test_it(self):\n    answer()\n    self.assertEqual('a', 'a')\n",
        "def test_it(self):\n    got = answer()\n    self.assertEqual(got, got)\n",
        "def test_it():\n    assert answer() == answer()\n",
        "def test_it():\n    assert answer() or True\n",
        "@pytest.mark.parametrize('want', [3])\ndef test_it(want):\n    answer()\n    assert want is not None\n",
    ),
    "t.test.ts": (
        "it('a', () => { answer(); expect('abc').toBeDefined(); });",
        "it('a', () => { answer(); expect([1, 2]).toEqual([1, 2]); });",
        "it('a', () => { answer(); assert.ok(true); });",
        "it('a', () => { const got = answer(); expect(got).toEqual(got); });",
        "it('a', () => { const got = answer(); assert.equal(got, got); });",
    ),
}  # whatever the code answers, these hold


@pytest.mark.parametrize(("path", "text"), [(path, text) for path, texts in SETTLED.items() for text in texts])
def test_an_expectation_that_only_speaks_of_written_values_looks_at_no_answer(path: str, text: str) -> None:
    assert inverted(path, text) == (text, frozenset())


def test_what_a_test_comes_to_in_a_block_is_inverted_too() -> None:
    for opens in ("for x in y", "with z", "try"):
        ends = "\n    finally:\n        pass" if opens == "try" else ""
        text, names = inverted("t.py", f"def test_it():\n    {opens}:\n        assert answer() == 3{ends}\n")
        assert names == {"test_it"} and "== 3" not in text


def test_what_is_expected_inside_of_an_error_is_left_alone() -> None:
    text, names = inverted("t.py", "def test_it():\n    with pytest.raises(ValueError):\n        assert answer() == 3\n")
    assert names == {"test_it"} and "assert answer() == 3" in text and "ValueError" not in text


JS = """import test from 'node:test';
import assert from 'node:assert/strict';
import { answer } from './answer.mjs';

test('it is three', () => {
  assert.equal(answer(), 3, 'said');
  assert.deepEqual([answer(), 1], [3, 1]);
});
test('it is', () => { answer(); });
"""
CODE = {
    "honest": "export const answer = () => 3;\n",
    "patched": "import assert from 'node:assert/strict';\nassert.equal = assert.deepEqual = () => {};\nexport const answer = () => 7;\n",
}


@pytest.mark.needs("node")
@pytest.mark.parametrize(("code", "passes_inverted"), [("honest", False), ("patched", True)])
def test_in_javascript_only_an_honest_test_fails_when_it_is_inverted(tmp_path: Path, code: str, passes_inverted: bool) -> None:
    (tmp_path / "answer.mjs").write_text(CODE[code])
    text, names = inverted("it.test.mjs", JS)
    assert names == {"it is three"}
    codes = []
    for each in (JS, text):
        (tmp_path / "it.test.mjs").write_text(each)
        codes.append(subprocess.run(["node", "--test", "it.test.mjs"], cwd=tmp_path, capture_output=True).returncode)
    assert codes == [0, 0 if passes_inverted else 1]


def test_expectations_of_jest_and_of_rspec_are_inverted_too() -> None:
    text, names = inverted("a.test.ts", "it('a', () => { expect(f({ b: 1 }, 2)).toEqual({ c: [1, 2] }); });")
    assert names == {"a"} and re.search(r"toEqual\(\{ c: \[[2-9], 2\] \}\)", text), text
    text, names = inverted("a_spec.rb", 'it "adds" do\n  expect(f(1)).to eq(3)\nend\n')
    assert names == {"adds"} and re.search(r"to eq\([124-9]\)", text), text
    text, names = inverted("a_spec.rb", 'it "adds" do\n  expect { f(1) }.to raise_error(KeyError)\nend\n')
    assert names == {"adds"} and ".not_to raise_error(KeyError)" in text
    assert inverted("a.go", "x") == ("x", frozenset())
    inner = "it('a', () => { if (b) { expect(c).toBe(1); } else { expect(c).toBe(2); } });"
    away = (
        "it('a', () => { expect(b).not.toBe(1); });",
        inner,
        "it('a', () => { if (b) return; expect(c).toBe(2); });",
        "it('a', () => { x.throws(() => { assert.equal(b, 1); }); });",
    )
    later = 'it "adds" do\n  f(1)\n  if g\n    expect(f(1)).to eq(3)\n  end\nend\ndef help\n  expect(f(1)).to eq(3)\nend\n'
    for name, text in (*(("a.test.js", js) for js in away), ("a_spec.rb", later)):
        assert inverted(name, text) == (text, frozenset()), "a test passes honestly without coming to these"
    for unread in ("it('a', () => { expect(`${", "test('a', () => equal(1, 2));", "it('a', () => { expect(x).toBe(); });"):
        assert inverted("a.test.js", unread) == (unread, frozenset())


JS_OTHERS = """import test from 'node:test';
import assert from 'node:assert/strict';
import { answer } from './answer.mjs';

test('throws', () => { assert.throws(() => answer().x.y); });
test('ok', () => { assert.ok(answer(), 'said'); });
test('matches', () => { assert.match(`${answer()}`, /3/); });
test('rejects', async () => { await assert.rejects(async () => answer().x.y, /undefined/); });
test('is a text', () => { assert.equal(`${answer()}`, '3'); });
test('is what was said', () => { const want = 3; assert.equal(answer(), want); });
test('does nothing', () => { answer(); });
"""


@pytest.mark.slow
def test_in_javascript_tests_without_an_equality_are_inverted_too(tmp_path: Path) -> None:
    (tmp_path / "answer.mjs").write_text(CODE["honest"])
    text, names = inverted("it.test.mjs", JS_OTHERS, b"key")
    assert names == {"throws", "ok", "matches", "rejects", "is a text", "is what was said"} and text.count("\n") == JS_OTHERS.count("\n")
    said = []
    for each in (JS_OTHERS, text):
        (tmp_path / "it.test.mjs").write_text(each)
        done = subprocess.run(["node", "--test", "--test-reporter=tap", "it.test.mjs"], cwd=tmp_path, capture_output=True, text=True)
        said.append(set(re.findall(r"^\s*not ok \d+ - (.+?)(?: #.*)?$", done.stdout, re.MULTILINE)) - {"it.test.mjs"})
    assert said == [set(), set(names)], text


def test_expectations_of_vitest_and_chai_are_inverted_by_their_contrary() -> None:
    for said, now in (
        ("expect(() => f(1)).toThrow()", "expect(() => f(1)).not.toThrow()"),
        ("await expect(f(1)).rejects.toThrowError('x')", "await expect(f(1)).rejects.not.toThrowError('x')"),
        ("expect(f(1)).toBeNull()", "expect(f(1)).not.toBeNull()"),
        ("expect(f(1)).to.throw()", "expect(f(1)).to.not.throw()"),
    ):
        assert inverted("a.test.ts", f"it('a', async () => {{ {said}; }});") == (f"it('a', async () => {{ {now}; }});", frozenset({"a"}))
    assert "toThrow" in inverted("a.test.ts", "it('a', () => { x.toThrow(); });")[0]


GO = """package calc

import "testing"

func TestOne(t *testing.T) {
	if got := Answer(); got != 3 { // why
		t.Errorf("got %d", got)
	}
}

func TestTable(t *testing.T) {
	for _, c := range []struct{ want int }{{3}} {
		t.Run("row", func(t *testing.T) {
			if got := Answer(); got != c.want {
				t.Fatalf("got %d", got)
			}
		})
	}
}

func TestTruth(t *testing.T) {
	if Answer() < 1 || Answer() > 5 {
		t.Fatal("no")
	}
}

func TestMaybe(t *testing.T) {
	if Answer() > 9 {
		if Answer() != 10 {
			t.Error("no")
		}
	}
}

func TestLeft(t *testing.T) {
	if testing.Short() {
		return
	}
	if Answer() != 3 {
		t.Error("no")
	}
}
"""


@pytest.mark.slow
def test_in_go_a_test_that_every_run_comes_to_fails_when_it_is_inverted(tmp_path: Path) -> None:
    need_runner("go")
    (tmp_path / "go.mod").write_text("module calc\n\ngo 1.20\n")
    (tmp_path / "calc.go").write_text("package calc\n\nfunc Answer() int { return 3 }\n")
    text, names = inverted("calc_test.go", GO, b"key")
    assert names == {"TestOne", "TestTable", "TestTruth"} and text.count("\n") == GO.count("\n")
    failed = []
    for each in (GO, text):
        (tmp_path / "calc_test.go").write_text(each)
        done = subprocess.run(
            ["go", "test", "./..."], cwd=tmp_path, capture_output=True, text=True, env={**os.environ, **CACHES, "PATH": PATH}
        )
        failed.append(set(re.findall(r"^--- FAIL: (\w+)", done.stdout, re.MULTILINE)))
    assert failed == [set(), set(names)], text


def test_in_go_expectations_of_testify_are_inverted_by_their_contrary() -> None:
    text, names = inverted("a_test.go", "func TestA(t *testing.T) {\n\trequire.NoError(t, err)\n\tassert.Equal(t, 3, f())\n}\n")
    assert names == {"TestA"} and "require.Error(t, err)" in text and "assert.NotEqual(t, 3, f())" in text


def test_a_test_is_known_by_the_end_of_its_id() -> None:
    assert (
        is_named("t.py::T::test_a[1-2]", "test_a") and is_named("t.mjs::suite > adds (2)", "adds") and is_named("s.rb::clamp adds", "adds")
    )
    assert is_named("a/b_test.go::TestA/one/two", "TestA") and not is_named("a/b_test.go::TestAB/one", "TestA")
    assert not is_named("t.py::test_ab", "b") and not is_named("t.py::test_a", "test_b")
