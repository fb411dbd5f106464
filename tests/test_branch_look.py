"""The look at a whole branch: what its tests prove from base to tip, and what a person should see. On real repositories, with pytest."""

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from detent.app.try_tests import try_tests
from detent.config import Settings
from detent.evidence.looks.branch_look import BranchSpan, look_over
from detent.evidence.outcomes.card import Card
from detent.evidence.runners import Folder, find_command
from detent.evidence.running.collect import Collector
from detent.evidence.running.suite import Suite
from detent.git.place import find_place
from detent.git.repo import Git
from tests.project import INI, Project

BASE = {
    "pytest.ini": INI,
    ".gitignore": "__pycache__/\n",
    "calc.py": "def half(n):\n    return n // 2\n\n\ndef double(n):\n    return n * 2\n",
    "tests/test_calc.py": "from calc import double, half\n\n\ndef test_half():\n    assert half(4) == 2\n\n\ndef test_double():\n    assert double(2) == 4\n",
}
ODD = "from calc import half\n\n\ndef test_odd():\n    assert half(3) == 1.5\n"
HALF = BASE["calc.py"].replace("n // 2", "n / 2")


def card(
    tmp_path: Path, change: Mapping[str, str | None], base: dict[str, str] | None = None, about: str = "", preflight: tuple[str, ...] = ()
) -> Card:
    """The card of a branch that makes one change."""
    p = Project(tmp_path / "p", base or BASE)
    start = p.git("rev-parse", "HEAD")
    p.write({path: text for path, text in change.items() if text is not None})
    for path, text in change.items():
        if text is None:
            (p.root / path).unlink()
    p.git("add", "-A")
    p.git("commit", "-q", "-m", "change")
    place = find_place(p.root)
    git, path = Git(place, p.env), p.env["PATH"]
    suite = Suite(find_command(Folder(p.root, path)), 120.0, path)
    (place.git_dir / "detent").mkdir(exist_ok=True)
    span = BranchSpan(
        git.tree(start),
        git.tree("HEAD"),
        Collector(git, suite, "look", p.env),
        {},
        lambda: True,
        seconds=60,
        commit=start,
        request=about,
        preflight=preflight,
    )
    return look_over(span)


def kinds(found: Card) -> set[str]:
    return {flag.kind for flag in found.asks}


@pytest.mark.slow
def test_a_change_that_a_test_needs_is_proved_and_clean(tmp_path: Path) -> None:
    found = card(tmp_path, {"calc.py": HALF, "tests/test_odd.py": ODD})
    assert found.proved == ("tests/test_odd.py::test_odd",) and found.kept == 2
    assert not found.failed and not found.asks and not found.unclear


@pytest.mark.slow
def test_new_tests_that_pass_without_the_change_are_pins(tmp_path: Path) -> None:
    found = card(tmp_path, {"calc.py": HALF, "tests/test_odd.py": ODD + "\n\ndef test_zero():\n    assert half(0) == 0\n"})
    assert found.proved == ("tests/test_odd.py::test_odd",) and found.pins == ("tests/test_odd.py::test_zero",)


def test_code_without_a_test_that_needs_it_is_flagged(tmp_path: Path) -> None:
    assert "no-proof" in kinds(card(tmp_path, {"calc.py": BASE["calc.py"] + "\n\ndef third(n):\n    return n / 3\n"}))


@pytest.mark.parametrize("change", [{"README.md": "words\n"}, {"calc.py": "# a comment\n" + BASE["calc.py"]}], ids=["a page", "a comment"])
def test_words_and_layout_need_no_proof(tmp_path: Path, change: dict[str, str | None]) -> None:
    found = card(tmp_path, change)
    assert not found.asks and not found.failed


def test_a_regression_fails(tmp_path: Path) -> None:
    found = card(tmp_path, {"calc.py": HALF.replace("n * 2", "n * 3"), "tests/test_odd.py": ODD})
    assert any("test_double passed before and fails now" in said for said in found.failed)


