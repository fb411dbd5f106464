"""Markdown as a terminal shows it: headings, lists, quotes and diffs, wrapped to the width of the screen. Shows; decides nothing."""

import re
import shutil
import sys
import textwrap
from collections.abc import Iterator

from detent.app.plain_text import plain

NARROW, WIDE = 40, 100
UNBROKEN = re.compile(r"`[^`\n]+`|\bdetent [a-z][\w-]*(?: (?:--?[\w-]+ [\w.-]+|[A-Z][\w-]*))*")  # commands, which are copied from a screen
SPACE = "\ue000"  # stands for a space of these while lines are broken


def fit(line: str, indent: int = 0) -> str:
    """A line of prose on a terminal: it is broken between words, and never in a command. Where a program reads, it stays as it is."""
    width = shutil.get_terminal_size().columns
    if not sys.stdout.isatty() or len(line) <= width:
        return line
    lead = line[: len(line) - len(line.lstrip())]
    held = UNBROKEN.sub(lambda found: found[0].replace(" ", SPACE), line.strip())
    rest = f"{lead}{' ' * indent}"
    lines = textwrap.wrap(held, width - 1, initial_indent=lead, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines).replace(SPACE, " ")


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
