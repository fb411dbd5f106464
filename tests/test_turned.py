"""Tests turned round: what is turned, and that an honest test fails when it is while one that agrees with anything does not."""

import subprocess
import sys
from pathlib import Path

import pytest

from detent.evidence.mutate.turned import is_named, turned

HONEST = {
    "assert": "def test_it():\n    assert answer() == 3\n",
    "the other way round": "def test_it():\n    assert 3 == answer()\n",
    "a list": "def test_it():\n    assert [answer(), 1] == [3, 1]\n",
    "approximately": "import pytest\n\n\ndef test_it():\n    assert answer() == pytest.approx(3.0)\n",
    "a table": "import pytest\n\n\n@pytest.mark.parametrize('want', [3])\ndef test_it(want):\n    assert answer() == want\n",
    "unittest": "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_it(self):\n        self.assertEqual(answer(), 3)\n",
    "unittest, the other way round": "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_it(self):\n        self.assertEqual(3, answer())\n",
}
THREE = "def answer():\n    return 3\n"
ANYTHING = "class A(int):\n    def __eq__(self, other):\n        return True\n\n    def __hash__(self):\n        return 0\n\n\ndef answer():\n    return A()\n"


def passes(folder: Path, code: str, test: str) -> bool:
    (folder / "test_it.py").write_text(f"{code}\n\n{test}")
    return subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"], cwd=folder, capture_output=True).returncode == 0


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_test_fails_when_it_is_turned(tmp_path: Path, name: str) -> None:
    text, names = turned("t.py", HONEST[name])
    assert names == ({"T::test_it"} if "unittest" in name else {"test_it"})
    assert passes(tmp_path, THREE, HONEST[name]) and not passes(tmp_path, THREE, text)


@pytest.mark.parametrize("name", ["assert", "the other way round", "unittest"])
def test_an_answer_that_is_equal_to_everything_passes_turned_tests(tmp_path: Path, name: str) -> None:
    assert passes(tmp_path, ANYTHING, turned("t.py", HONEST[name])[0])


def test_what_does_not_compare_or_cannot_be_read_is_left_alone() -> None:
    for text in (
        "def test_it():\n    assert answer()\n",
        "def test_it(:\n",
        "def help():\n    assert answer() == 3\n",
        "x = '\0'",
        *NOT_REACHED,
    ):
        assert turned("t.py", text) == (text, frozenset())


NOT_REACHED = (
    "def test_it(case):\n    if case:\n        assert answer() == 3\n",
    "def test_it():\n    with pytest.raises(ValueError):\n        assert answer() == 3\n",
    "def test_it(self):\n    with self.assertRaisesRegex(ValueError, 'x'):\n        self.assertEqual(answer(), 3)\n",
    "def test_it():\n    def later():\n        assert answer() == 3\n    hand_over(later)\n",
)  # a test passes honestly without coming to these


def test_what_a_test_comes_to_in_a_block_is_turned_too() -> None:
    for opens in ("for x in y", "with z", "try"):
        ends = "\n    finally:\n        pass" if opens == "try" else ""
        text, names = turned("t.py", f"def test_it():\n    {opens}:\n        assert answer() == 3{ends}\n")
        assert names == {"test_it"} and "(3, 'turned round')" in text


JS = """import test from 'node:test';
import assert from 'node:assert/strict';
import { answer } from './answer.mjs';

test('it is three', () => {
  assert.equal(answer(), 3, 'said');
  assert.deepEqual([answer(), 1], [3, 1]);
});
test('it is', () => assert.ok(answer()));
"""
CODE = {
    "honest": "export const answer = () => 3;\n",
    "patched": "import assert from 'node:assert/strict';\nassert.equal = assert.deepEqual = () => {};\nexport const answer = () => 7;\n",
}


@pytest.mark.parametrize(("code", "passes_turned"), [("honest", False), ("patched", True)])
def test_in_javascript_only_an_honest_test_fails_when_it_is_turned(tmp_path: Path, code: str, passes_turned: bool) -> None:
    (tmp_path / "answer.mjs").write_text(CODE[code])
    text, names = turned("it.test.mjs", JS)
    assert names == {"it is three"}
    codes = []
    for each in (JS, text):
        (tmp_path / "it.test.mjs").write_text(each)
        codes.append(subprocess.run(["node", "--test", "it.test.mjs"], cwd=tmp_path, capture_output=True).returncode)
    assert codes == [0, 0 if passes_turned else 1]


def test_expectations_of_jest_and_of_rspec_are_turned_too() -> None:
    text, names = turned("a.test.ts", "it('a', () => { expect(f({ b: 1 }, 2)).toEqual({ c: [1, 2] }); });")
    assert names == {"a"} and "toEqual([{ c: [1, 2] }, 'turned round'])" in text
    text, names = turned("a_spec.rb", 'it "adds" do\n  expect(f(1)).to eq(3)\nend\n')
    assert names == {"adds"} and "to eq([3, 'turned round'])" in text
    assert turned("a.go", "x") == ("x", frozenset())
    inner = "it('a', () => { if (b) { expect(c).toBe(1); } else { expect(c).toBe(2); } });"
    away = ("it('a', () => { expect(b).not.toBe(1); });", inner, "it('a', () => { assert.throws(() => { assert.equal(b, 1); }); });")
    later = 'it "adds" do\n  expect(f(1)).to be\n  if g\n    expect(f(1)).to eq(3)\n  end\nend\ndef help\n  expect(f(1)).to eq(3)\nend\n'
    for name, text in (*(("a.test.js", js) for js in away), ("a_spec.rb", later)):
        assert turned(name, text) == (text, frozenset()), "a test passes honestly without coming to these"
    for unread in ("it('a', () => { expect(`${", "test('a', () => equal(1, 2));", "it('a', () => { expect(x).toBe(); });"):
        assert turned("a.test.js", unread) == (unread, frozenset())


def test_a_test_is_known_by_the_end_of_its_id() -> None:
    assert (
        is_named("t.py::T::test_a[1-2]", "test_a") and is_named("t.mjs::suite > adds (2)", "adds") and is_named("s.rb::clamp adds", "adds")
    )
    assert not is_named("t.py::test_ab", "b") and not is_named("t.py::test_a", "test_b")