def test_a_test_that_is_gone_though_it_still_holds_fails(tmp_path: Path) -> None:
    less = BASE["tests/test_calc.py"].partition("\n\n\ndef test_double")[0] + "\n"
    found = card(tmp_path, {"calc.py": HALF, "tests/test_odd.py": ODD, "tests/test_calc.py": less})
    assert any("test_double is gone, but would still pass" in said for said in found.failed), found


@pytest.mark.slow
def test_a_test_rewritten_to_what_the_broken_code_answers_is_flagged_with_both_versions(tmp_path: Path) -> None:
    wrong = {
        "calc.py": BASE["calc.py"].replace("n * 2", "n * 3"),
        "tests/test_calc.py": BASE["tests/test_calc.py"].replace("double(2) == 4", "double(2) == 6"),
    }
    found = card(tmp_path, wrong)
    assert kinds(found) == {"rewritten-test"}, found
    (flag,) = [flag for flag in found.asks if flag.kind == "rewritten-test"]
    assert "double(2) == 4" in flag.before and "double(2) == 6" in flag.after


@pytest.mark.slow
def test_a_test_that_moves_and_says_something_else_is_flagged(tmp_path: Path) -> None:
    less = BASE["tests/test_calc.py"].partition("\n\n\ndef test_double")[0] + "\n"
    moved = {
        "calc.py": HALF,
        "tests/test_odd.py": ODD,
        "tests/test_calc.py": less,
        "tests/test_more.py": "def test_double():\n    assert True\n",
    }
    assert "rewritten-test" in kinds(card(tmp_path, moved))
    same = {**moved, "tests/test_more.py": "from calc import double\n\n\ndef test_double():\n    assert double(2) == 4\n"}
    assert "rewritten-test" not in kinds(card(tmp_path / "same", same))


@pytest.mark.slow
def test_a_weakened_test_fails(tmp_path: Path) -> None:
    weak = BASE["tests/test_calc.py"].replace("assert double(2) == 4", "double(2)")
    found = card(tmp_path, {"calc.py": HALF, "tests/test_odd.py": ODD, "tests/test_calc.py": weak})
    assert any("test_double is weakened" in said for said in found.failed), found


@pytest.mark.slow
def test_code_that_no_test_notices_is_flagged_where_it_is_most_of_the_change(tmp_path: Path) -> None:
    more = HALF + "\n\ndef third(n):\n    return n / 3\n\n\ndef fourth(n):\n    return n / 4\n"
    found = card(tmp_path, {"calc.py": more, "tests/test_odd.py": ODD})
    assert {flag.place for flag in found.asks if flag.kind == "unnoticed"} == {"calc.py: third", "calc.py: fourth"}, found


@pytest.mark.slow
def test_a_test_that_asserts_nothing_about_the_code_it_came_with_is_vacuous(tmp_path: Path) -> None:
    code = BASE["calc.py"] + "\n\ndef third(n):\n    return n / 3\n"
    found = card(tmp_path, {"calc.py": code, "tests/test_third.py": "from calc import third\n\n\ndef test_third():\n    third(9)\n"})
    assert {"vacuous-test"} <= kinds(found), found


FLUSH = """

def flush(stream):
    try:
        stream.flush()
    except AttributeError:
        pass
"""


@pytest.mark.slow
@pytest.mark.parametrize(("given", "is_vacuous"), [("None", False), ("open('pytest.ini')", True)])
def test_a_test_that_wants_no_error_fails_once_the_handler_passes_it_on(tmp_path: Path, given: str, is_vacuous: bool) -> None:
    test = f"from calc import flush\n\n\ndef test_flush():\n    flush({given})  # must not raise\n"
    found = card(tmp_path, {"calc.py": HALF + FLUSH, "tests/test_odd.py": ODD, "tests/test_flush.py": test})
    assert ("vacuous-test" in kinds(found)) is is_vacuous, found


@pytest.mark.slow
def test_a_base_whose_tests_fail_is_known_and_held_against_nobody(tmp_path: Path) -> None:
    red = {**BASE, "tests/test_red.py": "def test_red():\n    assert False\n"}
    found = card(tmp_path, {"calc.py": HALF, "tests/test_odd.py": ODD}, red)
    assert found.known == ("tests/test_red.py::test_red",) and not found.failed


