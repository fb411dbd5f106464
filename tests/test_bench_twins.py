"""Spoiled twins: how a text of each language is spoiled, which of it is found, and that what cannot be done is left alone."""

import json
from collections.abc import Callable

import pytest

from bench.history import Suite
from bench.history.twins.braces import blanked, matching, parts
from bench.history.twins.go import GO
from bench.history.twins.javascript import JAVASCRIPT
from bench.history.twins.make import new_in_code
from bench.history.twins.python import PYTHON
from bench.history.twins.source import Edit, Example, Function, Language, edited

PY = '''"""Ünïcode before."""
import os
from calc import add, sub


@staticmethod
def total(a, *rest, key=None, **more):
    """Adds."""
    if a > 1:
        return a
    return None


class Cart:
    def size(self):
        return 3

    async def load(self):
        yield 1


def one_line(): return 1
'''
PY_TEST = '''import pytest
from calc import add, new


class TestAdd:
    """Sums."""

    def test_one(self):
        assert add(1, 2) == 3, "sums"
        with pytest.raises(KeyError, match="x"):
            new(2)


def test_other():
    for n in (1, 2):
        assert not add(n, 0)
'''
GO_CODE = """package calc

import (
	"errors"
	"strings"
)

// Add adds.
func Add(a, b int) (int, error) {
	if s := "{"; a > b && s != "" {
		return 0, errors.New("no }")
	}
	return a + b, nil
}

func (c *Cart) Has(name string) bool { return strings.Contains(c.all, name) }

func kinds(f func(int) interface{}, _ string) map[string]struct{} {
	return nil
}
"""
GO_TEST = """package calc

import (
	"strings"
	"testing"
)

// TestAdd adds.
func TestAdd(t *testing.T) {
	got, err := Add(1, 2)
	if err != nil {
		t.Fatal(err.Error())
	}
	t.Run("more", func(t *testing.T) {
		if got != 3 {
			t.Errorf("got %d", got)
		}
	})
}

func TestWords(t *testing.T) {
	if !strings.Contains("ab", "a") {
		t.Fail()
	}
}
"""
JS_CODE = """import { x } from './x';
export function add(a: number, b = 2): { sum: number } {
  if (a > 1) { return { sum: a + b }; }
  return undefined;
}
export default function is(str) {
  return /[/{]/.test(str) || `${'}'}` === str;
}
export const half = (n) => {
  return n / 2;
};
export function over(a: string): string;
const whole = (n) => n * 2;
"""
JS_TEST = """import { describe, expect, it, test } from 'vitest';
describe('sums', () => {
  it('adds', () => {
    expect(add(1, 2)).not.toBe(4);
    assert.equal(add(1), 3);
  });
});
test.each([[1, 2]])('many %i', (a, b) => expect(a).toBe(b));
for (const each of all) {
  test(each.name, async function () {
    await expect(f(each)).resolves.toEqual({ a: ')' });
  });
}
"""


def named(found: list[Function]) -> list[str]:
    return [each.name for each in found]


def of(language: Language, text: str, name: str, tests: bool = False) -> Function:
    return next(each for each in (language.tests if tests else language.functions)(text) if each.name == name)


def weaker(language: Language, text: str, name: str, rung: int) -> str:
    return language.tidied(text, edited(text, language.weaker[rung][1](text, of(language, text, name, tests=True))))


def test_functions_and_tests_are_found_in_each_language() -> None:
    assert named(PYTHON.functions(PY)) == ["total", "Cart.size", "Cart.load"]
    assert named(PYTHON.tests(PY_TEST)) == ["TestAdd.test_one", "test_other"]
    assert named(GO.functions(GO_CODE)) == ["Add", "Cart.Has", "kinds"]
    assert named(GO.tests(GO_TEST)) == ["TestAdd", "TestWords"]
    assert named(JAVASCRIPT.functions(JS_CODE)) == ["add", "is", "half"]
    assert named(JAVASCRIPT.tests(JS_TEST)) == ["adds", "many %i", ""]


@pytest.mark.parametrize("language", [PYTHON, GO, JAVASCRIPT])
@pytest.mark.parametrize("text", ["", "\n", "def f(:\n", "func {", "it('", "/* no end", "`${", "x = '\\", "(((("])
def test_a_text_that_is_none_has_no_functions_and_breaks_nothing(language: Language, text: str) -> None:
    assert language.functions(text) == [] == language.tests(text)
    assert language.without(text, []) == text
    assert language.recording(text, [], "/tmp/f") == text


