"""MkDocs hooks: files outside docs/ that pages link to become part of the site, diagrams become pictures, and tables fit a phone.

GitHub renders mermaid itself. The site loads nothing from elsewhere, so there docs/drawings.py draws the same table.
"""

import re
import sys
from html import unescape
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "docs"))

from drawings import workflows  # noqa: E402

OUTSIDE = re.compile(r"\]\(\.\./((?:templates|examples)/[^)#\s]+)\)")
MERMAID = re.compile(r"^```mermaid\n.*?^```$", re.DOTALL | re.MULTILINE)
TABLE, ROW = re.compile(r"<table>.*?</table>", re.DOTALL), re.compile(r"<tr>.*?</tr>", re.DOTALL)
HEAD, CELL = re.compile(r"<th\b[^>]*>(.*?)</th>", re.DOTALL), re.compile(r"<td\b([^>]*)>(.*?)</td>", re.DOTALL)
TAG_OR_LONG_WORD = re.compile(r"(<[^>]+>)|([^\s<>&]{24,})")


def linked(text: str) -> set[str]:
    """The files outside docs/ that a page links to, relative to the project's root."""
    return set(OUTSIDE.findall(text))


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    icon = ROOT / "web" / "src" / "icon.svg"
    files.append(File.generated(config, "pictures/icon.svg", abs_src_path=str(icon)))
    for name, drawn in workflows().items():
        files.append(File.generated(config, f"pictures/{name}", content=drawn))
    for path in sorted(set().union(*(linked(page.content_string) for page in files.documentation_pages()))):
        files.append(File.generated(config, f"files/{path}.txt", abs_src_path=str(ROOT / path)))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    shown = OUTSIDE.sub(r"](files/\1.txt)", markdown)
    if not MERMAID.search(shown):
        return shown
    name = Path(page.file.src_uri).stem
    drawn = f"![The states of {name}, and the ways between them](../pictures/workflow-{name}.svg)"
    return re.sub(r"^# .*$", lambda title: f"{title[0]}\n\n{drawn}", MERMAID.sub("", shown), count=1, flags=re.MULTILINE)


def on_page_content(html: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    return TABLE.sub(lambda table: with_labels(table[0]), html)


def with_labels(table: str) -> str:
    """A table whose cells carry their column's name, because on a phone each cell is a line of its own."""
    labels = [unescape(re.sub(r"<[^>]+>", "", head)).replace('"', "&quot;") for head in HEAD.findall(table)]

    def row(found: re.Match[str]) -> str:
        names = iter(labels)
        return CELL.sub(lambda cell: f'<td{cell[1]} data-label="{next(names, "")}">{breakable(cell[2])}</td>', found[0])

    return ROW.sub(row, table)


def breakable(cell: str) -> str:
    """A cell whose long words (paths, names of tests) may break after their joints.

    GitHub removes the backslash before a `|` in code; MkDocs would show it.
    """

    def broken(found: re.Match[str]) -> str:
        return found[1] or re.sub(r"(?<=[_/:.,=-])(?=\w)", "<wbr>", found[2])

    return TAG_OR_LONG_WORD.sub(broken, cell.replace("\\|", "|"))