@pytest.mark.slow
def test_a_changed_configuration_of_the_runner_is_flagged(tmp_path: Path) -> None:
    assert "judged-by" in kinds(card(tmp_path, {"calc.py": HALF, "tests/test_odd.py": ODD, "pytest.ini": INI + "norecursedirs = slow\n"}))


def test_trying_the_tests_of_a_repository_without_a_commit_says_nothing(tmp_path: Path) -> None:
    p = Project(tmp_path / "p", BASE)
    p.git("update-ref", "-d", "HEAD")
    assert try_tests(find_place(p.root), Settings(), {**os.environ, **p.env}, ()) is None


@pytest.mark.slow
def test_an_import_alone_makes_older_tests_no_proof(tmp_path: Path) -> None:
    more = BASE["calc.py"] + "\n\ndef third(n):\n    return n / 3\n"
    only = {"calc.py": more, "tests/test_calc.py": BASE["tests/test_calc.py"].replace("import double, half", "import double, half, third")}
    found = card(tmp_path, only)
    assert found.proved == () and "no-proof" in kinds(found), found
    assert "tests/test_calc.py does not load without it, which proves nothing by itself" in found.asks[0].sentence, found.asks
    asked = only["tests/test_calc.py"].replace("assert half(4) == 2", "assert half(4) == 2\n    assert third(9) == 3")
    used = card(tmp_path / "used", {**only, "tests/test_calc.py": asked})
    assert used.proved == ("tests/test_calc.py::test_half",) and not used.asks, used


TWICE = 'def twice(n):\n    """Two of it.\n\n    >>> twice(3)\n    6\n    """\n    return n + n\n'


@pytest.mark.slow
def test_the_example_of_a_new_function_fails_when_the_function_answers_something_else(tmp_path: Path) -> None:
    base = {**BASE, "pytest.ini": INI.replace("addopts = ", "addopts = --doctest-modules ")}
    found = card(tmp_path, {"calc.py": BASE["calc.py"] + "\n\n" + TWICE}, base)
    assert found.proved == ("calc.py::calc.twice",), found
    assert not found.asks, found


@pytest.mark.slow
def test_a_new_test_that_looks_at_one_answer_of_many_is_not_vacuous_since_another_fails_first(tmp_path: Path) -> None:
    code = (
        BASE["calc.py"]
        + "\n\ndef size(n):\n    if n > 99:\n        return 'large'\n    if n < 0:\n        raise ValueError(n)\n    return 'small'\n"
    )
    tests = (
        "import pytest\n\nfrom calc import size\n\n\ndef test_large():\n    assert size(100) == 'large'\n\n\ndef test_small():\n    assert size(1) != 'large'\n\n\n"
        "def test_negative():\n    with pytest.raises(ValueError):\n        size(-1)\n"
    )
    found = card(tmp_path, {"calc.py": code, "tests/test_size.py": tests})
    assert len(found.proved) == 3 and not found.asks, found


OLD_ODD = {**BASE, "tests/test_odd.py": "from calc import half\n\n\ndef test_odd():\n    assert half(3) == 1\n"}
NEW_ODD = {"tests/test_odd.py": ODD}


@pytest.mark.slow
def test_an_older_test_that_changes_with_a_new_test_of_the_same_code_is_a_note(tmp_path: Path) -> None:
    five = "from calc import half\n\n\ndef test_five():\n    assert half(5) == 2.5\n"
    found = card(tmp_path, {"calc.py": HALF, **NEW_ODD, "tests/test_five.py": five}, OLD_ODD)
    assert [(flag.kind, flag.level, flag.after) for flag in found.flags] == [("rewritten-test", "note", "    assert half(3) == 1.5")], found