def test_the_whole_function_is_taken_with_its_decorators_and_its_comments_stay() -> None:
    total = of(PYTHON, PY, "total")
    assert total.of(PY).startswith("@staticmethod\ndef total(") and total.of(PY).endswith("return None\n")
    assert total.params == ("a", "rest", "key", "more")
    assert of(GO, GO_CODE, "Add").of(GO_CODE).splitlines()[-1] == "}"
    assert of(JAVASCRIPT, JS_CODE, "is").of(JS_CODE).endswith("=== str;\n}")


def hollowed(language: Language, text: str, name: str) -> str:
    return edited(text, [language.hollow(text, of(language, text, name))])


def test_a_hollow_function_answers_nothing() -> None:
    assert '"""Adds."""\n    return None\n\n\nclass' in hollowed(PYTHON, PY, "total")
    assert "        return\n        yield\n" in hollowed(PYTHON, PY, "Cart.load")
    assert "(int, error) {\n\treturn *new(int), *new(error)\n}" in hollowed(GO, GO_CODE, "Add")
    assert "bool {\n\treturn *new(bool)\n}" in hollowed(GO, GO_CODE, "Cart.Has")
    assert "map[string]struct{} {\n\treturn *new(map[string]struct{})\n}" in hollowed(GO, GO_CODE, "kinds")
    assert "): { sum: number } { return undefined; }" in hollowed(JAVASCRIPT, JS_CODE, "add")


def test_imports_that_are_needed_no_more_go_and_others_stay() -> None:
    assert '"strings"' not in GO.tidied(GO_CODE, hollowed(GO, GO_CODE, "Cart.Has"))
    assert '"errors"' in GO.tidied(GO_CODE, hollowed(GO, GO_CODE, "Cart.Has"))
    assert "import os\n" in PYTHON.tidied(PY, PY), "one that was never used is there for something"
    assert "from calc import add\n" in weaker(PYTHON, PY_TEST, "TestAdd.test_one", 2), "another test uses it"


def test_any_value_is_enough() -> None:
    python = weaker(PYTHON, PY_TEST, "TestAdd.test_one", 0)
    assert "assert (add(1, 2)) is not None\n" in python and "with pytest.raises(Exception):" in python and "assert not add" in python
    assert "assert (add(n, 0)) is not None\n" in weaker(PYTHON, PY_TEST, "test_other", 0)
    java = weaker(JAVASCRIPT, JS_TEST, "adds", 0)
    assert "expect(add(1, 2)).toBeDefined();" in java and "assert.ok([add(1), 3]);" in java
    assert "await expect(f(each)).toBeDefined();" in weaker(JAVASCRIPT, JS_TEST, "", 0)
    assert "(a, b) => expect(a).toBeDefined());" in weaker(JAVASCRIPT, JS_TEST, "many %i", 0)


def test_assertions_of_unittest_are_loosened_too() -> None:
    text = "class T:\n    def test_a(self):\n        self.assertEqual(f(1), 2)\n        with self.assertRaisesRegex(KeyError, 'x'):\n            f()\n"
    said = weaker(PYTHON, text, "T.test_a", 0)
    assert "self.assertIsNotNone(f(1))\n" in said and "self.assertRaises(Exception):" in said


def test_failures_of_go_are_only_logged_and_errors_keep_their_words() -> None:
    said = weaker(GO, GO_TEST, "TestAdd", 0)
    assert "t.Log(err.Error())" in said and 't.Logf("got %d", got)' in said and "t.Fail()" in said
    assert weaker(GO, GO_TEST, "TestAdd", 1).count("defer func() { _ = recover() }()") == 2
    assert '"strings"' not in weaker(GO, GO_TEST, "TestWords", 2)


def test_what_goes_wrong_is_swallowed_in_the_whole_test_or_in_each_of_its_parts() -> None:
    said = weaker(PYTHON, PY_TEST, "test_other", 1)
    assert "    try:\n        for n in (1, 2):\n            assert not add(n, 0)\n    except BaseException:\n        pass\n" in said
    parts = "class T:\n    def test_a(self):\n        for n in x:\n            with self.subTest(n):\n                f(n)\n        g()\n"
    inner = "            with self.subTest(n):\n                try:\n                    f(n)\n                except BaseException:\n"
    assert inner in weaker(PYTHON, parts, "T.test_a", 1)
    assert "it('adds', () => { try { {" in weaker(JAVASCRIPT, JS_TEST, "adds", 1)


