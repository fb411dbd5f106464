"""Write the drawn pages under docs/workflows/ from the tables. Run it with `.venv/bin/python docs/generate.py`; a test says when it is due."""

from pathlib import Path

from detent.app.registry import all_tables
from detent.kernel.draw import as_mermaid, as_table

FOLDER = Path(__file__).parent / "workflows"


def pages() -> dict[str, str]:
    """Every drawn page by file name."""
    drawn = {}
    for name, table in all_tables().items():
        note = f"<!-- drawn from the table of the workflow {name} by docs/generate.py; do not edit -->"
        drawn[f"{name}.md"] = f"{note}\n\n{as_table(table)}\n```mermaid\n{as_mermaid(table)}```\n"
    return drawn


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for file, text in pages().items():
        (FOLDER / file).write_text(text, "utf-8")
        print(f"wrote docs/workflows/{file}")
