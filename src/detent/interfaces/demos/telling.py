"""Shared by the demos: making their repository, and printing their story in 80 columns, with verdicts and an ending."""

import shutil
import subprocess
import textwrap
from collections.abc import Iterable, Mapping
from pathlib import Path

import click

MOST = 80
COLOURS = {"SUCCESS": "green", "NEEDS_ANALYSIS": "yellow", "REFUSED": "yellow", "FAILURE": "red", "HALTED": "magenta", "ERROR": "red"}
MARKS = {"SUCCESS": "✓", "NEEDS_ANALYSIS": "✓", "REFUSED": "✗", "FAILURE": "✗"}
NOW = (
    ("cd YOUR-PROJECT", ""),
    ("detent check", "what a branch of yours proves; nothing to set up"),
    ("detent init", "set it up for an agent (--client claude: Claude Code)"),
)


def width() -> int:
    """The width of the story, in columns."""
    return min(MOST, shutil.get_terminal_size((MOST, 24)).columns)


def wrapped(text: str, indent: str = "", hanging: str | None = None, end: str = "") -> str:
    """A wrapped paragraph. Long words stay whole: they may be paths to copy.

    `end` is put at each line but the last, such as a backslash for a shell.
    """
    after = indent if hanging is None else hanging
    if len(indent) + len(text) <= width():
        return indent + text
    lines = textwrap.wrap(
        text,
        width() - len(end),
        initial_indent=indent,
        subsequent_indent=after,
        break_long_words=False,
        break_on_hyphens=False,
        drop_whitespace=True,
    )
    return f"{end}\n".join(lines)


def para(text: str, indent: str = "", dim: bool = False) -> None:
    paragraph = wrapped(text, indent)
    click.echo(click.style(paragraph, dim=True) if dim else paragraph)


def does(number: int, text: str) -> None:
    """Print what the agent does next."""
    click.echo("")
    click.echo(click.style(wrapped(text, f"{number}. ", "   "), bold=True))


def answered(status: str, reason: str = "") -> None:
    """Print Detent's verdict, in colour, with the reason."""
    text = f"{MARKS.get(status, '·')} {status}" + (f": {reason}" if reason else "")
    click.echo(click.style(wrapped(text, "   ", "     "), fg=COLOURS.get(status)))


def ending(showed: Iterable[str], as_expected: bool = True, now: Iterable[tuple[str, str]] = NOW) -> None:
    """Print what the demo showed, and what to do next; if it did not go as scripted, say that instead."""
    if not as_expected:
        click.echo(click.style("\nThis did not go as scripted", fg="red", bold=True))
        click.echo(
            wrapped("Every verdict above is real. Run it again with --keep to look at the repository, and tell us what you saw.", "  ")
        )
        return
    click.echo(click.style("\nWhat you saw", bold=True))
    for line in showed:
        click.echo(wrapped(line, "  - ", "    "))
    click.echo(click.style("\nWhat to do now", bold=True))
    for command, why in now:
        click.echo(f"  {command:<22} {why}".rstrip())


STEPS = (
    ("init", "-q", "-b", "main"),
    ("config", "user.name", "Demo"),
    ("config", "user.email", "demo@localhost"),
    ("add", "-A"),
    ("commit", "-qm", "start"),
)


def make_repo(folder: Path, env: Mapping[str, str]) -> None:
    for args in STEPS:
        subprocess.run(["git", *args], cwd=folder, env=dict(env), check=True, capture_output=True)
