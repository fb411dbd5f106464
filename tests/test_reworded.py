"""Expectations that only follow a message which the change words differently."""

from pathlib import Path

import pytest

from detent.evidence.source.diff import altered, rewritten
from detent.evidence.source.reworded import is_renamed, is_reworded
from tests.test_rewritten import patch_of


def only_reworded(folder: Path, code: tuple[str, str], test: tuple[str, str], names: tuple[str, str] = ("cart.py", "test_cart.py")) -> bool:
    patch = patch_of(folder, dict(zip(names, (code[0], test[0]), strict=True)), dict(zip(names, (code[1], test[1]), strict=True)))
    found = rewritten(patch, lambda path: "test" in path)
    assert found
    return all(is_reworded(each, patch, lambda path: "test" not in path) for each in found)


@pytest.mark.parametrize(
    ("code", "test", "names"),
    [
        (
            ('raise ValueError("the amount is wrong")\n', 'raise ValueError("the amount is not a number")\n'),
            ('with raises(ValueError, match="the amount is wrong"):\n', 'with raises(ValueError, match="the amount is not a number"):\n'),
            ("cart.py", "test_cart.py"),
        ),
        (
            ('return f"relative={self.relative!r}"\n', 'return f"relative={self.relative!r}, absolute={self.absolute!r}"\n'),
            (
                'assert repr(url) == "<URL(relative={!r})>".format(no)\n',
                'assert repr(url) == "<URL(relative={!r}, absolute=True)>".format(no)\n' + "assert more(url)\n" * 20,
            ),
            ("cart.py", "test_cart.py"),
        ),
        (
            ("\treturn fmt.Errorf(`bad version %s`, v)\n", "\treturn fmt.Errorf(`invalid version %s`, v)\n"),
            ('\t\t{"x", "bad version x"},\n', '\t\t{"x", "invalid version x"},\n'),
            ("cart.go", "cart_test.go"),
        ),
        (
            ("throw new Error('no such file here')\n", "throw new Error('there is no such file')\n"),
            ("  expect(() => read()).toThrow('no such file here');\n", "  expect(() => read()).toThrow('there is no such file');\n"),
            ("cart.js", "cart.test.js"),
        ),
        (  # the message was that of the library before
            ("\treturn err\n", '\treturn errors.New("must be true or false")\n'),
            (
                '\texpectedErr = `invalid "x" for --bool: strconv.ParseBool: invalid syntax`\n',
                '\texpectedErr = `invalid "x" for --bool: must be true or false`\n',
            ),
            ("cart.go", "cart_test.go"),
        ),
        (  # quotes came around a value
            ('\treturn fmt.Errorf("%s is less than %s", a, b)\n', '\treturn fmt.Errorf("%q is less than %q", a, b)\n'),
            ('\tif e != "1.2 is less than 2" {\n', '\tif e != `"1.2" is less than "2"` {\n'),
            ("cart.go", "cart_test.go"),
        ),
    ],
)
def test_a_test_that_follows_a_reworded_message_is_told_apart(
    tmp_path: Path, code: tuple[str, str], test: tuple[str, str], names: tuple[str, str]
) -> None:
    assert only_reworded(tmp_path, code, test, names)


