"""The glossary: every word of it is in use, and code has none of the names that it replaces."""

import ast
import re
from functools import cache
from pathlib import Path

from tests.test_house import source

PAGE = (Path(__file__).parent.parent / "docs" / "glossary.md").read_text("utf-8")
WORDS, INSTEAD = PAGE.split("## Words we do not use")


def rows(part: str) -> list[list[str]]:
    """The rows of the table in a part of the page, without its head."""
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in part.splitlines() if line.startswith("| ")][1:]


@cache
def names() -> set[str]:
    """Every name that the source gives to a class, a function, a module or a field."""
    found = {part for m in source() for part in m.name.split(".")}
    for m in source():
        for node in ast.walk(m.tree):
            match node:
                case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                    found.add(name)
                case ast.AnnAssign(target=ast.Name(id=name)):
                    found.add(name)
    return found


def words_of(name: str) -> list[str]:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower().strip("_").split("_")


def test_every_word_of_the_glossary_names_something_in_the_source() -> None:
    used = {word for name in names() for word in words_of(name)}
    assert [row[0] for row in rows(WORDS) if not {row[0], f"{row[0]}s", f"{row[0]}ing"} & used] == []


def test_the_words_are_sorted_and_each_has_one_row() -> None:
    words = [row[0] for row in rows(WORDS)]
    assert words == sorted(set(words))
    assert all(len(row) == 2 and row[1] for row in rows(WORDS)), "each word has its meaning beside it"


def test_no_class_module_or_function_has_a_name_that_the_glossary_replaces() -> None:
    replaced = {word.strip() for row in rows(INSTEAD) for word in row[0].split(",")} - {"base", "service"}
    bad = [name for name in sorted(names()) if replaced & set(words_of(name))]
    assert bad == ["reason_is_told"], "that one is a gate, whose name people know"


def test_no_text_comment_or_briefing_says_mend_or_anew() -> None:
    root = Path(__file__).parent.parent
    files = [
        *(root / "src").rglob("*.py"),
        *(root / "src").rglob("*.md"),
        *(root / "docs").rglob("*.md"),
        *(root / "web" / "src").rglob("*.ts*"),
    ]
    old = re.compile(r"(?<![\w-])(?:mend(?:s|ed|ing)?|anew)(?!\w)", re.IGNORECASE)
    said = {str(f.relative_to(root)): found for f in files if f.name != "glossary.md" and (found := old.findall(f.read_text("utf-8")))}
    assert said == {}
