"""The requirement tables in `docs/requirements.md` and its pages hold together: ids, sources, parts, and the tests they name.

`faults` reads the tables strictly and returns one sentence per fault, so that the tests below can also show each check failing on a small bad document.
It knows the form of the tables only, nothing of what they demand.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
INDEX = "docs/requirements.md"
PAGES = {"common": "C", "pr": "PR", "tdd": "TDD", "execute": "EX", "pipeline": "PL", "evidence": "EV"}
HEAD = ("id", "must", "from", "part", "test")
SUPERSEDED_HEAD = ("what the seed says", "from", "replaced by", "why")
NONE_YET = "–"
ID = re.compile(r"(C|PR|TDD|EX|PL|EV)-(\d{3})")
SOURCE = re.compile(r"(seed 00[0-4]|workflows §[0-5]) \S.*")
TEST = re.compile(r"(tests/(?:[a-z0-9_]+/)*test_[a-z0-9_]+\.py)::(test_[a-z0-9_]+)")


@dataclass(frozen=True)
class Row:
    """One line of a table: where it stands and its cells."""

    place: str
    cells: tuple[str, ...]


@dataclass(frozen=True)
class Read:
    """What a page's tables hold, and what is wrong with their form."""

    rows: list[Row]
    faults: list[str]


def cells_of(line: str) -> tuple[str, ...]:
    return tuple(cell.strip() for cell in line.removeprefix("|").removesuffix("|").split("|"))


def read_tables(text: str, page: str, head: tuple[str, ...]) -> Read:
    """The rows below each table's head; a table line out of place, or with too few or too many cells, is a fault."""
    rows: list[Row] = []
    faults: list[str] = []
    above: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        place = f"{page}:{number}"
        if not line.startswith("|"):
            above = []
            if line.lstrip().startswith("|") or ID.match(line.lstrip("|*-# `")):
                faults.append(f"{place}: looks like a row but does not begin with |")
            continue
        above.append(line)
        cells = cells_of(line)
        if len(above) == 1 and cells != head:
            faults.append(f"{place}: a table begins with {' | '.join(head)}")
        elif len(above) == 2 and line != "|" + "---|" * len(head):
            faults.append(f"{place}: no rule below the head")
        elif len(above) > 2 and (not line.endswith("|") or len(cells) != len(head)):
            faults.append(f"{place}: a row has {len(head)} cells and ends with |")
        elif len(above) > 2:
            rows.append(Row(place, cells))
    return Read(rows, faults if rows else [*faults, f"{page}: no rows"])


def id_faults(rows: list[Row], prefix: str) -> Iterator[str]:
    """Ids are well-formed, have the page's prefix, are unique, and together count from 001 without a gap."""
    seen: set[str] = set()
    for row in rows:
        name = row.cells[0]
        match = ID.fullmatch(name)
        if match is None:
            yield f"{row.place}: {name!r} is no id"
        elif match[1] != prefix:
            yield f"{row.place}: {name} does not belong here, ids of this page begin with {prefix}-"
        elif name in seen:
            yield f"{row.place}: {name} is used twice"
        seen.add(name)
    for number in range(1, len(rows) + 1):
        if f"{prefix}-{number:03}" not in seen:
            yield f"{prefix}-{number:03} is missing: ids count up without a gap"


def source_faults(place: str, sources: str) -> Iterator[str]:
    for source in sources.split("; "):
        if not SOURCE.fullmatch(source):
            yield f"{place}: {source!r} names no seed or workflows section with a place in it"


def row_faults(row: Row, root: Path) -> Iterator[str]:
    """A row has a rule, at least one source, a part from 1 to 8, and only tests that exist."""
    _, must, sources, part, tests = row.cells
    if must in ("", NONE_YET):
        yield f"{row.place}: the must is empty"
    yield from source_faults(row.place, sources)
    if part not in set("12345678"):
        yield f"{row.place}: part {part!r} is not 1 to 8"
    if tests != NONE_YET:
        for test in tests.split("; "):
            yield from faults_of_test(row.place, test, root)


def faults_of_test(place: str, test: str, root: Path) -> Iterator[str]:
    match = TEST.fullmatch(test)
    if match is None:
        yield f"{place}: {test!r} is neither {NONE_YET} nor tests/path/test_file.py::test_name"
    elif not (root / match[1]).is_file():
        yield f"{place}: there is no file {match[1]}"
    elif match[2] not in functions_of(root / match[1]):
        yield f"{place}: {match[1]} defines no function {match[2]}"


