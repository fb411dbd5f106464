"""Lines of a test that ask for less than those before, by their form, in several languages."""

import pytest

from detent.evidence.source import test_lines as lines
from detent.evidence.source.diff import Rewritten
from detent.evidence.source.weaker_form import asks_for_less, dropped_expectations

LESS = {
    "a bound": ("assert total(a) == 370", "assert total(a) > 0"),
    "a type": ("assert total(a) == 370", "assert isinstance(total(a), int)"),
    "anything": ("assert total(a) == 370", "assert total(a)"),
    "one of several": ("assert total(a) == 370", "assert total(a) in (370, 371)"),
    "unittest": ("self.assertEqual(total(a), 370)", "self.assertTrue(total(a))"),
    "unittest, a bound": ("self.assertEqual(total(a), 370)", "self.assertGreater(total(a), 0)"),
    "jest": ("expect(total(a)).toBe(370);", "expect(total(a)).toBeTruthy();"),
    "jest, a part": ("expect(list(a)).toEqual([1, 2]);", "expect(list(a)).toContain(1);"),
    "node": ("assert.strictEqual(total(a), 370);", "assert.ok(total(a));"),
    "go": ("if got != want {", "if got <= 0 {"),
    "rust": ("assert_eq!(total(a), 370);", "assert!(total(a) > 0);"),
    "rspec": ("expect(total(a)).to eq(370)", "expect(total(a)).to be_truthy"),
    "rounded": ("assert rate(a) == 3.14159", "assert round(rate(a)) == 3"),
    "rounded more": ("assert round(rate(a), 4) == 3.1416", "assert int(round(rate(a), 1)) == 3"),
    "the first ones only": ("assert names(a) == ['x', 'y', 'z']", "assert names(a)[:2] == ['x', 'y']"),
    "one of them only": ("assert names(a) == ['x', 'y', 'z']", "assert names(a)[0] == 'x'"),
    "how many": ("assert names(a) == ['x', 'y', 'z']", "assert len(names(a)) == 3"),
    "in any order": ("assert names(a) == ['x', 'y', 'z']", "assert set(names(a)) == {'x', 'y', 'z'}"),
    "any case": ('assert title(a) == "Mr X"', 'assert title(a).lower() == "mr x"'),
    "the type only": ("assert total(a) == 370", "assert type(total(a)) == int"),
    "a wide limit": ("assert rate(a) == pytest.approx(3.14159)", "assert rate(a) == pytest.approx(3, abs=1)"),
    "a wider limit": ("assert isclose(rate(a), 3.14, rel_tol=1e-9)", "assert isclose(rate(a), 3.14, rel_tol=0.5)"),
    "unittest, a wide limit": ("self.assertEqual(rate(a), 3.14)", "self.assertAlmostEqual(rate(a), 3.14, delta=2)"),
    "unittest, fewer places": ("self.assertAlmostEqual(rate(a), 3.1416, places=4)", "self.assertAlmostEqual(rate(a), 3.1416, places=0)"),
    "jest, fewer places": ("expect(rate(a)).toBeCloseTo(3.14159, 5);", "expect(rate(a)).toBeCloseTo(3.14159, 0);"),
    "jest, how many": ("expect(names(a)).toEqual(['x', 'y']);", "expect(names(a).length).toEqual(2);"),
    "jest, rounded": ("expect(rate(a)).toBe(3.14159);", "expect(Math.round(rate(a))).toBe(3);"),
    "go, any case": ("if got := Title(a); got != want {", "if got := strings.ToLower(Title(a)); got != strings.ToLower(want) {"),
    "go, a wide limit": ("assert.InDelta(t, 3.14, rate(a), 0.001)", "assert.InDelta(t, 3.14, rate(a), 1.0)"),
    "rspec, how many": ("expect(names(a)).to eq(['x', 'y'])", "expect(names(a).size).to eq(2)"),
    "rspec, a type": ("expect(total(a)).to eq(370)", "expect(total(a)).to be_a(Integer)"),
    "rspec, one of several": ("expect(names(a)).to eq(%w[x y])", "expect(names(a)).to include('x')"),
    "chai, a type": ("expect(total(a)).to.equal(370)", "expect(total(a)).to.be.a('number')"),
    "testify, anything": ("assert.Equal(t, 370, total(a))", "assert.NotNil(t, total(a))"),
    "any error": ("with pytest.raises(ValueError, match='no'):", "with pytest.raises(Exception):"),
    "any message": ("with pytest.raises(ValueError, match='no'):", "with pytest.raises(ValueError):"),
    "unittest, any error": ("self.assertRaises(ValueError, f, 1)", "self.assertRaises(Exception, f, 1)"),
    "jest, any error": ("expect(() => f(1)).toThrow(RangeError);", "expect(() => f(1)).toThrow();"),
    "node, any error": ("assert.throws(() => f(1, 2), RangeError);", "assert.throws(() => f(1, 2));"),
    "node, any message": ("assert.throws(() => f('b', 1), /not allowed/);", "assert.throws(() => f('b', 1));"),
    "rspec, any error": ("expect { f(1) }.to raise_error(ArgumentError, /no/)", "expect { f(1) }.to raise_error"),
    "go, any error": ("if !errors.Is(err, ErrPercent) {", "if err == nil {"),
    "testify, any error": ("require.ErrorIs(t, err, ErrPercent)", "require.Error(t, err)"),
    "any call": ("send.assert_called_once_with('a', 2)", "send.assert_called()"),
    "jest, any call": ("expect(send).toHaveBeenCalledWith('a', 2);", "expect(send).toHaveBeenCalled();"),
    "rspec, any call": ("expect(mail).to have_received(:send).with('a')", "expect(mail).to have_received(:send)"),
    "go, only logged": ('t.Errorf("got %d", got)', 't.Logf("got %d", got)'),
    "not waited for": ("await expect(load(1)).rejects.toThrow(RangeError);", "expect(load(1)).rejects.toThrow(RangeError);"),
}
NOT_LESS = {
    "another value": ("assert total(a) == 370", "assert total(a) == 371"),
    "a fraction": ("assert total(a) == 0.3", "assert total(a) == approx(0.3)"),
    "close to": ("expect(total(a)).toBe(0.3);", "expect(total(a)).toBeCloseTo(0.3);"),
    "one more": ("assert total(a) == 370", "assert total(a) == 370\nassert total(b) > 0"),
    "in two lines": ("assert total(a) == 370", "got = total(a)\nassert got == 370"),
    "the very same": ("assert type(a) == User", "assert all(type(each) is User for each in a)"),
    "an error in Go": ("if err != nil && ok == true {", "if err != nil {"),
    "stricter": ("assert total(a) > 0", "assert total(a) == 370"),
    "another form of the same": ("self.assertEqual(total(a), 370)", "assert total(a) == 370"),
    "the whole instead of a part": ("assert len(names(a)) == 3", "assert names(a) == ['x', 'y', 'z']"),
    "the same part": ("assert names(a)[:2] == ['x', 'y']", "assert names(b)[:2] == ['x', 'y']"),
    "a narrow limit": ("assert rate(a) == 0.3", "assert rate(a) == approx(0.3, rel=1e-6)"),
    "a narrower limit": ("assert rate(a) == approx(0.3, abs=0.1)", "assert rate(a) == approx(0.3, abs=0.01)"),
    "more places": ("expect(rate(a)).toBeCloseTo(3.14, 2);", "expect(rate(a)).toBeCloseTo(3.14159, 5);"),
    "another error": ("with pytest.raises(ValueError):", "with pytest.raises(TypeError):"),
    "a narrower error": ("with pytest.raises(Exception):", "with pytest.raises(ValueError, match='no'):"),
    "an error with a name": ("with pytest.raises(ValueError):", "with pytest.raises(ValueError) as said:"),
    "an error of node that is narrower": ("assert.throws(() => f(1));", "assert.throws(() => f(1), RangeError);"),
    "an error of another call": ("assert.throws(() => f(1, 2), RangeError);", "assert.throws(() => f(1), RangeError);"),
    "an error of a list": ("with pytest.raises((ValueError, KeyError)):", "with pytest.raises(ValueError):"),
    "another error of rspec": ("expect { f(1) }.to raise_error(ArgumentError)", "expect { f(1) }.to raise_error(TypeError)"),
    "a call more closely": ("send.assert_called()", "send.assert_called_once_with('a')"),
    "an error of Go": ("if err == nil {", "if !errors.Is(err, ErrPercent) {"),
    "another question": ("assert total(a) == 370", "assert [len(each) for each in parts(b, sep=2)] == [1, 2]"),
}
PATCH = """diff --git a/tests/test_a.py b/tests/test_a.py
--- a/tests/test_a.py
+++ b/tests/test_a.py
@@ -4,4 +4,1 @@
-    assert total([]) == 0
-    assert total([1, 2]) == 3
-    note = "nothing is asked here"
-    assert label("x") == "X!"
+    remember = total
@@ -20,0 +19,2 @@
+        assert label("x")  == "X!"
+        assert total([1, 2], 3) == 3
"""