@pytest.mark.slow
def test_an_older_test_that_hides_a_break_behind_a_new_test_of_other_code_is_asked_about(tmp_path: Path) -> None:
    clamp = "\n\ndef clamp(n, low, high):\n    return max(low, min(n, high))\n"
    tests = "from calc import clamp\n\n\ndef test_clamp():\n    assert clamp(9, 1, 5) == 5\n    assert clamp(0, 1, 5) == 1\n"
    found = card(tmp_path, {"calc.py": HALF + clamp, **NEW_ODD, "tests/test_clamp.py": tests}, OLD_ODD)
    assert [flag.kind for flag in found.asks] == ["rewritten-test"], found


@pytest.mark.slow
def test_code_that_only_builds_or_measures_is_not_expected_to_be_noticed(tmp_path: Path) -> None:
    tools = {"tasks.py": "def tests(c):\n    return c.run('x')\n", "benchmarks/speed.py": "def fast():\n    return 1\n"}
    tools["examples/use.py"] = "def main():\n    return 2\n"
    found = card(tmp_path, {"calc.py": HALF, "tests/test_odd.py": ODD, **tools})
    assert found.proved and not found.asks and not any(flag.kind == "unnoticed" for flag in found.flags), found


@pytest.mark.slow
def test_a_new_test_that_another_small_change_makes_fail_is_not_vacuous(tmp_path: Path) -> None:
    code = BASE["calc.py"].replace("    return n * 2\n", "    if n < 0 or n == 9:\n        return 5\n    return n * 2\n")
    more = BASE["tests/test_calc.py"] + "\n\ndef test_nine():\n    assert double(9) != 18\n"
    found = card(tmp_path, {"calc.py": code, "tests/test_calc.py": more})
    assert found.proved == ("tests/test_calc.py::test_nine",) and "vacuous-test" not in kinds(found), found


# -- work that proves nothing of what it is about ----------------------------------------------------------------------------------

NOTHING_DONE = {
    "a line of the README": {"README.md": "clamp is there\n"},
    "a comment": {"calc.py": "# clamp\n" + BASE["calc.py"]},
    "a test that passes anyway": {"tests/test_new.py": "from calc import half\n\n\ndef test_clamp():\n    assert half(2) == 1\n"},
    "an older test that says the same otherwise": {
        "tests/test_calc.py": BASE["tests/test_calc.py"].replace("double(2) == 4", "double(3) == 6")
    },
}


@pytest.mark.sample(2)
@pytest.mark.parametrize("change", NOTHING_DONE.values(), ids=NOTHING_DONE)
def test_work_that_changes_no_code_is_asked_about_where_code_was_wanted(tmp_path: Path, change: dict[str, str | None]) -> None:
    (flag,) = [flag for flag in card(tmp_path, change, about="Add clamp").flags if flag.kind == "no-proof"]
    assert flag.level == "ask" and "Add clamp" in flag.sentence


def test_a_test_file_that_is_not_collected_is_named(tmp_path: Path) -> None:
    base = {**BASE, "pytest.ini": "[pytest]\ntestpaths = tests\n"}
    change = {
        "calc.py": f"{BASE['calc.py']}\n\ndef third(n):\n    return n / 3\n",
        "other/test_third.py": "def test_third():\n    assert 0\n",
    }
    (flag,) = [flag for flag in card(tmp_path, change, base).flags if flag.kind == "no-proof"]
    assert flag.sentence.endswith("passes with it; no test of other/test_third.py ran"), flag.sentence


BESIDE = {
    "a benchmark": "benchmark/run.py",
    "an example of one package": "packages/calc/examples/show.py",
    "what builds the pages": "docs/pages.py",
    "what shows the pages": ".readthedocs.yaml",
    "an editor": ".vscode/settings.json",
}


@pytest.mark.slow
@pytest.mark.parametrize("path", BESIDE.values(), ids=BESIDE)
def test_code_beside_the_product_needs_no_test(tmp_path: Path, path: str) -> None:
    (flag,) = [flag for flag in card(tmp_path, {path: "def show():\n    return 1\n"}).flags if flag.kind == "no-proof"]
    assert flag.level == "note" and flag.sentence.startswith("no code of the product changed"), flag
    (flag,) = [
        flag
        for flag in card(tmp_path / "wanted", {path: "def clamp():\n    return 1\n"}, about="Add clamp").flags
        if flag.kind == "no-proof"
    ]
    assert flag.level == "ask" and "Add clamp" in flag.sentence, flag