@pytest.mark.parametrize(
    ("code", "test"),
    [
        (("return a - b\n", "return a + b\n"), ("assert total(2, 1) == 1\n", "assert total(2, 1) == 3\n")),  # a number
        (('say("all is well")\n', 'say("all is right")\n'), ("assert total(2, 1) == 1\n", "assert total(2, 1) == 3\n")),  # beside a message
        (('return "yes" if ok else "no"\n', 'return "no"\n'), ('assert answer() == "yes"\n', 'assert answer() == "no"\n')),  # an answer
        (('return "-".join(words)\n', 'return "_".join(words)\n'), ('assert slug("a b") == "a-b"\n', 'assert slug("a b") == "a_b"\n')),
        (
            ("return a\n", 'return "all is well here"\n'),
            ('assert name(2) == "two by two"\n', 'assert name(2) == "all is well here"\n'),
        ),  # no error
        (('raise Bad("no way")\n', 'raise Bad("no way out")\n'), ('assert join(a) == "1,2"\n', 'assert join(a) == "1;2"\n')),  # other signs
        (  # both messages stand in the code as before: another one is expected
            (
                'return "access is granted" if ok else "access is denied"\n',
                'return "access is granted" if not ok else "access is denied"\n',
            ),
            ('assert enter() == "access is granted"\n', 'assert enter() == "access is denied"\n'),
        ),
        (('say("the cart is empty")\n', 'say("the cart is bare")\n'), ('assert cart == "the cart is empty"\n', "assert cart\n")),
        (('say("it costs %s euros")\n', 'say("it costs {} euros")\n'), ('assert cost() == "1.5"\n', 'assert cost() == "1,5"\n')),
        (
            ('say("it costs 3 euros")\n', 'say("it costs 4 euros")\n'),
            ('assert cost() == "it costs 3"\n', 'assert cost() == "it costs 4"\n'),
        ),
        (('say("the cart is empty")\n', 'say("the cart is bare")\n'), ('assert cart == "the cart is empty"\n', "")),
        (
            ('say("the cart is empty")\n', 'say("the cart is bare")\n'),
            ('assert "the cart is empty" == ok\n', 'assert "the cart is full" == ok\n'),
        ),
        (('say("cart is empty")\n', 'say("cart is bare")\n'), ('assert cart == "cart is empty"\n', 'assert cart != "cart is bare"\n')),
    ],
)
def test_whatever_else_an_expectation_says_now_is_not_only_reworded(tmp_path: Path, code: tuple[str, str], test: tuple[str, str]) -> None:
    assert not only_reworded(tmp_path, code, test)


RENAMED = {
    "a function": (("def total(a):\n", "def total_of(a):\n"), ("assert total([1]) == 1\n", "assert total_of([1]) == 1\n")),
    "a constant": (("IGNORE_ALL = 1\n", "IGNORE = 1\n"), ("assert mode() == IGNORE_ALL\n", "assert mode() == IGNORE\n")),
    "what is replaced for the test": (
        ("import time\ndef now(): return time.time()\n", "from timeit import default_timer as timer\ndef now(): return timer()\n"),
        ("patch.setattr('time.time', lambda: 3)\n", "patch.setattr('cart.timer', lambda: 3)\n"),
    ),
    "a module that is replaced": (
        ("import { now } from './time'\n", "import { now } from './clock'\n"),
        ("vi.mock('../src/time', () => ({ now: () => 3 }))\n", "vi.mock('../src/clock', () => ({ now: () => 3 }))\n"),
    ),
}
NOT_RENAMED = {
    "what is replaced, and by what": (
        ("import time\ndef now(): return time.time()\n", "from timeit import default_timer as timer\ndef now(): return timer()\n"),
        ("patch.setattr('time.time', lambda: 3)\n", "patch.setattr('cart.timer', lambda: 4)\n"),
    ),
    "the code itself is replaced": (
        ("def total(a): return 1\n", "def total(a): return 2\n"),
        ("patch.setattr('time.time', lambda: 3)\n", "patch.setattr('cart.total', lambda: 3)\n"),
    ),
    "the value too": (("def total(a):\n", "def total_of(a):\n"), ("assert total([1]) == 1\n", "assert total_of([1]) == 2\n")),
    "both are there": (
        ("def total(a):\n    pass\n", "def total(a):\n    last()\n"),
        ("assert total([1]) == 1\n", "assert last([1]) == 1\n"),
    ),
    "to something older": (("def total(a):\n", "def other(a):\n"), ("assert total([1]) == 1\n", "assert first([1]) == 1\n")),
    "two into one": (("def a1(x): b1(x)\n", "def c1(x): c1(x)\n"), ("assert a1(b1) == 1\n", "assert c1(d1) == 1\n")),
}


def renamed(folder: Path, code: tuple[str, str], test: tuple[str, str]) -> bool:
    patch = patch_of(folder, {"cart.py": code[0], "test_cart.py": test[0]}, {"cart.py": code[1], "test_cart.py": test[1]})
    found = altered(patch, lambda path: "test" in path)
    assert found
    return all(is_renamed(each, patch, lambda path: "test" not in path) for each in found)


@pytest.mark.parametrize(("code", "test"), RENAMED.values(), ids=RENAMED)
def test_a_test_that_follows_a_name_is_told_apart(tmp_path: Path, code: tuple[str, str], test: tuple[str, str]) -> None:
    assert renamed(tmp_path, code, test)


@pytest.mark.parametrize(("code", "test"), NOT_RENAMED.values(), ids=NOT_RENAMED)
def test_anything_else_that_differs_is_no_other_name(tmp_path: Path, code: tuple[str, str], test: tuple[str, str]) -> None:
    assert not renamed(tmp_path, code, test)
