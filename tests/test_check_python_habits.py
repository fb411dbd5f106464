"""`detent check` and how Python projects write their tests: classes that are decorated while a file loads, tests that got another name or another shape."""

from pathlib import Path

import pytest

from tests.test_check import BASE, Branch

# -- code that runs while a test file is loaded ------------------------------------------------------------------------------------

MEMO = """def memo(size):
    def wrap(method):
        seen = {}

        def call(self, n):
            if len(seen) == size:
                seen.clear()
            if n not in seen:
                seen[n] = method(self, n)
            return seen[n]
        return call
    return wrap
"""
KEYED = MEMO.replace("(size)", "(size, key=int)").replace("def call(self, n):\n", "def call(self, n):\n            n = key(n)\n")
COUNTS = """from memo import memo


class Counted:
    count = 0

    @memo(size=2)
    def get(self, n):
        self.count += 1
        return self.count


def test_counted():
    counted = Counted()
    assert [counted.get(n) for n in (1, 1, 2, 3, 1)] == [1, 1, 2, 3, 4]
"""
ROUNDS = "\n\ndef test_keys():\n    counted = Counted()\n    assert [counted.get(n) for n in (5, 5.5, 6)] == [1, 1, 2]\n"


@pytest.mark.slow
def test_a_decorator_that_a_test_file_uses_while_it_loads_is_noticed(tmp_path: Path) -> None:
    p = Branch(tmp_path / "p", {**BASE, "memo.py": MEMO, "tests/test_memo.py": COUNTS})
    p.commit({"memo.py": KEYED, "tests/test_memo.py": COUNTS + ROUNDS})
    found = p.run("check", "--json", DETENT_EVIDENCE_MUTATION="warn").json
    assert found["proved"] == ["tests/test_memo.py::test_keys"], found
    assert not [flag for flag in found["flags"] if flag["kind"] in ("unnoticed", "vacuous-test")], found


MARKS = "def mark(name):\n    return lambda made: (name, made)\n\n\ndef pair(made):\n    return [made, made]\n\n\ndef size(made):\n    return len(made)\n"
INSIDE = """from marks import mark, pair, size


def test_marks():
    @mark("a")
    def one():
        pass
    first, second = pair(one)
    assert size(one) == 2
    assert first == second
    assert one[0] == "a"
"""
ABOVE = """from marks import mark, pair, size


@mark("a")
def one():
    pass


NAME, _ = one
FIRST, SECOND = pair(one)
SIZES = range(size(one))


def test_marks():
    assert len(SIZES) == 2
    assert FIRST == SECOND
    assert NAME == "a"
"""


@pytest.mark.slow
def test_what_a_test_asks_while_its_file_loads_is_not_weakened(tmp_path: Path) -> None:
    p = Branch(tmp_path / "p", {**BASE, "marks.py": MARKS, "tests/test_marks.py": INSIDE})
    p.commit({"tests/test_marks.py": ABOVE})
    assert not p.run("check", "--json", DETENT_EVIDENCE_MUTATION="warn").json["failed"]
