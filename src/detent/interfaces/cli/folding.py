"""Lines for a person at a terminal: broken at spaces where the terminal would break them in the middle of a word. In a pipe a line stays a line."""

import re
import shutil
import sys
import textwrap
from typing import TextIO

NARROW = 40
UNBROKEN = re.compile(r"`[^`\n]+`|\bdetent [a-z][\w-]*(?: (?:--?[\w-]+ [\w.-]+|[A-Z][\w-]*))*")  # commands, which are copied from a screen
SPACE = "\ue000"  # stands for a space of these while lines are broken


def columns(stream: TextIO | None = None) -> int:
    """The width of the terminal that a stream is; 0 where it is none."""
    stream = stream or sys.stdout
    return max(NARROW, shutil.get_terminal_size((80, 24)).columns) if stream.isatty() else 0


def fold(line: str, hang: int | None = None, stream: TextIO | None = None) -> str:
    """One line as it is shown: what does not fit continues below it, `hang` columns in, or as far as the line itself. Commands and longer words,
    such as a path, are left whole."""
    width = columns(stream)
    if not width or len(line) <= width:
        return line
    held = UNBROKEN.sub(lambda found: found[0].replace(" ", SPACE), line)
    rest = " " * (len(line) - len(line.lstrip()) if hang is None else hang)
    return "\n".join(textwrap.wrap(held, width, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False)).replace(SPACE, " ")


def fold_command(command: str, indent: str) -> str:
    """Commands joined by && as they are shown: one on each line where they do not fit, still fit to be copied whole."""
    width = columns()
    together = not width or len(indent + command) <= width
    return indent + (command if together else command.replace(" && ", f" &&\n{indent}"))
