"""The pages on threats and the sandbox say what is: each threat names tests that exist, each attack of a test has its row."""

import re
from pathlib import Path

from detent.sandbox import SANDBOXES
from tests.test_requirements import functions_of
from tests.test_sandbox import CASES

ROOT = Path(__file__).parent.parent
ROW = re.compile(r"\| (T\d+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|")


def rows() -> list[tuple[str, ...]]:
    lines = (ROOT / "docs" / "threats.md").read_text("utf-8").splitlines()
    found = [(line, ROW.fullmatch(line)) for line in lines if line.startswith("| T")]
    assert found and all(match for _, match in found), [line for line, match in found if not match]
    return [match.groups() for _, match in found if match]


def test_every_threat_has_one_row_and_names_tests_that_exist() -> None:
    ids = [row[0] for row in rows()]
    assert ids == sorted(set(ids), key=lambda name: int(name[1:]))
    for _, _, _, tests in rows():
        for test in tests.split("; "):
            file, _, name = test.strip().partition("::")
            assert name in functions_of(ROOT / file), test


def test_of_every_threat_it_is_said_what_holds_where() -> None:
    text = (ROOT / "docs" / "threats.md").read_text("utf-8")
    where = text.partition("## What holds where")[2].partition("## Every case")[0]
    said = [name for line in where.splitlines() if line.count("|") == 6 for name in re.findall(r"\bT\d+", line.split("|")[1])]
    assert sorted(said, key=lambda name: int(name[1:])) == [row[0] for row in rows()]
    assert text.index("## The limits first") < text.index("## What holds where")


def test_every_attack_that_is_tried_has_a_row() -> None:
    assert {name.split()[0] for name in CASES} <= {row[0] for row in rows()}


def test_every_level_has_a_row() -> None:
    text = (ROOT / "docs" / "sandbox.md").read_text("utf-8")
    assert [name for name in SANDBOXES if f"| `{name}` |" not in text] == []
