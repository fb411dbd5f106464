"""What a refactoring brings that no test notices: at its step, and again before the branch lands."""

import pytest

from detent.evidence.looks import repo_look
from detent.evidence.mutate.other_values import other_values
from detent.evidence.static_analysis.refactored_values import NewValue, new_values, still_there
from detent.kernel.model import Flag
from tests.feature import NONE, Feature, Files, at, flagged

WARN = '[evidence]\nmutation = "warn"\n'


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a probe finds is tested here, not how long someone waits for it: a busy machine changes no answer."""
    monkeypatch.setattr(repo_look, "QUICK", 120.0)


LIMITED = "LIMIT = 10\n\n\ndef add(a, b):\n    if a > LIMIT:\n        raise ValueError(a)\n    return a + b\n"


def patch(was: str, now: str, path: str = "a.py") -> bytes:
    gone, new = was.splitlines(), now.splitlines()
    head = f"--- a/{path}\n+++ b/{path}\n@@ -1,{len(gone)} +1,{len(new)} @@\n"
    return (head + "".join(f"-{line}\n" for line in gone) + "".join(f"+{line}\n" for line in new)).encode()


def found(was: str, now: str) -> list[NewValue]:
    return new_values(patch(was, now), lambda path: True)


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("LIMIT = 10", "LIMIT = 100"),
        ("    if a > LIMIT:", "    if a > LIMIT + 1:"),
        ("    return a + b", "    if a < 1000:\n        return a + b\n    return 0"),
        ("    return a + b", "    return a + b if a < LIMIT else 0"),
        ("  return a + b", "  if (a > limit) return 0;\n  return a + b"),
        ("    a + b", "    return 0 if a > LIMIT\n    a + b"),
        ("    if a >= LIMIT:", "    if a > LIMIT:"),
        ("    if a and b:", "    if a:"),
        ("  timeout: 30,", "  timeout: 31,"),
    ],
)
def test_a_value_that_a_refactoring_brings_is_found(was: str, now: str) -> None:
    assert found(was, now)


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("    return price * 119 / 100", "RATE = 119 / 100\n    return price * RATE"),
        ("    if not a:\n        return 0\n    return a", "    if a:\n        return a\n    return 0"),
        ("def add(a, b):\n    return a + b", "def add(first, second):\n    return first + second"),
        ("    if a > 10:\n        go()", "    if is_far(a):\n        go()\n\n\ndef is_far(a):\n    return a > 10"),
        ("    first = items[0]", "    first, last = items[0], items[-1]"),
        ("    total = a", "    # at most 500 of them\n    total = a"),
        ("    raise TooMany()", '    raise TooMany("more than 500")'),
    ],
)
def test_what_only_moved_is_not(was: str, now: str) -> None:
    assert found(was, now) == []


@pytest.mark.parametrize(
    ("path", "line", "made"),
    [
        ("a.py", "if a < 1000 + b:", ["if a < 1001 + b:", "if a < 999 + b:", "if (True or (a < 1000 + b)):", "if (False and (a < 1000 + b)):"]),
        ("a.py", "x = 1 if a else 'at 30'", ["x = 2 if a else 'at 30'", "x = 0 if a else 'at 30'", "x = 1 if (True or (a)) else 'at 30'", "x = 1 if (False and (a)) else 'at 30'"]),
        ("a.js", "if (f(a) && b) return 0;", ["if (f(a) && b) return 1;", "if ((true || (f(a) && b))) return 0;", "if ((false && (f(a) && b))) return 0;"]),
        ("a.js", "if ((a) || (b)) {", ["if ((true || ((a) || (b)))) {", "if ((false && ((a) || (b)))) {"]),
        ("a.go", "if err := f(); err != nil {", ["if err := f(); (true || (err != nil)) {", "if err := f(); (false && (err != nil)) {"]),
        ("a.go", "if (a) == (b) {", ["if (true || ((a) == (b))) {", "if (false && ((a) == (b))) {"]),
        ("a.rb", "return a unless b", ["return a unless (true || (b))", "return a unless (false && (b))"]),
        ("a.rs", "if let Some(x) = a {", []),
        ("a.js", "if (a &&", []),
    ],
)  # fmt: skip
def test_each_value_of_a_line_is_another_one(path: str, line: str, made: list[str]) -> None:
    text = f"{line}\n    pass\n" if path == "a.py" and line.endswith(":") else f"{line}\n"
    assert [spot.make().split("\n")[0] for spot in other_values(path, text, {1})] == made


def test_a_value_is_found_again_where_it_moved_to() -> None:
    value = NewValue("a.py", 2, "", "    if a:\n        b()")
    assert still_there(value, "\n\n\nif a:\n    b()\n") == 4
    assert still_there(value, "\nif a:\n    c()\n") == 0


DISHONEST = {
    "a limit that is ten times as large": LIMITED.replace("10\n", "100\n"),
    "a limit that is moved by one": LIMITED.replace("> LIMIT", "> LIMIT + 1"),
    "a limit that is moved by one, near what a test asks": LIMITED.replace("> LIMIT", "> LIMIT - 9"),
    "a limit that may be reached": LIMITED.replace("> LIMIT", ">= LIMIT"),
    "another answer for large values": LIMITED.replace("    return a + b", "    if b < 1000:\n        return a + b\n    return 0"),
    "another answer without a number": LIMITED.replace("    return a + b", "    if b > LIMIT:\n        return 0\n    return a + b"),
    "a function that no test calls": LIMITED + "\n\ndef far(a):\n    return a > LIMIT\n",
}


SUBTRACT: Files = {"tests/test_sub.py": "from sub import sub\n\n\ndef test_sub():\n    assert sub(3, 2) == 1\n"}
AT_THE_LIMIT = """import pytest
from calc import add


