"""What MkDocs is told beyond mkdocs.yml: files outside of docs/ that pages link to are part of the site, and diagrams are pictures.

GitHub draws mermaid by itself. A site that loads nothing from elsewhere cannot, so there docs/drawings.py draws the same table.
"""

import re
import sys
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "docs"))

from drawings import workflows  # noqa: E402

OUTSIDE = re.compile(r"\]\(\.\./((?:templates|examples)/[^)#\s]+)\)")
MERMAID = re.compile(r"^```mermaid\n.*?^```$", re.DOTALL | re.MULTILINE)


def linked(text: str) -> set[str]:
    """The files outside of docs/ that a page links to, from the project's root."""
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
    name = Path(page.file.src_uri).stem
    return MERMAID.sub(f"![The states of {name}, and the ways between them](../pictures/workflow-{name}.svg)", shown)
