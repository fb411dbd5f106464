"""Markdown as a terminal shows it: headings, lists, quotes and diffs, wrapped to the width of the screen. Shows; decides nothing."""

import re
import shutil
import textwrap
from collections.abc import Iterator

from detent.app.plain_text import plain

NARROW, WIDE = 40, 100


def paper(text: str, indent: str = "  ") -> list[str]:
    """The lines of a text; code and diffs stand as they are."""
    width = max(NARROW, min(WIDE, shutil.get_terminal_size((80, 24)).columns)) - 1
    return [f"{indent}{line}".rstrip() for line in _lines(plain(text), width - len(indent))]


def _lines(text: str, width: int) -> Iterator[str]:
    fenced = False
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif fenced:
            yield f"  {line}"
        elif heading := re.match(r"#{1,6}\s+(.*)", line):
            yield heading[1].upper()
        elif not line.strip():
            yield ""
        else:
            yield from _wrapped(line, width)


def _wrapped(line: str, width: int) -> list[str]:
    start = re.match(r"\s*(?:[-*>]\s+|\d+[.)]\s+)?", line)
    hang = " " * len(start[0]) if start else ""
    bare = re.sub(r"\*\*(.+?)\*\*", r"\1", line)
    return textwrap.wrap(bare, width, subsequent_indent=hang, break_long_words=False, break_on_hyphens=False) or [""]