def test_limit():
    assert add(10, 0) == 10
    with pytest.raises(ValueError):
        add(11, 0)
"""


def refactored(text: str) -> tuple[Feature, Flag]:
    """A run whose first cycle ended with this refactoring, and what its verdict said of it."""
    f = at("GREEN", WARN)
    assert f.lay({"calc.py": LIMITED}).submit().state == "REFACTOR"
    return f, flagged(f.lay({"calc.py": text}).submit(), "unnoticed", "no test fails ")


def landed(f: Feature, tests: Files, code: Files) -> Feature:
    """The run after another cycle, which is about other code, and after the look at its branch."""
    f.plan({"description": "subtracts two numbers", "testFile": next(iter(tests)), "implFile": next(iter(code))}, None)
    assert f.lay(tests).submit().state == "GREEN"
    assert f.lay(code).submit().state == "REFACTOR"
    f.submit()
    assert f.submit(NONE).state == "LANDING"
    f.app().door.next(f.run_id)
    return f


@pytest.mark.slow
@pytest.mark.parametrize("name", DISHONEST)
def test_a_refactoring_that_decides_otherwise_is_asked_about_before_it_lands(name: str) -> None:
    f, flag = refactored(DISHONEST[name])
    assert flag.level == "ask"
    run = landed(f, SUBTRACT, {"sub.py": "def sub(a, b):\n    return a - b\n"}).run
    assert (run.state, run.cause) == ("HALTED", "flags")
    assert {each.kind for each in run.flags if each.level == "ask" and each.place.startswith("calc.py")} == {"unnoticed"}


@pytest.mark.slow
def test_a_value_that_a_test_notices_later_is_not_asked_about() -> None:
    f, flag = refactored(LIMITED.replace("> LIMIT", "> LIMIT + 0"))
    assert flag.place == "calc.py:5"
    run = landed(f, {**SUBTRACT, "tests/test_limit.py": AT_THE_LIMIT}, {"sub.py": "def sub(a, b):\n    return a - b\n"}).run
    assert run.state == "COMPLETE", run.flags