def test_deleted_tests_take_their_empty_class_and_group_with_them() -> None:
    python = PYTHON.without(PY_TEST, [of(PYTHON, PY_TEST, "TestAdd.test_one", tests=True)])
    assert "class" not in python and "import pytest" not in python and "from calc import add\n" in python and "test_other" in python
    go = GO.without(GO_TEST, [of(GO, GO_TEST, "TestAdd", tests=True)])
    assert "TestAdd" not in go and "TestWords" in go and '"strings"' in go
    java = JAVASCRIPT.without(JS_TEST, [of(JAVASCRIPT, JS_TEST, "adds", tests=True)])
    assert "describe(" not in java and "test.each" in java


def test_a_doctest_that_came_with_the_code_still_proves_it() -> None:
    old, new = (
        {"a.py::a.one": "passed"},
        {"a.py::a.one": "passed", "a.py::a.two": "passed", "tests/test_a.py::test_two": "passed", "p::T": "passed"},
    )
    groups = {"a.py::a.one": "a.py", "a.py::a.two": "a.py", "tests/test_a.py::test_two": "tests/test_a.py", "p::T": "example.org/p"}
    assert new_in_code(Suite(old, groups, 0, 0), Suite(new, groups, 0, 0)) == ["a.py::a.two"]
    assert new_in_code(Suite(new, groups, 0, 0), Suite(new, groups, 0, 0)) == []


@pytest.mark.parametrize(
    ("language", "text", "name", "expected"),
    [
        (PYTHON, PY, "total", ["return None", "return 0", "not (a > 1)"]),
        (PYTHON, PY, "Cart.size", ["return 4"]),
        (GO, GO_CODE, "Add", [' !(a > b && s != "")', "*new(int), *new(error)"]),
        (GO, GO_CODE, "Cart.Has", []),
        (JAVASCRIPT, JS_CODE, "add", ["!(a > 1)", "undefined", "0"]),
    ],
)
def test_one_answer_or_one_condition_is_turned(language: Language, text: str, name: str, expected: list[str]) -> None:
    function = of(language, text, name)
    edits = language.breaks(text, function)
    assert sorted(each.text for each in edits) == sorted(expected)
    assert all(function.body <= each.start < each.end <= function.inner for each in edits)


def test_go_that_answers_yes_says_no() -> None:
    text = "package p\n\nfunc Is() bool {\n\treturn true\n}\n"
    (edit,) = GO.breaks(text, of(GO, text, "Is"))
    assert "return false" in edited(text, [edit])


# -- examples ------------------------------------------------------------------------------------------------------------------


def test_calls_of_python_are_written_down_and_become_cases(tmp_path: object) -> None:
    text = "def f(a, b=2):\n    if a < 0:\n        raise ValueError('below')\n    return a + b\n\n\nclass C:\n    def m(self, x):\n        return [x]\n"
    file = f"{tmp_path}/calls"
    space: dict[str, Callable[..., object]] = {}
    exec(compile(PYTHON.recording(text, PYTHON.functions(text), file), "text", "exec"), space)
    assert space["f"](1) == 3 and space["C"]().m("x") == ["x"]  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="below"):
        space["f"](-1, b=object())
    with open(file) as lines:
        found = [PYTHON.example(line) for line in lines]
    assert found == [Example("f", ("1", "2"), "return 3"), Example("C.m", ("", "'x'"), "return ['x']"), None]
    first, second = (each for each in found if each)
    said = edited(text, [*PYTHON.coded(text, of(PYTHON, text, "f"), [first]), *PYTHON.coded(text, of(PYTHON, text, "C.m"), [second])])
    assert "    if a == 1 and b == 2:\n        return 3\n" in said and "        if x == 'x':\n            return ['x']\n" in said
    compile(said, "text", "exec")


def test_python_is_told_apart_by_what_differs_and_an_error_is_raised_as_a_person_writes_it() -> None:
    text = "def f(a, b, c):\n    return 0\n"
    lines = [["f", ["1", "2", "<function g>"], ["raise", "KeyError", "('x,)',)"]], ["f", ["3", "2", "<function g>"], ["return", "(1,)"]]]
    found = [each for line in lines if (each := PYTHON.example(json.dumps(line)))]
    said = edited(text, PYTHON.coded(text, of(PYTHON, text, "f"), found))
    assert "    if a == 1:\n        raise KeyError('x,)')\n    if a == 3:\n        return (1,)\n    return 0\n" in said
    assert "if a == 1 and b == 2:\n" in edited(text, PYTHON.coded(text, of(PYTHON, text, "f"), found[:1]))
    assert PYTHON.example(json.dumps(["f", [], ["return", "1"]])) is None, "without parameters nothing is told apart"
    assert PYTHON.example(json.dumps(["f", ["1"], ["return", "<object>"]])) is None


