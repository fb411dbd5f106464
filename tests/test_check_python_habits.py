"""`detent check` and how Python projects write their tests: classes that are decorated while a file loads, tests that got another name or another shape."""

from pathlib import Path

import pytest

from detent.evidence.mutate.same_kind import other_answers
from detent.evidence.probes.successors_tried import Successors, flag_successors
from detent.evidence.source.new_names import new_names
from tests.test_check import BASE, HALF, ODD, Branch
from tests.test_check_habits import kinds

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


# -- older tests under another name or in another shape ----------------------------------------------------------------------------

WORDS = "def cut(text, size):\n    return text[:size]\n\n\ndef low(text):\n    return text.lower()\n"
LONGER = WORDS.replace("(text, size)", '(text, size, end="")').replace("text[:size]", "text if len(text) <= size else text[:size] + end")
OLD = """from words import cut, low


def test_cut_short():
    text = "abc"
    assert cut(text, 2) == "ab"


def test_cut_nothing():
    assert cut("", 2) == ""


def test_low():
    assert low("A") == "a"
"""
NEW_CUT = 'def test_cut_with_an_end():\n    text = "abc"\n    assert cut(text, 2) == "ab"\n    assert cut(text, 2, end="…") == "ab…"\n'
RENAMED = OLD.replace('def test_cut_short():\n    text = "abc"\n    assert cut(text, 2) == "ab"\n', NEW_CUT)
TABLE = """import pytest

from words import cut, low


def test_low():
    assert low("A") == "a"


@pytest.mark.parametrize(("text", "end", "wanted"), [("abc", "", "ab"), ("", "", ""), ("abc", "…", "ab…")])
def test_cuts(text, end, wanted):
    assert cut(text, 2, end=end) == wanted
"""
LESS = OLD.partition("def test_low")[0] + 'def test_cut_end():\n    assert cut("abc", 1, end="…") == "a…"\n'
ASKS_NOTHING = OLD.partition("def test_low")[0] + 'def test_low_text():\n    low("A")\n    assert cut("abc", 1, end="…") == "a…"\n'


def test_where_nothing_could_be_tried_a_test_in_the_place_of_another_is_asked_about() -> None:
    patch = b"--- a/t.py\n+++ b/t.py\n@@ -3 +3 @@\n-def test_a():\n+def test_b():\n"
    (sure,) = flag_successors(patch, {"t.py::test_a": Successors(frozenset({"t.py::test_b"}), 2)})
    (unsure,) = flag_successors(patch, {"t.py::test_a": Successors(frozenset({"t.py::test_b"}))})
    (missed,) = flag_successors(patch, {"t.py::test_a": Successors(frozenset({"t.py::test_b"}), 3, 1)})
    (elsewhere,) = flag_successors(patch, {"t.py::test_a": Successors(frozenset({"u.py::test_b"}), 3)})
    assert [flag.level for flag in (sure, unsure, missed, elsewhere)] == ["note", "ask", "ask", "ask"]
    assert "all 2 small changes" in sure.sentence and "it is unknown" in unsure.sentence and "only 2 of the 3" in missed.sentence
    assert (sure.before, sure.after) == ("def test_a():", "def test_b():") and "is gone" in elsewhere.sentence


ELSEWHERE = {
    "tests/test_words.py": OLD.partition("def test_cut_short")[0] + OLD[OLD.index("def test_cut_nothing") :],
    "tests/test_cuts.py": 'from words import cut\n\n\ndef test_ends():\n    assert cut("hello", 3, end="!") == "hel!"\n',
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tests", "answer", "said"),
    [
        pytest.param(
            RENAMED,
            "clean",
            "test_cut_short is gone; tests/test_words.py::test_cut_with_an_end came in its place",
            id="another name and more words",
        ),
        pytest.param(
            TABLE, "clean", "test_cut_short is gone; tests/test_words.py::test_cuts[", id="rows of a table", marks=pytest.mark.slow
        ),
        pytest.param(LESS, "failed", "test_low is gone, but would still pass", id="nothing in its place", marks=pytest.mark.slow),
        pytest.param(
            ASKS_NOTHING,
            "failed",
            "test_low is gone, and its replacement (tests/test_words.py::test_low_text) does not fail",
            id="one that asks nothing of it",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            ELSEWHERE, "flagged", "test_cut_short is gone, but would still pass", id="other words in another file", marks=pytest.mark.slow
        ),
    ],
)
def test_a_test_that_is_gone_is_replaced_by_one_that_notices_as_much(
    tmp_path: Path, tests: str | dict[str, str], answer: str, said: str
) -> None:
    p = Branch(tmp_path / "p", {**BASE, "words.py": WORDS, "tests/test_words.py": OLD})
    p.commit({"words.py": LONGER, **({"tests/test_words.py": tests} if isinstance(tests, str) else tests)})
    found = p.run("check", "--json").json
    told = found["failed"] if answer == "failed" else [flag["says"] for flag in found["flags"]]
    assert found["answer"] == answer and any(said in each for each in told), found


# -- tests that ask that something does not happen ---------------------------------------------------------------------------------

