"""What a change took out of older tests: the hunks of git's own patch, and the expectations among them, in several languages."""

from pathlib import Path

import pytest

from detent.evidence.source.diff import Hunk, Rewritten, hunks, rewritten
from tests.repos import git_at, make_repo, sh, write

PYTHON = "import cart\n\n\ndef test_one():\n    assert cart.total([1]) == 1\n\n\ndef test_two():\n    assert cart.total([1, 2]) == 3\n"
GO = (
    'package cart\n\nimport "testing"\n\n'
    'func TestOne(t *testing.T) {\n\tif got := Total(1); got != 1 {\n\t\tt.Errorf("got %d", got)\n\t}\n}\n\n'
    'func TestTwo(t *testing.T) {\n\tif got := Total(1, 2); got != 3 {\n\t\tt.Errorf("got %d", got)\n\t}\n}\n'
)
SCRIPT = (
    "import { total } from './cart';\n\n"
    "it('adds one', () => {\n  expect(total([1])).toBe(1);\n});\n\n"
    "it('adds two', () => {\n  expect(total([1, 2])).toBe(3);\n});\n"
)
FILES = {"test_cart.py": PYTHON, "cart_test.go": GO, "cart.test.js": SCRIPT}


def patch_of(folder: Path, before: dict[str, str], after: dict[str, str | None]) -> bytes:
    """The patch that git makes of a change."""
    root = make_repo(folder / "p", before)
    write(root, {path: text for path, text in after.items() if text is not None})
    for path in (path for path, text in after.items() if text is None):
        (root / path).unlink()
    sh(root, "git", "add", "-A")
    sh(root, "git", "commit", "-q", "--allow-empty", "-m", "after")
    return git_at(root).patch("HEAD~1", "HEAD")[1]


def said_anew(folder: Path, before: dict[str, str], after: dict[str, str | None]) -> tuple[Rewritten, ...]:
    return rewritten(patch_of(folder, before, after), lambda path: "test" in path)


# -- hunks -----------------------------------------------------------------------------------------------------------------------


def test_hunks_are_what_git_says_file_by_file(tmp_path: Path) -> None:
    before = {"a.txt": "one\ntwo\nthree\n", "b.txt": "x\ny\n", "gone.txt": "was\n"}
    after: dict[str, str | None] = {"a.txt": "one\n2\nthree\nfour\n", "b.txt": "y\n", "gone.txt": None, "new.txt": "is\n"}
    assert list(hunks(patch_of(tmp_path, before, after))) == [
        Hunk("a.txt", 2, ("two",), ("2",), 2),
        Hunk("a.txt", 3, (), ("four",), 4),
        Hunk("b.txt", 1, ("x",), (), 0),
        Hunk("gone.txt", 1, ("was",), (), 0),
        Hunk("new.txt", 0, (), ("is",), 1),
    ]


def test_lines_that_look_like_a_head_are_lines(tmp_path: Path) -> None:
    looks = "-- a/other.py\n++ b/other.py\n@@ -1 +1 @@\n"
    assert list(hunks(patch_of(tmp_path, {"a.txt": looks}, {"a.txt": "x\n"}))) == [Hunk("a.txt", 1, tuple(looks.splitlines()), ("x",), 1)]


@pytest.mark.parametrize("name", ["with space.txt", "ümlaut.txt", 'quo"te.txt', "tab\there.txt", "back\\slash.txt"])
def test_the_names_of_files_are_read_as_they_are(tmp_path: Path, name: str) -> None:
    assert [hunk.path for hunk in hunks(patch_of(tmp_path, {name: "a\n"}, {name: "b\n"}))] == [name]


def test_a_file_without_a_newline_at_its_end_is_read_as_any_other(tmp_path: Path) -> None:
    assert list(hunks(patch_of(tmp_path, {"a.txt": "one\ntwo"}, {"a.txt": "one\n2"}))) == [Hunk("a.txt", 2, ("two",), ("2",), 2)]


# -- what changed of older tests ---------------------------------------------------------------------------------------------------


def many(language: str) -> str:
    """34 lines of new tests."""
    made = {
        "test_cart.py": [line for n in range(8) for line in (f"def test_new_{n}():", f"    assert cart.total([{n}]) == {n}", "", "")],
        "cart_test.go": [
            line
            for n in range(5)
            for line in (f"func TestNew{n}(t *testing.T) {{", f"\tif Total({n}) != {n} {{", '\t\tt.Error("no")', "\t}", "}", "")
        ],
        "cart.test.js": [line for n in range(8) for line in (f"it('adds {n}', () => {{", f"  expect(total([{n}])).toBe({n});", "});", "")],
    }[language]
    filled = [*made, *(["// more" if language != "test_cart.py" else "# more"] * (34 - len(made)))]
    assert len(filled) == 34
    return "\n".join(filled) + "\n"


SECOND = {"test_cart.py": "def test_two", "cart_test.go": "func TestTwo", "cart.test.js": "it('adds two'"}