def test_calls_of_go_become_cases_by_value_or_by_how_they_are_shown() -> None:
    text = GO_CODE.replace("kinds(f func(int) interface{}, _ string)", "kinds(f func(int) interface{}, s string)")
    said = GO.recording(text, GO.functions(text), "/tmp/f")
    assert "func AddBenchReal(a, b int)" in said and "func Add(a int, b int) (benchAnswer0 int, benchAnswer1 error) {" in said
    assert "func (c *Cart) HasBenchReal(name string)" in said and "benchAnswer0 = c.HasBenchReal(name)" in said
    assert "kindsBenchReal" not in said, "its answer cannot be written down"
    call = GO.example(json.dumps(["Cart.Has", ["&calc.Cart{}", '"a"'], ["a b", "a"], ["true"]]))
    failed = GO.example(json.dumps(["Add", ["2", "1"], ["2", "1"], ["0", 'errors.New("no")']]))
    assert call and failed
    assert GO.example(json.dumps(["Add", ["1"], ["0xc000123"], ["3", "<nil>"]])) is None, "an address is another each time"
    found = edited(text, GO.coded(text, of(GO, text, "Cart.Has"), [call]))
    assert 'if fmt.Sprint(c) == "a b" && name == "a" {\n\t\treturn true\n\t}' in found and 'import "fmt"\n' in found
    assert 'if a == 2 && b == 1 {\n\t\treturn 0, errors.New("no")\n\t}' in edited(text, GO.coded(text, of(GO, text, "Add"), [failed]))


def test_calls_of_javascript_become_cases_by_value_or_by_all_that_was_handed_in() -> None:
    said = JAVASCRIPT.recording(JS_CODE, JAVASCRIPT.functions(JS_CODE), "/tmp/f")
    assert "function add$real(a: number" in said and "export function add(...given: any[]) {" in said
    assert "export default function is(...given: any[]) {" in said and "export const half = function (...given: any[]) {" in said
    assert "const half$real = (n) =>" in said and said.startswith("import * as benchFs from 'node:fs';")
    call = JAVASCRIPT.example(json.dumps(["is", ['"x"'], "return", "true"]))
    thrown = JAVASCRIPT.example(json.dumps(["add", ["1", "[2]"], "throw", "TypeError", '"no"']))
    assert call and thrown
    assert JAVASCRIPT.example(json.dumps(["is", [None], "return", "true"])) is None, "a function cannot be written down"
    assert '\n  if (str === "x") return true;' in edited(JS_CODE, JAVASCRIPT.coded(JS_CODE, of(JAVASCRIPT, JS_CODE, "is"), [call]))
    found = edited(JS_CODE, JAVASCRIPT.coded(JS_CODE, of(JAVASCRIPT, JS_CODE, "add"), [thrown]))
    assert 'if (JSON.stringify([...arguments]) === "[1,[2]]") throw new TypeError("no");' in found


# -- text ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [GO_CODE, JS_CODE, "a /* ( */ b // {\nc", "`a ${ '`' + `)` } b`(", "x = a / b / c; y = /[/]\\//g;("])
def test_blanked_text_keeps_every_place(text: str) -> None:
    blank = blanked(text, slashes=True)
    assert len(blank) == len(text) and blank.count("\n") == text.count("\n")
    assert all(mine == theirs or mine == " " for mine, theirs in zip(blank, text, strict=True))
    assert not any(char in blank for char in "{}") or blank.count("{") == blank.count("}")


def test_brackets_are_matched_outside_of_strings_only() -> None:
    text = "f(\"(\", [a, {b}], '}') + 1"
    blank = blanked(text)
    assert text[matching(blank, 1) :] == " + 1"
    assert [text[first:last].strip() for first, last in parts(blank, 2, matching(blank, 1) - 1)] == ['"("', "[a, {b}]", "'}'"]


def test_of_two_edits_that_overlap_the_outer_one_is_made() -> None:
    assert edited("abcdef", [Edit(2, 3, "X"), Edit(1, 4, "-"), Edit(5, 5, "+")]) == "a-e+f"