STRICT = "[tool.mypy]\nstrict = true\n"


@pytest.mark.parametrize(
    ("path", "preflight", "kind"),
    [
        ("examples/web/pyproject.toml", (), []),
        ("pyproject.toml", (), ["judged-by"]),
        ("examples/web/pyproject.toml", ("mypy examples",), ["judged-by"]),
        ("tests/examples/conftest.py", (), ["judged-by"]),
    ],
    ids=["an example", "the project", "an example that preflight looks at", "a conftest"],
)
def test_settings_of_an_example_judge_nothing_unless_a_command_names_it(
    tmp_path: Path, path: str, preflight: tuple[str, ...], kind: list[str]
) -> None:
    was, now = (
        (STRICT, STRICT.replace("true", "false")) if path.endswith("toml") else ("", "def pytest_collection_modifyitems(items): ...\n")
    )
    found = card(tmp_path, {path: now}, {**BASE, path: was}, preflight=preflight)
    assert [flag.kind for flag in found.flags if flag.kind == "judged-by"] == kind, found.flags


@pytest.mark.sample(2)
@pytest.mark.parametrize("path", ["src/calc/docs/pages.py", "scripts/release.py", "calc/tasks.py", "app/examples/show.py"])
def test_code_of_the_product_needs_one_however_its_folder_is_called(tmp_path: Path, path: str) -> None:
    (flag,) = [flag for flag in card(tmp_path, {path: "def show():\n    return 1\n"}).flags if flag.kind == "no-proof"]
    assert flag.level == "ask" and flag.place == path, flag


@pytest.mark.parametrize("about", ["", "docs: say more", "Mention clamp in the README", "Add a test of half", "test: pin half"])
def test_where_words_or_tests_are_what_was_wanted_it_is_only_told(tmp_path: Path, about: str) -> None:
    found = card(tmp_path, {"README.md": "words\n"}, about=about)
    assert [flag.level for flag in found.flags if flag.kind == "no-proof"] == ["note"]


def test_a_failing_test_that_is_rewritten_to_pass_is_flagged(tmp_path: Path) -> None:
    red = {**BASE, "tests/test_red.py": "from calc import half\n\n\ndef test_red():\n    assert half(3) == 1.5\n"}
    found = card(tmp_path, {"tests/test_red.py": red["tests/test_red.py"].replace("1.5", "1")}, red)
    assert "rewritten-test" in kinds(found), found


@pytest.mark.slow
def test_what_reading_shows_is_on_the_card(tmp_path: Path) -> None:
    cheat = HALF.replace("return n / 2", "import os\n    return n / 2 if 'PYTEST_VERSION' in os.environ else n // 2")
    found = card(tmp_path, {"calc.py": cheat, "tests/test_odd.py": ODD, "ruff.toml": 'ignore = ["ALL"]\n'})
    assert {"knows-the-tests", "judged-by"} <= kinds(found), found


THIRD = BASE["calc.py"] + "\n\ndef third(n):\n    if n < 0:\n        raise ValueError(n)\n    return n * 3\n"
BLUNT = {
    "only the exception": "import pytest\n\nimport calc\n\n\ndef test_third():\n    with pytest.raises(ValueError):\n        calc.third(-1)\n",
    "only the type": "import calc\n\n\ndef test_third():\n    assert isinstance(calc.third(9), int)\n",
    "only that there is an answer": "import calc\n\n\ndef test_third():\n    assert calc.third(9) is not None\n",
}


@pytest.mark.slow
@pytest.mark.parametrize("tests", BLUNT.values(), ids=BLUNT)
def test_a_function_whose_answers_may_be_any_of_their_kind_is_asked_about(tmp_path: Path, tests: str) -> None:
    found = card(tmp_path, {"calc.py": THIRD, "tests/test_third.py": tests})
    assert [flag.place for flag in found.asks if flag.kind == "unnoticed"] == ["calc.py: third"], found.flags


