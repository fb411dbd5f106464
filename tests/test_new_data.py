"""A test that lists what is not supported yet, and that a change shortens: a note where new data ask for the same, and asked about where none do."""

from pathlib import Path

import pytest

from detent.evidence.outcomes.card import Card
from tests.test_branch_look import card

TESTS = """import json
import pathlib

from calc import read

DATA = sorted(pathlib.Path(__file__).with_name("data").glob("*.txt"))


def test_data():
    for path in DATA:
        rows = json.loads(path.with_suffix(".json").read_text())
        for line, wanted in zip(path.read_text().split(), rows):
            if line in {"0x10", "1_000"}:
                try:
                    read(line)
                except ValueError:
                    continue
                raise AssertionError(line)
            assert read(line) == wanted
"""
BASE = {
    "pytest.ini": "[pytest]\npythonpath = .\n",
    "calc.py": "def read(text):\n    if '_' in text:\n        raise ValueError(text)\n    return int(text)\n",
    "tests/test_data.py": TESTS,
    "tests/data/numbers.txt": "1\n0x10\n1_000\n",
    "tests/data/numbers.json": "[1, 16, 1000]\n",
}
HEX = {
    "calc.py": "def read(text):\n    if '_' in text:\n        raise ValueError(text)\n    return int(text, 0)\n",
    "tests/test_data.py": TESTS.replace('"0x10", ', ""),
}
MORE = {"tests/data/numbers.txt": "1\n0x10\n1_000\n0x20", "tests/data/numbers.json": "[1, 16, 1000,\n 32]\n"}
OTHER = {"tests/data/numbers.txt": "1\n0x20\n1_000\n", "tests/data/numbers.json": "[1, 32, 1000]\n"}


def level(found: Card) -> set[str]:
    assert not found.failed, found
    return {flag.level for flag in found.flags if flag.kind == "rewritten-test"}


@pytest.mark.slow
def test_new_rows_that_need_the_change_stand_for_it(tmp_path: Path) -> None:
    assert level(card(tmp_path, {**HEX, **MORE}, BASE)) == {"note"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "data",
    [
        {},
        pytest.param(OTHER, marks=pytest.mark.slow),
        pytest.param({"tests/data/words.txt": "", "tests/data/words.json": "[]\n"}, marks=pytest.mark.slow),
    ],
    ids=["none", "other ones", "empty ones"],
)
def test_where_no_new_row_needs_it_the_test_is_asked_about(tmp_path: Path, data: dict[str, str]) -> None:
    assert "ask" in level(card(tmp_path, {**HEX, **data}, BASE))
