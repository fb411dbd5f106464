"""An older test that was changed and passes: what it noticed before it must notice still. On real repositories, with real runners."""

import os
import sys
from pathlib import Path

import pytest

from detent.evidence.changes.changes import ReferenceTrees
from detent.evidence.looks.repo_look import RepoLook
from detent.evidence.looks.subject import Subject
from detent.evidence.runners import Command
from detent.evidence.running.collect import Collector
from detent.evidence.running.suite import Suite
from detent.evidence.source.changed_tests import changed_tests
from detent.kernel.model import Data, Run, Sent
from tests.repos import git_at, make_repo, sh, write

PYTEST = Command((sys.executable, "-m", "pytest", "-p", "no:cacheprovider"), "pytest")
NODE = Command(("node", "--test"), "node", "npm")

PYTHON_CODE = "def total(prices):\n    return sum(prices)\n\n\ndef is_empty(prices):\n    return len(prices) == 0\n"
PYTHON = "import cart\n\n\ndef test_total():\n    assert cart.total([1, 2]) == 3\n\n\ndef test_empty():\n    assert cart.is_empty([])\n"
SCRIPT_CODE = (
    "export function total(prices) {\n  return prices.reduce((a, b) => a + b, 0);\n}\n\n"
    "export function isEmpty(prices) {\n  return prices.length === 0;\n}\n"
)
SCRIPT = (
    "import test from 'node:test';\nimport assert from 'node:assert';\nimport { total, isEmpty } from '../cart.js';\n\n"
    "test('total', () => {\n  assert.equal(total([1, 2]), 3);\n});\n\n"
    "test('empty', () => {\n  assert.ok(isEmpty([]));\n});\n"
)
PROJECTS = {
    "python": (PYTEST, {"cart.py": PYTHON_CODE, "tests/test_cart.py": PYTHON, "conftest.py": ""}, "tests/test_cart.py"),
    "javascript": (
        NODE,
        {"cart.js": SCRIPT_CODE, "test/cart.test.js": SCRIPT, "package.json": '{"type": "module", "scripts": {"test": "node --test"}}'},
        "test/cart.test.js",
    ),
}


def looked(folder: Path, language: str, was: str, now: str, code: tuple[str, str] | None = None) -> RepoLook:
    """A look at a change that puts these words in the place of others."""
    base, files, path = PROJECTS[language]
    root = make_repo(folder / "p", files)
    assert was in files[path]
    write(root, {path: files[path].replace(was, now)})
    if code:
        source = "cart.py" if language == "python" else "cart.js"
        assert code[0] in files[source]
        write(root, {source: files[source].replace(*code)})
    sh(root, "git", "add", "-A")
    sh(root, "git", "commit", "-q", "-m", "after")
    git = git_at(root)
    collect = Collector(git, Suite(base, 60, os.environ["PATH"], clean=True), "r", os.environ)
    reference = ReferenceTrees(git.tree("HEAD~1"), (), git.head())
    run: Run[Data] = Run("r", "tdd", "RED", 1, Data())
    subject = Subject(
        git, collect, run, Sent("submit"), git.tree("HEAD"), reference, {}, (), lambda name: None, lambda: (), (), lambda: True, quick=False
    )
    look = RepoLook(subject)
    assert look.tests().bad == look.tests_before().bad == frozenset(), look.tests().output
    return look


WEAK = {
    "python": {
        "any answer will do": ("cart.total([1, 2]) == 3", "cart.total is not None"),
        "its own answer": ("cart.total([1, 2]) == 3", "cart.total([1, 2]) == cart.total([1, 2])"),
        "nothing at all": ("    assert cart.total([1, 2]) == 3\n", "    pass\n"),
        "either or": ("cart.total([1, 2]) == 3", "cart.total([1, 2]) == 3 or True"),
        "its name bound once more": ("def test_empty", "def fine():\n    pass\n\n\ntest_total = fine\n\n\ndef test_empty"),
        "what it imports replaced": (
            "import cart\n",
            "import cart as real\n\n\nclass cart:\n    is_empty = staticmethod(real.is_empty)\n\n    @staticmethod\n    def total(prices):\n        return 3\n",
        ),
        "its code replaced on loading": ("def test_empty", "test_total.__code__ = (lambda: None).__code__\n\n\ndef test_empty"),
    },
    "javascript": {
        "any answer will do": ("assert.equal(total([1, 2]), 3)", "assert.ok(total !== undefined)"),
        "its own answer": ("assert.equal(total([1, 2]), 3)", "assert.equal(total([1, 2]), total([1, 2]))"),
        "nothing at all": ("  assert.equal(total([1, 2]), 3);\n", ""),
    },
}
FOUND = {"python": ("tests/test_cart.py::test_total",), "javascript": ("test/cart.test.js::total",)}


