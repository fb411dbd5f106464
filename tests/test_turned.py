"""Tests turned round: what is turned, and that an honest test fails when it is while one that agrees with anything does not."""

import subprocess
import sys
from pathlib import Path

import pytest

from detent.evidence.mutate.turned import turned

HONEST = {
    "assert": "def test_it():\n    assert answer() == 3\n",
    "the other way round": "def test_it():\n    assert 3 == answer()\n",
    "a list": "def test_it():\n    assert [answer(), 1] == [3, 1]\n",
    "approximately": "import pytest\n\n\ndef test_it():\n    assert answer() == pytest.approx(3.0)\n",
    "a table": "import pytest\n\n\n@pytest.mark.parametrize('want', [3])\ndef test_it(want):\n    assert answer() == want\n",
    "unittest": "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_it(self):\n        self.assertEqual(answer(), 3)\n",
    "unittest, the other way round": "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_it(self):\n        self.assertEqual(3, answer())\n",
}
THREE = "def answer():\n    return 3\n"
ANYTHING = "class A(int):\n    def __eq__(self, other):\n        return True\n\n    def __hash__(self):\n        return 0\n\n\ndef answer():\n    return A()\n"


def passes(folder: Path, code: str, test: str) -> bool:
    (folder / "test_it.py").write_text(f"{code}\n\n{test}")
    return subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"], cwd=folder, capture_output=True).returncode == 0


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_test_fails_when_it_is_turned(tmp_path: Path, name: str) -> None:
    text, names = turned(HONEST[name])
    assert names == {"test_it"}
    assert passes(tmp_path, THREE, HONEST[name]) and not passes(tmp_path, THREE, text)


@pytest.mark.parametrize("name", ["assert", "the other way round", "unittest"])
def test_an_answer_that_is_equal_to_everything_passes_turned_tests(tmp_path: Path, name: str) -> None:
    assert passes(tmp_path, ANYTHING, turned(HONEST[name])[0])


def test_what_does_not_compare_or_cannot_be_read_is_left_alone() -> None:
    for text in ("def test_it():\n    assert answer()\n", "def test_it(:\n", "def help():\n    assert answer() == 3\n", "x = '\0'"):
        assert turned(text) == (text, frozenset())