RULE = "import re\n\nLINE = re.compile(r'[=-]+$')\n\n\ndef is_line(text):\n    return bool(LINE.match(text))\n"
LINES = "from rule import is_line\n\n\ndef answers(text, wanted):\n    assert is_line(text) is wanted\n\n\ndef test_line():\n    answers('==', True)\n"
NO_LINE = LINES + '\n\ndef test_no_line():\n    """mixed signs"""\n    answers("=-", False)\n'


@pytest.mark.slow
def test_a_test_that_the_old_answer_makes_fail_is_not_vacuous_for_a_word_in_a_document(tmp_path: Path) -> None:
    p = Branch(tmp_path / "p", {**BASE, "rule.py": RULE, "tests/test_lines.py": LINES, ".words": "line\n", "CHANGES.md": "# Changes\n"})
    now = RULE.replace("[=-]+$", "(?:=+|-+)$").replace("LINE = ", "# mixed\nLINE = ")
    p.commit(
        {"rule.py": now, "tests/test_lines.py": NO_LINE, ".words": "line\nmixed\n", "CHANGES.md": "# Changes\n\n- `is_line` knows signs\n"}
    )
    found = p.run("check", "--json", DETENT_EVIDENCE_MUTATION="warn").json
    assert found["proved"] and not kinds(found), found


def test_new_names_are_those_that_a_test_can_speak_of() -> None:
    old = "def old(a):\n    return a\n"
    new = '''"""about words"""
import rule
TOP = 1


class Kept:
    size: int = 2

    def old(self, a, key=None):
        """a story"""
        inner = {"--some-option": 1, "a sentence for people": 2}  # comment
        self.field = inner
'''
    assert new_names("a.py", old, new) == {"rule", "TOP", "Kept", "size", "self", "key", "some", "option", "field"}
    assert (
        new_names("a.js", "f()", "// word\nf(g)") == {"g"}
        and not new_names("README.md", "", "word")
        and not new_names(".words", "", "word")
    )


# -- tests that come and go, and tests that are shown ------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fails", "answer", "said"),
    [
        ("x", "clean", "failed once and passed in three more runs"),
        (("x", "xx"), "flagged", "passed in the second, on the same tree"),
        pytest.param(("x", "xx", "xxxx"), "clean", "flaky without this change too", marks=pytest.mark.slow),
    ],
    ids=["by chance", "more often", "without the change too"],
)
def test_a_test_that_fails_and_passes_on_one_tree_is_told_and_fails_nothing(
    tmp_path: Path, fails: str | tuple[str, ...], answer: str, said: str
) -> None:
    speed = f"from pathlib import Path\n\nimport calc\n\nSEEN = Path({str(tmp_path / 'seen')!r})\n\n\ndef test_speed():\n"
    speed += "    if hasattr(calc, 'third') or (SEEN.exists() and len(SEEN.read_text()) > 2):\n"
    speed += f"        SEEN.write_text((SEEN.read_text() if SEEN.exists() else '') + 'x')\n        assert SEEN.read_text() not in {[*fails]!r}, 'too slow'\n"
    p = Branch(tmp_path / "p", {**BASE, "tests/test_speed.py": speed})
    new = "from calc import third\n\n\ndef test_third():\n    assert third(9) == 3\n"
    p.commit({"calc.py": BASE["calc.py"] + "\n\ndef third(n):\n    return n / 3\n", "tests/test_third.py": new})
    found = p.run("check", "--json").json
    (flag,) = found["flags"]
    assert (found["answer"], flag["place"], said in flag["says"]) == (answer, "tests/test_speed.py::test_speed", True), found