def cases(every: dict[str, dict[str, tuple[str, str]]]) -> list[object]:
    """Each case; all but the first of a language are slow."""
    return [pytest.param(of, name, marks=[pytest.mark.slow] if n else []) for of, some in every.items() for n, name in enumerate(some)]


@pytest.mark.slow
@pytest.mark.parametrize(("language", "name"), cases(WEAK))
def test_an_older_test_that_passes_and_notices_less_is_found(tmp_path: Path, language: str, name: str) -> None:
    was, now = WEAK[language][name]
    assert looked(tmp_path, language, was, now).weakened() == FOUND[language]


HONEST = {
    "python": {
        "other numbers": ("cart.total([1, 2]) == 3", "cart.total([2, 5]) == 7"),
        "asks for more": ("== 3\n", "== 3\n    assert cart.total([]) == 0\n"),
        "said in another way": ("    assert cart.total([1, 2]) == 3\n", "    found = cart.total([1, 2])\n    assert 3 == found\n"),
        "a table": (
            "def test_total():\n    assert cart.total([1, 2]) == 3\n",
            "def test_total():\n    for prices, want in (([1, 2], 3), ([4], 4)):\n        assert cart.total(prices) == want\n",
        ),
        "a longer import": ("import cart\n", "import cart\nfrom cart import total\n"),
        "a comment": ("    assert cart.total", "    # the sum\n    assert cart.total"),
    },
    "javascript": {
        "other numbers": ("total([1, 2]), 3", "total([2, 5]), 7"),
        "said in another way": ("assert.equal(total([1, 2]), 3)", "assert.deepEqual([total([1, 2])], [3])"),
    },
}


@pytest.mark.slow
@pytest.mark.parametrize(("language", "name"), cases(HONEST))
def test_an_honest_rewrite_is_not_called_weakened(tmp_path: Path, language: str, name: str) -> None:
    assert looked(tmp_path, language, *HONEST[language][name]).weakened() == ()


@pytest.mark.slow
def test_a_test_that_asks_for_what_is_not_so_any_more_has_nothing_to_notice_and_is_shown(tmp_path: Path) -> None:
    changed = ("return sum(prices)", "return sum(prices) + 1")
    look = looked(tmp_path, "python", "cart.total([1, 2]) == 3", "cart.total([1, 2]) == 4", changed)
    assert (look.weakened(), [each.place for each in look.rewritten()]) == ((), ["tests/test_cart.py:5"])


@pytest.mark.slow
def test_a_test_that_notices_less_and_something_still_is_shown(tmp_path: Path) -> None:
    look = looked(tmp_path, "python", "cart.total([1, 2]) == 3", "cart.total([1, 2]) is not None")
    assert (look.weakened(), [each.place for each in look.rewritten()]) == ((), ["tests/test_cart.py:5"])


NAMES = {
    "a longer import": ("from a import b\n", "from a import b, d\n", set()),
    "another module": ("from a import b\n", "from x import b\n", {"test_b"}),
    "a stand-in": ("from a import b\n", "b = lambda: 4\n", {"test_b"}),
    "a helper": ("from a import b\n\n\ndef c():\n    return b()\n", "from a import b\n\n\ndef c():\n    return 4\n", {"test_c"}),
    "a mark for all": ("from a import b\n", "from a import b\n\npytestmark = 1\n", {"test_b", "test_c"}),
    "a statement": ("from a import b\n", "from a import b\n\nb.x = 1\n", {"test_b", "test_c"}),
    "something that no test uses": ("from a import b\n", "from a import b\n\nD = 1\n", set()),
}


@pytest.mark.parametrize(("old", "new", "found"), NAMES.values(), ids=NAMES)
def test_a_test_changes_with_what_its_names_stand_for(old: str, new: str, found: set[str]) -> None:
    tests = "\n\ndef test_b():\n    assert b() == 4\n\n\ndef test_c():\n    assert c() == 4\n"
    assert changed_tests("test_a.py", old + tests, new + tests) == found