@cache
def functions_of(file: Path) -> set[str]:
    return set(re.findall(r"^(?:async )?def (\w+)", file.read_text(encoding="utf-8"), re.MULTILINE))


def superseded_faults(rows: list[Row], known: set[str]) -> Iterator[str]:
    """Each superseded sentence says where it stands, which known ids replace it, and why."""
    for row in rows:
        says, sources, replaced, why = row.cells
        if not says or not why:
            yield f"{row.place}: a superseded row says what and why"
        yield from source_faults(row.place, sources)
        for name in replaced.split(", "):
            if name not in known:
                yield f"{row.place}: it is replaced by {name!r}, which is no id of ours"


def faults(root: Path) -> list[str]:
    """Everything that is wrong with the requirement tables below a root; nothing when all is well."""
    found: list[str] = []
    known: set[str] = set()
    index = (root / INDEX).read_text(encoding="utf-8")
    folder = root / "docs" / "requirements"
    found += [f"{file.name} is not a page of the requirements" for file in sorted(folder.glob("*")) if file.stem not in PAGES]
    for name, prefix in PAGES.items():
        page = folder / f"{name}.md"
        if not page.is_file():
            found.append(f"{name}.md is missing")
            continue
        if f"(requirements/{name}.md)" not in index:
            found.append(f"the index does not name {name}.md")
        read = read_tables(page.read_text(encoding="utf-8"), page.name, HEAD)
        found += [*read.faults, *id_faults(read.rows, prefix)]
        found += [fault for row in read.rows for fault in row_faults(row, root)]
        known |= {row.cells[0] for row in read.rows}
    _, _, below = index.partition("\n## Superseded\n")
    superseded = read_tables(below, "superseded", SUPERSEDED_HEAD)
    return [*found, *superseded.faults, *superseded_faults(superseded.rows, known)]


def test_the_requirement_tables_hold_together() -> None:
    assert faults(ROOT) == []


@pytest.mark.parametrize("source", [*(f"seed 00{n}" for n in range(5)), *(f"workflows §{n}" for n in range(6))])
def test_every_source_has_requirements(source: str) -> None:
    pages = [(ROOT / "docs" / "requirements" / f"{name}.md").read_text(encoding="utf-8") for name in PAGES]
    rows = [row for page in pages for row in read_tables(page, "page", HEAD).rows]
    assert any(part.startswith(source + " ") for row in rows for part in row.cells[2].split("; "))


GOOD_TEST = "tests/door/test_door.py::test_the_door_opens"
GOOD_ROW = f"| C-002 | the door opens | workflows §0 rule 2; seed 000 §1 | 8 | {GOOD_TEST}; {GOOD_TEST} |"


def write_document(root: Path) -> None:
    """A small document without a fault."""
    table = "\n".join(
        ["# A page", "", "| id | must | from | part | test |", "|---|---|---|---|---|", "| {0}-001 | it holds | seed 001 §2 | 1 | – |", ""]
    )
    (root / "docs" / "requirements").mkdir(parents=True)
    for name, prefix in PAGES.items():
        (root / "docs" / "requirements" / f"{name}.md").write_text(table.format(prefix), encoding="utf-8")
    with (root / "docs" / "requirements" / "common.md").open("a", encoding="utf-8") as page:
        page.write(GOOD_ROW + "\n")
    links = "\n".join(f"- [{name}](requirements/{name}.md)" for name in PAGES)
    rows = (
        "| what the seed says | from | replaced by | why |\n|---|---|---|---|\n| it is shut | seed 000 §1 | C-001, C-002 | doors open |\n"
    )
    (root / INDEX).write_text(f"# Requirements\n\n{links}\n\n## Superseded\n\n{rows}", encoding="utf-8")
    (root / "tests" / "door").mkdir(parents=True)
    (root / "tests" / "door" / "test_door.py").write_text("def test_the_door_opens() -> None: ...\n", encoding="utf-8")


def test_a_small_good_document_has_no_fault(tmp_path: Path) -> None:
    write_document(tmp_path)
    assert faults(tmp_path) == []