@pytest.mark.slow
def test_a_test_may_fail_by_chance_in_a_file_that_gets_another_one(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    speed = "from pathlib import Path\n\nimport calc\n\n\ndef test_speed():\n    if hasattr(calc, 'third'):\n"
    speed += f"        file = Path({str(seen)!r})\n        fast = file.exists()\n        file.touch()\n        assert fast\n"
    p = Branch(tmp_path / "p", {**BASE, "tests/test_speed.py": speed})
    more = "\n\ndef test_third():\n    assert calc.third(9) == 3\n"
    p.commit({"calc.py": BASE["calc.py"] + "\n\ndef third(n):\n    return n / 3\n", "tests/test_speed.py": speed + more})
    found = p.run("check", "--json").json
    assert (found["answer"], found["proved"]) == ("clean", ["tests/test_speed.py::test_third"]), found
    assert any("failed once and passed in three more runs" in flag["says"] for flag in found["flags"])


@pytest.mark.slow
def test_only_the_lines_of_tests_that_fail_now_are_said_to_fail(tmp_path: Path) -> None:
    p = Branch(tmp_path / "p", {**BASE, "words.py": WORDS, "tests/test_words.py": OLD})
    tests = OLD.replace('low("A") == "a"', 'low("A") == "A"').replace('cut(text, 2) == "ab"', 'cut(text, 1) == "a"')
    p.commit({"words.py": WORDS.replace("lower", "upper"), "tests/test_words.py": tests})
    flags = [flag for flag in p.run("check", "--json").json["flags"] if "the old version fails" in flag["says"]]
    assert [flag["place"] for flag in flags] == ["tests/test_words.py:14"], flags


def test_new_tests_that_are_skipped_here_are_told(tmp_path: Path) -> None:
    p = Branch(tmp_path / "p")
    later = "\n\n@pytest.mark.skipif(True, reason='for a later Python')\ndef test_later():\n    assert half(5) == 2.5\n"
    p.commit({"calc.py": HALF, "tests/test_odd.py": f"import pytest\n\n{ODD}{later}"})
    (note,) = p.run("check", "--json").json["flags"]
    assert note["level"] == "note" and note["says"].startswith("tests/test_odd.py::test_later is new and skipped here"), note


def test_a_function_that_hands_on_an_effect_is_not_asked_for_another_answer() -> None:
    text = """class Cache:
    def _clear(self):
        self.kept.pop()

    def clear(self):
        return self._clear()

    def drop(self):
        return self.kept.clear()

    def size(self):
        return len(self.kept)

    def again(self, n):
        return self.again(n - 1) if n else self.size()
"""
    assert [body.name for body in other_answers(text, range(1, 99))] == ["size", "again"]


# -- what tests get from a conftest.py ---------------------------------------------------------------------------------------------

FIXTURES = "import pytest\n\n\n@pytest.fixture\ndef four():\n    return 4\n"
WITH_FOUR = {
    **BASE,
    "tests/conftest.py": FIXTURES,
    "tests/test_calc.py": "from calc import half\n\n\ndef test_half(four):\n    assert half(four) == 2\n",
}
THREE = FIXTURES + "\n\n@pytest.fixture\ndef three():\n    return 3\n"
CALC_AND_MORE = HALF.replace("n / 2", "n / 2 + (n == 4)")  # wrong for four
ODD_OF_THREE = "from calc import half\n\n\ndef test_odd(three):\n    assert half(three) == 1.5\n"


@pytest.mark.slow
@pytest.mark.parametrize("base", [WITH_FOUR, {path: text for path, text in BASE.items() if "conftest" not in path}], ids=["grown", "new"])
def test_a_fixture_that_new_tests_use_is_part_of_the_tests(tmp_path: Path, base: dict[str, str]) -> None:
    p = Branch(tmp_path / "p", base)
    p.commit({"calc.py": HALF, "tests/conftest.py": THREE, "tests/test_odd.py": ODD_OF_THREE})
    found = p.run("check", "--json", DETENT_EVIDENCE_MUTATION="warn").json
    assert found["proved"] == ["tests/test_odd.py::test_odd"] and not kinds(found), found


@pytest.mark.slow
def test_a_fixture_alone_proves_nothing(tmp_path: Path) -> None:
    p = Branch(tmp_path / "p", WITH_FOUR)
    p.commit({"calc.py": HALF, "tests/conftest.py": THREE, "tests/test_odd.py": "def test_odd(three):\n    assert three == 3\n"})
    found = p.run("check", "--json", DETENT_EVIDENCE_MUTATION="warn").json
    assert not found["proved"] and "no-proof" in kinds(found), found


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        {"tests/conftest.py": THREE.replace("return 4", "return 2")},
        {"tests/deep/conftest.py": FIXTURES.replace("return 4", "return 2"), "tests/conftest.py": THREE},
    ],
    ids=["changed", "in the place of another"],
)
def test_a_fixture_by_which_older_tests_pass_is_asked_about(tmp_path: Path, change: dict[str, str]) -> None:
    deep = {"tests/deep/test_calc.py": WITH_FOUR["tests/test_calc.py"].replace("== 2", "< 3")}
    p = Branch(tmp_path / "p", {**WITH_FOUR, "tests/test_calc.py": "def test_one():\n    assert 1\n", **deep})
    p.commit({"calc.py": CALC_AND_MORE, "tests/test_odd.py": ODD_OF_THREE, **change})
    found = p.run("check", "--json", DETENT_EVIDENCE_MUTATION="warn").json
    assert found["proved"] and "rewritten-test" in kinds(found), found


@pytest.mark.slow
@pytest.mark.parametrize(
    "more",
    [
        "\n\n@pytest.fixture(autouse=True)\ndef one():\n    return 1\n",
        "\n\ndef pytest_runtest_setup(item):\n    pass\n",
        "\n\nimport calc\n\n\ndef one(n=setattr(calc, 'half', lambda n: n / 2)):\n    return n\n",
        "\n\nclass One(dict(one=print(1)).__class__):\n    pass\n",
    ],
    ids=["autouse", "a hook", "a default that does something", "a base that does something"],
)
def test_a_conftest_that_decides_how_tests_run_is_asked_about(tmp_path: Path, more: str) -> None:
    p = Branch(tmp_path / "p", WITH_FOUR)
    p.commit({"calc.py": HALF, "tests/conftest.py": THREE + more, "tests/test_odd.py": ODD_OF_THREE})
    assert "judged-by" in kinds(p.run("check", "--json", DETENT_EVIDENCE_MUTATION="warn").json)