@pytest.mark.slow
def test_a_function_whose_answer_is_asked_is_clean_and_so_is_one_that_is_called_for_its_effect(tmp_path: Path) -> None:
    code = THIRD.replace("n * 3", "n / 3") + "\n\ndef put(items, n):\n    items.append(n)\n    return len(items)\n"
    tests = (
        BLUNT["only the exception"]
        + "    assert calc.third(9) == 3\n\n\ndef test_put():\n    items = []\n    calc.put(items, 4)\n    assert items == [4]\n"
    )
    found = card(tmp_path, {"calc.py": code, "tests/test_third.py": tests})
    assert not found.asks and not found.failed, found.flags


@pytest.mark.slow
def test_a_new_function_that_no_test_asks_is_most_of_a_change_whose_constant_is_tested(tmp_path: Path) -> None:
    tests = "import calc\n\n\ndef test_version():\n    assert calc.VERSION == 2\n"
    found = card(tmp_path, {"calc.py": THIRD + "\n\nVERSION = 2\n", "tests/test_version.py": tests})
    assert "unnoticed" in kinds(found), found.flags


@pytest.mark.slow
def test_a_test_that_came_in_the_place_of_one_backs_the_change_that_it_needs(tmp_path: Path) -> None:
    code = "def words(text):\n    return text.split()\n\n\ndef free(args, kind):\n    return kind(args[0]) if args else None\n"
    asks = "from calc import free, words\n\n\ndef test_free():\n    args = words('5 a')\n    value = free(args, kind=int)\n    assert value == 5\n"
    now = code.replace("def free", "def maybe_free") + "\n\ndef free(args, kind):\n    return [kind(args[0])]\n"
    new = asks.replace("free,", "maybe_free,").replace("test_free", "test_maybe_free").replace("= free(", "= maybe_free(")
    new += "\n\ndef test_free_is_there():\n    from calc import free\n\n    assert free(words('7'), int) == [7]\n"
    base = {**BASE, "calc.py": code, "tests/test_calc.py": asks}
    found = card(tmp_path, {"calc.py": now, "tests/test_calc.py": new}, base)
    assert not found.failed and not found.asks, found
    assert any("test_free is gone; tests/test_calc.py::test_maybe_free came in its place" in flag.sentence for flag in found.flags), found


@pytest.mark.slow
def test_an_older_test_that_lets_go_of_what_it_asked_for_is_asked_about(tmp_path: Path) -> None:
    code = BASE["calc.py"].replace("n * 2", "n * 3") + "\n\ndef times(n, by):\n    return n * by\n"
    moved = BASE["tests/test_calc.py"].replace("double(2)", "times(2, 2)").replace("import double", "import times")
    times = "from calc import times\n\n\ndef test_times():\n    assert times(2, 3) == 6\n"
    found = card(tmp_path, {"calc.py": code, "tests/test_calc.py": moved, "tests/test_times.py": times})
    said = [flag.sentence for flag in found.asks if flag.kind == "rewritten-test"]
    assert said == ["an older test no longer checks double, which was changed and which no test covers now"], found


HELD = "from calc import double\n\n\ndef test_double():\n    answer = 4\n    got = double(2)\n    assert got == answer\n"
SILENT = {
    "the answer in a name": ("answer = 4", "answer = 6"),
    "the question": ("double(2)", "double(4 / 3)"),
}


@pytest.mark.slow
@pytest.mark.parametrize(("was", "now"), SILENT.values(), ids=SILENT)
def test_an_expectation_may_stand_in_any_line(tmp_path: Path, was: str, now: str) -> None:
    base = {**BASE, "tests/test_calc.py": HELD}
    found = card(tmp_path, {"calc.py": BASE["calc.py"].replace("n * 2", "n * 3"), "tests/test_calc.py": HELD.replace(was, now)}, base)
    (flag,) = [flag for flag in found.flags if flag.kind == "rewritten-test"]
    assert (flag.level, was in flag.before, now in flag.after) == ("ask", True, True), found


