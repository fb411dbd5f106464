"""Lines of a test that ask for less than those before, by their form, in several languages."""

import pytest

from detent.evidence.source.diff import Rewritten
from detent.evidence.source.weaker_form import asks_for_less

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
}


@pytest.mark.parametrize(("was", "now"), LESS.values(), ids=LESS)
def test_what_asks_for_less_is_named(was: str, now: str) -> None:
    assert asks_for_less(Rewritten("t:1", was, now))


@pytest.mark.parametrize(("was", "now"), NOT_LESS.values(), ids=NOT_LESS)
def test_what_asks_for_the_same_or_more_is_not(was: str, now: str) -> None:
    assert not asks_for_less(Rewritten("t:1", was, now))