@pytest.mark.parametrize(
    ("bad_row", "fault"),
    [
        (GOOD_ROW.replace("C-002", "C-001"), "C-001 is used twice"),
        (GOOD_ROW.replace("C-002", "C-000"), "C-002 is missing: ids count up without a gap"),
        (GOOD_ROW.replace("C-002", "C-003"), "C-002 is missing: ids count up without a gap"),
        (GOOD_ROW.replace("C-002", "C-2"), "'C-2' is no id"),
        (GOOD_ROW.replace("C-002", "XY-002"), "'XY-002' is no id"),
        (GOOD_ROW.replace("C-002", "PR-002"), "ids of this page begin with C-"),
        (GOOD_ROW.replace("the door opens", ""), "the must is empty"),
        (GOOD_ROW.replace("workflows §0 rule 2; seed 000 §1", ""), "'' names no seed"),
        (GOOD_ROW.replace("seed 000 §1", "seed 005 §1"), "'seed 005 §1' names no seed"),
        (GOOD_ROW.replace("workflows §0 rule 2", "workflows §0"), "'workflows §0' names no seed"),
        (GOOD_ROW.replace("| 8 |", "| 9 |"), "part '9' is not 1 to 8"),
        (GOOD_ROW.replace("| 8 |", "|  |"), "part '' is not 1 to 8"),
        (GOOD_ROW.replace(GOOD_TEST, "the door opens"), "is neither – nor tests/"),
        (GOOD_ROW.replace(f"{GOOD_TEST}; {GOOD_TEST}", ""), "is neither – nor tests/"),
        (GOOD_ROW.replace("; tests", ", tests"), "is neither – nor tests/"),
        (GOOD_ROW.replace("test_door.py", "test_window.py"), "there is no file tests/door/test_window.py"),
        (GOOD_ROW.replace("test_the_door_opens", "test_the_door_shuts"), "defines no function test_the_door_shuts"),
        (GOOD_ROW.replace("the door opens |", "the door | opens |"), "a row has 5 cells"),
        (GOOD_ROW.removesuffix(" |"), "a row has 5 cells"),
        ("  " + GOOD_ROW, "does not begin with |"),
        (GOOD_ROW.removeprefix("| "), "does not begin with |"),
        ("\n" + GOOD_ROW, "a table begins with id"),
        ("\n| id | must | from | part | test |\n" + GOOD_ROW, "no rule below the head"),
    ],
)
def test_a_bad_row_is_found_and_named(tmp_path: Path, bad_row: str, fault: str) -> None:
    write_document(tmp_path)
    page = tmp_path / "docs" / "requirements" / "common.md"
    text = page.read_text(encoding="utf-8")
    page.write_text(text.replace(GOOD_ROW, bad_row), encoding="utf-8")
    assert any(fault in found for found in faults(tmp_path)), faults(tmp_path)


@pytest.mark.parametrize(
    ("good", "bad", "fault"),
    [
        ("C-001, C-002", "C-009", "it is replaced by 'C-009'"),
        ("C-001, C-002", "", "it is replaced by ''"),
        ("doors open", "", "a superseded row says what and why"),
        ("| seed 000 §1 |", "| elsewhere |", "'elsewhere' names no seed"),
        ("## Superseded", "## Gone", "superseded: no rows"),
        ("(requirements/pr.md)", "(pr.md)", "the index does not name pr.md"),
    ],
)
def test_a_bad_index_is_found_and_named(tmp_path: Path, good: str, bad: str, fault: str) -> None:
    write_document(tmp_path)
    index = tmp_path / INDEX
    text = index.read_text(encoding="utf-8")
    assert good in text
    index.write_text(text.replace(good, bad), encoding="utf-8")
    assert any(fault in found for found in faults(tmp_path)), faults(tmp_path)


def test_a_missing_and_an_unknown_page_are_found(tmp_path: Path) -> None:
    write_document(tmp_path)
    folder = tmp_path / "docs" / "requirements"
    (folder / "tdd.md").rename(folder / "other.md")
    assert {"tdd.md is missing", "other.md is not a page of the requirements"} <= set(faults(tmp_path))


def test_a_nested_or_commented_test_does_not_count(tmp_path: Path) -> None:
    write_document(tmp_path)
    body = "# def test_the_door_opens() -> None: ...\nclass Door:\n    def test_the_door_opens(self) -> None: ...\n"
    (tmp_path / "tests" / "door" / "test_door.py").write_text(body, encoding="utf-8")
    assert any("defines no function" in found for found in faults(tmp_path))