@pytest.mark.parametrize("path", FILES)
def test_many_lines_between_two_tests_change_no_older_test(tmp_path: Path, path: str) -> None:
    old = FILES[path]
    new = old.replace(SECOND[path], many(path) + SECOND[path])
    patch = patch_of(tmp_path, {path: old}, {path: new})
    assert [(len(hunk.removed), len(hunk.new)) for hunk in hunks(patch)] == [(0, 34)]
    assert rewritten(patch, lambda _: True) == ()


@pytest.mark.parametrize(
    ("path", "was", "now", "line"),
    [
        ("test_cart.py", "    assert cart.total([1, 2]) == 3", "    assert cart.total([1, 2]) == 4", 9),
        ("cart_test.go", "\tif got := Total(1, 2); got != 3 {", "\tif got := Total(1, 2); got != 4 {", 12),
        ("cart.test.js", "  expect(total([1, 2])).toBe(3);", "  expect(total([1, 2])).toBe(4);", 8),
    ],
)
def test_an_expectation_that_was_changed_is_shown_with_both_versions(tmp_path: Path, path: str, was: str, now: str, line: int) -> None:
    changed = FILES[path].replace(was, now)
    assert said_anew(tmp_path, FILES, {path: changed}) == (Rewritten(f"{path}:{line}", was, now),)


@pytest.mark.parametrize(
    ("path", "was"),
    [
        ("test_cart.py", "    assert cart.total([1, 2]) == 3\n"),
        ("cart_test.go", '\tif got := Total(1, 2); got != 3 {\n\t\tt.Errorf("got %d", got)\n\t}\n'),
        ("cart.test.js", "  expect(total([1, 2])).toBe(3);\n"),
    ],
)
def test_an_expectation_that_was_taken_out_is_shown(tmp_path: Path, path: str, was: str) -> None:
    (found,) = said_anew(tmp_path, FILES, {path: FILES[path].replace(was, "")})
    assert was.splitlines()[0] in found.before and "3" not in found.after


@pytest.mark.parametrize("path", FILES)
def test_a_file_of_tests_that_was_deleted_is_shown_whole(tmp_path: Path, path: str) -> None:
    assert [each.place for each in said_anew(tmp_path, FILES, {path: None})] == [f"{path}:1"]


ROWS = "ROWS = [\n    (1, 1),\n    (2, 3),\n]\n\n\ndef test_rows():\n    for n, out in ROWS:\n        assert cart.sum_to(n) == out\n"


def test_a_row_that_says_something_else_is_an_expectation_and_a_row_more_is_none(tmp_path: Path) -> None:
    before = {"test_rows.py": ROWS}
    assert said_anew(tmp_path / "a", before, {"test_rows.py": ROWS.replace("(2, 3)", "(2, 4)")}) == (
        Rewritten("test_rows.py:3", "    (2, 3),", "    (2, 4),"),
    )
    assert said_anew(tmp_path / "b", before, {"test_rows.py": ROWS.replace("    (2, 3),\n", "    (2, 3),\n    (3, 6),\n")}) == ()


SAME = {
    "moved to the end": PYTHON.replace("def test_one():\n    assert cart.total([1]) == 1\n\n\n", "")
    + "\n\ndef test_one():\n    assert cart.total([1]) == 1\n",
    "put into a class": "import cart\n\n\nclass TestCart:\n    def test_one(self):\n        assert cart.total([1]) == 1\n\n"
    "    def test_two(self):\n        assert cart.total([1, 2]) == 3\n",
    "renamed": PYTHON.replace("test_two", "test_both"),
    "commented": PYTHON.replace("    assert cart.total([1]) == 1\n", "    # as it must be\n    assert cart.total([1]) == 1\n"),
    "asked for more": f"{PYTHON}    assert cart.total([3, 4]) == 7\n",
    "set up in another way": PYTHON.replace("import cart\n", "import shop.cart as cart\n"),
}


@pytest.mark.parametrize("name", SAME)
def test_a_test_that_says_what_it_said_is_not_rewritten(tmp_path: Path, name: str) -> None:
    assert said_anew(tmp_path, {"test_cart.py": PYTHON}, {"test_cart.py": SAME[name]}) == ()


def test_a_moved_expectation_stands_for_one_only(tmp_path: Path) -> None:
    twice = PYTHON.replace("    assert cart.total([1]) == 1\n", "    assert cart.total([1]) == 1\n    assert cart.total([1]) == 1\n")
    once = f"{PYTHON.replace('    assert cart.total([1]) == 1', '    pass')}\n\ndef test_three():\n    assert cart.total([1]) == 1\n"
    assert said_anew(tmp_path / "a", {"test_cart.py": PYTHON}, {"test_cart.py": once}) == ()
    assert len(said_anew(tmp_path / "b", {"test_cart.py": twice}, {"test_cart.py": once})) == 1


def test_a_comment_that_goes_is_no_expectation(tmp_path: Path) -> None:
    before = PYTHON.replace("    assert cart.total([1]) == 1\n", "    # assert cart.total([]) == 0\n    assert cart.total([1]) == 1\n")
    assert said_anew(tmp_path, {"test_cart.py": before}, {"test_cart.py": PYTHON}) == ()


def test_code_is_not_asked_about(tmp_path: Path) -> None:
    assert said_anew(tmp_path, {"cart.py": "assert 1 == 1\n"}, {"cart.py": "assert 1 == 2\n"}) == ()