@pytest.mark.slow
def test_a_test_that_only_calls_it_otherwise_is_not_asked_about(tmp_path: Path) -> None:
    base = {**BASE, "tests/test_calc.py": HELD}
    code = BASE["calc.py"].replace("def double(n):\n    return n * 2", "def double(n, *, by):\n    return n * by")
    found = card(tmp_path, {"calc.py": code, "tests/test_calc.py": HELD.replace("double(2)", "double(2, by=2)")}, base)
    assert not [flag for flag in found.asks if flag.kind == "rewritten-test"], found


CART = {
    "pytest.ini": INI,
    ".gitignore": "__pycache__/\n",
    "cart.py": "def total(prices):\n    return sum(prices)\n",
    "tests/test_cart.py": "from cart import total\n\n\ndef test_total():\n    assert total([100, 270]) == 370\n",
}
LAST = {"cart.py": CART["cart.py"] + "\n\ndef last(prices):\n    return prices[-1]\n"}
LAST_TEST = "\n\ndef test_last():\n    assert last([1, 2]) == 2\n"


@pytest.mark.slow
@pytest.mark.parametrize("less", ["assert total([100, 270]) > 0", "assert isinstance(total([100, 270]), int)", "assert total([100, 270])"])
def test_an_older_test_that_asks_for_less_is_asked_about_though_it_still_notices_something(tmp_path: Path, less: str) -> None:
    weaker = CART["tests/test_cart.py"].replace("assert total([100, 270]) == 370", less)
    found = card(tmp_path, {**LAST, "tests/test_cart.py": weaker, "tests/test_last.py": "from cart import last" + LAST_TEST}, CART)
    assert any(flag.kind == "rewritten-test" and less in flag.after for flag in found.asks), found


@pytest.mark.slow
def test_an_older_test_in_a_file_that_imports_something_new_is_no_proof(tmp_path: Path) -> None:
    weaker = CART["tests/test_cart.py"].replace("== 370", "> 0").replace("import total", "import last, total")
    found = card(tmp_path, {**LAST, "tests/test_cart.py": weaker + LAST_TEST}, CART)
    assert found.proved == ("tests/test_cart.py::test_last",) and "rewritten-test" in kinds(found), found


THREE = (
    "from cart import total\n\n\ndef test_total():\n    assert total([]) == 0\n    assert total([1]) == 1\n"
    "    for prices, sum_ in [\n        ([1, 2], 3),\n        ([4, 4], 8),\n    ]:\n        assert total(prices) == sum_\n"
)
ASKED_NO_MORE = {"an assertion": "    assert total([1]) == 1\n", "a row": "        ([4, 4], 8),\n"}


def without(tmp_path: Path, gone: str, code: str) -> list[tuple[str, str, str]]:
    """What is said of the older test, where a change takes this out of it and brings a feature beside it."""
    base = {**CART, "cart.py": code, "tests/test_cart.py": THREE}
    feature = {
        "cart.py": code + "\n\ndef last(prices):\n    return prices[-1]\n",
        "tests/test_last.py": "from cart import last" + LAST_TEST,
    }
    found = card(tmp_path, {**feature, "tests/test_cart.py": THREE.replace(gone, "")}, base)
    return [(flag.level, flag.before, flag.sentence) for flag in found.flags if flag.kind == "rewritten-test"]


@pytest.mark.slow
@pytest.mark.parametrize("gone", ASKED_NO_MORE.values(), ids=ASKED_NO_MORE)
def test_an_expectation_that_still_holds_and_that_nothing_else_asks_for_is_asked_about(tmp_path: Path, gone: str) -> None:
    code = (
        "def total(prices):\n    if prices == [1]:\n        return 1\n    if prices == [4, 4]:\n        return 8\n    return sum(prices)\n"
    )
    assert without(tmp_path, gone, code) == [("ask", gone.rstrip("\n"), "an older test no longer checks something that still works")]


