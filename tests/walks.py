"""The walks of docs/walks.md as a script: what a person types or presses, and must see. Reads the page; plays nothing."""

import re
from pathlib import Path
from typing import NamedTuple

from tests.pane import COLUMNS, Pane, Shown
from tests.project import INI

PAGE = Path(__file__).parent.parent / "docs" / "walks.md"
FENCE = re.compile(r"^```(sh|text)\n(.*?)^```", re.DOTALL | re.MULTILINE)
PRESS = re.compile(r"^\d+\. Click \*\*(.+?)\*\*\. She sees (.+)$", re.MULTILINE)
TILL = {
    "pytest.ini": INI,
    ".gitignore": "__pycache__/\n.pytest_cache/\n",
    "till.py": "def total(prices: list[int]) -> int:\n    return sum(prices)\n",
    "tests/test_till.py": (
        "from till import total\n\n\ndef test_prices_are_added():\n    assert total([250, 120]) == 370\n\n\n"
        "def test_an_empty_basket_costs_nothing():\n    assert total([]) == 0\n"
    ),
}


class Step(NamedTuple):
    """Commands typed in turn, and the lines that are then on the screen."""

    commands: tuple[str, ...]
    seen: tuple[str, ...]


class Press(NamedTuple):
    """One click, and the words that are then on the page."""

    on: str
    seen: tuple[str, ...]


def part(title: str) -> str:
    """The text below a heading, up to the next one of its level."""
    found = re.search(rf"^(#+) {re.escape(title)}\n(.*?)(?=^#{{2,3}} |\Z)", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    assert found, f"docs/walks.md has no part {title}"
    return found[2]


def steps(title: str) -> list[Step]:
    """What is typed in one part of the page."""
    found = list[Step]()
    for language, block in FENCE.findall(part(title)):
        if language == "sh":
            found.append(Step(tuple(block.splitlines()), ()))
        else:
            found[-1] = found[-1]._replace(seen=tuple(line for line in block.splitlines() if line.strip()))
    assert found, f"nothing is typed in {title}"
    return found


def presses(title: str) -> list[Press]:
    """What is pressed in one part of the page."""
    return [Press(on, tuple(re.findall(r'"(.+?)"', seen))) for on, seen in PRESS.findall(part(title))]


def missing(seen: tuple[str, ...], lines: list[str]) -> str:
    """The first line of the page that is not on the screen after the ones before it; empty if all are there."""
    rest = iter(lines)
    for wanted in seen:
        pattern = ".*?".join(map(re.escape, wanted.rstrip().split("…")))
        exact = re.compile(f"{pattern.replace('main.*?', 'main…', 1) if wanted.startswith('main…') else pattern}")
        if not any(exact.fullmatch(line.rstrip()) for line in rest):
            return wanted
    return ""


def walk(shell: Pane, title: str) -> list[Shown]:
    """Type one part of the page, and check what it says is seen."""
    screens = list[Shown]()
    for commands, seen in steps(title):
        now = [shell.types(command) for command in commands]
        said = "\n".join(map(str, now))
        assert not (gone := missing(seen, [line for each in now for line in each.lines])), f"not on the screen: {gone}\n{said}"
        screens += now
    wide = [line for each in screens if each.command.startswith("detent") for line in each.too_wide if len(line.split()) > 1]
    assert wide == [], f"wider than {COLUMNS} columns: {wide}"
    return screens
