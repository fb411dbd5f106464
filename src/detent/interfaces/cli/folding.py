"""Lines for a person at a terminal: broken at spaces where the terminal would break them in the middle of a word. In a pipe a line stays a line."""

import shutil
import sys
import textwrap
from typing import TextIO

NARROW = 40


def columns(stream: TextIO | None = None) -> int:
    """The width of the terminal that a stream is; 0 where it is none."""
    stream = stream or sys.stdout
    return max(NARROW, shutil.get_terminal_size((80, 24)).columns) if stream.isatty() else 0


def fold(line: str, hang: int = 0, stream: TextIO | None = None) -> str:
    """One line as it is shown: what does not fit continues below it, `hang` columns in. A longer word, such as a path, is left whole."""
    width = columns(stream)
    if not width or len(line) <= width:
        return line
    return "\n".join(textwrap.wrap(line, width, subsequent_indent=" " * hang, break_long_words=False, break_on_hyphens=False))


def fold_command(command: str, indent: str) -> str:
    """Commands joined by && as they are shown: one on each line where they do not fit, still fit to be copied whole."""
    width = columns()
    together = not width or len(indent + command) <= width
    return indent + (command if together else command.replace(" && ", f" &&\n{indent}"))
