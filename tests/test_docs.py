"""The docs say what is: drawn tables are current, every command and every workflow has its row."""

import importlib.util
import re
from pathlib import Path

from detent.app.registry import BUILT_IN as TABLES
from detent.interfaces.cli.help_rows import COMMANDS
from detent.interfaces.cli.init import HINTS
from detent.interfaces.register import PARTS

ROOT = Path(__file__).parent.parent


def drawn_pages() -> dict[str, str]:
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    pages: dict[str, str] = module.pages()
    return pages


def test_the_drawn_tables_are_current() -> None:
    for file, text in drawn_pages().items():
        kept = ROOT / "docs" / "workflows" / file
        assert kept.exists() and kept.read_text("utf-8") == text, (
            f"docs/workflows/{file} is not current: run .venv/bin/python docs/generate.py"
        )


def test_every_workflow_is_drawn() -> None:
    assert set(drawn_pages()) == {f"{name}.md" for name in TABLES}


def test_every_command_has_a_row_in_the_docs() -> None:
    text = (ROOT / "docs" / "commands.md").read_text("utf-8")
    missing = [name for name in COMMANDS if f"| `{name}" not in text]
    assert not missing


def test_the_readme_names_its_two_commands_and_the_pages_it_links_are_there() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    assert "./x demo" in text and "./x test" in text
    for link in [part.split(")")[0] for part in text.split("](")[1:]]:
        assert link.startswith("http") or (ROOT / link).exists(), link


def test_every_client_has_its_page_with_exactly_what_is_written_and_its_row() -> None:
    index = (ROOT / "docs" / "clients" / "README.md").read_text("utf-8")
    assert set(HINTS) == set(PARTS)
    for client, parts in PARTS.items():
        page = (ROOT / "docs" / "clients" / f"{client}.md").read_text("utf-8")
        assert f"| `{client}` |" in index and f"({client}.md)" in index
        for part in parts(["detent"]):
            assert f"`{part.path}`" in page and f"\n{part.added(None)}```" in page, (
                f"docs/clients/{client}.md does not show {part.path} as it is written"
            )


def test_every_file_of_app_stands_in_the_floor_plan_once() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    table = text.partition("## The use cases in app\n")[2].partition("\n## ")[0]
    named = [name for row in table.splitlines()[3:] for name in re.findall(r"`(\w+)`", row.split("|")[2])] if table else []
    assert sorted(named) == sorted(file.stem for file in (ROOT / "src" / "detent" / "app").glob("*.py"))


def test_files_that_the_floor_plan_names_are_there() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    named = set(re.findall(r"`((?:[a-z_]+/)+[a-z_]+\.py)`", text))
    gone = {path for path in named if not (ROOT / "src" / "detent" / path).is_file() and not (ROOT / path).is_file()}
    assert len(named) > 10 and gone == set()