@pytest.mark.slow
@pytest.mark.parametrize(
    "gone", [gone if n < 1 else pytest.param(gone, marks=pytest.mark.slow) for n, gone in enumerate(ASKED_NO_MORE.values())]
)
def test_an_expectation_that_others_ask_for_as_well_is_a_note(tmp_path: Path, gone: str) -> None:
    ((level, before, said),) = without(tmp_path, gone, CART["cart.py"])
    assert (level, before) == ("note", gone.rstrip("\n")) and "fail for every small change to the code that it caught" in said


@pytest.mark.slow
def test_an_expectation_that_moves_to_another_test_is_not_asked_about(tmp_path: Path) -> None:
    one = "    assert total([1]) == 1\n"
    moved = THREE.replace(one, "") + "\n\ndef test_one():\n" + one
    found = card(
        tmp_path,
        {**LAST, "tests/test_cart.py": moved, "tests/test_last.py": "from cart import last" + LAST_TEST},
        {**CART, "tests/test_cart.py": THREE},
    )
    assert not [flag for flag in found.asks if flag.kind == "rewritten-test"], found


@pytest.mark.slow
def test_a_test_that_fails_whenever_its_file_runs_alone_notices_nothing(tmp_path: Path) -> None:
    base = {
        **BASE,
        "tests/test_a.py": "import calc\n\n\ndef test_ready():\n    calc.READY = True\n",
        "tests/test_b.py": "import calc\n\n\ndef test_is_ready():\n    assert calc.READY\n",
    }
    weak = "import calc\nfrom calc import third\n\n\ndef test_is_ready():\n    assert calc.READY\n\n\ndef test_third():\n    third(9)\n    assert 3 is not None\n"
    code = BASE["calc.py"] + "\n\ndef third(n):\n    return n * 3\n"
    found = card(tmp_path, {"calc.py": code, "tests/test_b.py": weak}, base)
    assert kinds(found) == {"unnoticed", "vacuous-test"}, found.flags
    strong = weak.replace("    third(9)\n    assert 3 is not None", "    assert third(9) == 27")
    assert not card(tmp_path / "honest", {"calc.py": code, "tests/test_b.py": strong}, base).asks


@pytest.mark.slow
def test_each_weak_test_of_a_new_file_is_seen_beside_one_that_needs_the_change(tmp_path: Path) -> None:
    strong = "from calc import third\n\n\ndef test_third():\n    assert third(9) == 27\n"
    weak = {
        "test_call": "third(9)",
        "test_written": "third(9)\n    assert 'x' is not None",
        "test_itself": "got = third(9)\n    assert got == got",
        "test_either": "assert third(9) == 4 or True",
        "test_nothing": "for n in []:\n        assert third(n) == 1",
    }
    code = BASE["calc.py"] + "\n\ndef third(n):\n    return n * 3\n"
    tests = strong + "".join(f"\n\ndef {name}():\n    {said}\n" for name, said in weak.items())
    found = card(tmp_path, {"calc.py": code, "tests/test_third.py": tests})
    assert {flag.place.partition("::")[2] for flag in found.asks} == set(weak), found.flags
    assert not card(tmp_path / "honest", {"calc.py": code, "tests/test_third.py": strong}).asks


LIMITS = "LIMIT = 10\n\n\ndef fits(text):\n    return len(text) <= LIMIT\n"


@pytest.mark.slow
def test_a_limit_of_which_many_values_do_is_noticed_by_tests_that_fail_without_it(tmp_path: Path) -> None:
    base, more = {**BASE, "limits.py": LIMITS}, LIMITS.replace("10", "20")
    tests = "from limits import fits\n\n\ndef test_fits():\n    assert fits('a' * 15)\n"
    assert not card(tmp_path, {"limits.py": more, "tests/test_limits.py": tests}, base).asks
    aside = {"limits.py": more, "calc.py": HALF, "tests/test_odd.py": ODD}
    noted = [flag.place for flag in card(tmp_path / "aside", aside, base).flags if flag.kind == "unnoticed"]
    assert noted == ["limits.py: outside its functions"], "no test needs the limit"