@pytest.mark.parametrize(("was", "now"), LESS.values(), ids=LESS)
def test_what_asks_for_less_is_named(was: str, now: str) -> None:
    assert asks_for_less(Rewritten("t:1", was, now))


@pytest.mark.parametrize(("was", "now"), NOT_LESS.values(), ids=NOT_LESS)
def test_what_asks_for_the_same_or_more_is_not(was: str, now: str) -> None:
    assert not asks_for_less(Rewritten("t:1", was, now))


def test_an_expectation_is_left_out_if_nothing_like_it_came_and_it_stands_nowhere_else() -> None:
    found = list(dropped_expectations(PATCH.encode(), lambda path: path.startswith("tests/")))
    assert [(each.place, each.before.strip()) for each in found] == [
        ("tests/test_a.py:4", "assert total([]) == 0"),
        ("tests/test_a.py:5", "assert total([1, 2]) == 3"),
    ]
    assert (
        list(dropped_expectations(PATCH.replace("remember = total", "assert total([1]) == 1").encode(), lambda _: True)) == []
    )  # another example came
    assert list(dropped_expectations(PATCH.encode(), lambda _: False)) == []


AROUND = {
    "python": ("test_a.py", "def test_one():\n    assert 1\n\n\ndef test_two():\n    assert 2\n", "test_one", "test_two"),
    "javascript": ("a.test.js", "test('one', () => {\n  assert(1);\n});\n\ntest('two', () => {\n  assert(2);\n});\n", "one", "two"),
    "go": ("a_test.go", "func TestOne(t *testing.T) {\n\tone(t)\n}\n\nfunc TestTwo(t *testing.T) {\n\ttwo(t)\n}\n", "TestOne", "TestTwo"),
}


@pytest.mark.parametrize(("path", "text", "one", "two"), AROUND.values(), ids=AROUND)
def test_the_test_that_a_line_stands_in_is_known_in_each_language(path: str, text: str, one: str, two: str) -> None:
    assert [*lines.tests_around(path, text, 2), *lines.tests_around(path, text, 6)] == [one, two]
    assert not lines.tests_around(path, "\n" + text, 1)


GO_TESTS = """func TestGone(t *testing.T) {
	want := Parse("a")
	if len(want) != 1 {
		t.Fatal(want)
	}
}

// says it
func TestKept(t *testing.T) {
	want := Parse("b")
	if len(want) != 2 {
		t.Fatal(want)
	}
}
"""


def test_lines_of_a_test_that_stands_elsewhere_only_seem_to_be_gone() -> None:
    kept = GO_TESTS[GO_TESTS.index("func TestKept") :]
    new = f'{kept}\nfunc TestCame(t *testing.T) {{\n\tParse("c")\n}}\n'
    assert lines.only_seem_removed("a_test.go", GO_TESTS, new, range(11, 13))
    assert not lines.only_seem_removed("a_test.go", GO_TESTS, new, range(3, 5)), "that test is gone"
    assert not lines.only_seem_removed("a_test.go", GO_TESTS, new.replace("!= 2", "< 2"), range(11, 13)), "it asks for less there"
    assert not lines.only_seem_removed("a_test.go", "var x = 1\n", "var x = 2\n", range(1, 2)), "no test stands there"
