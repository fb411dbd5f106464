"""Rows of a card: a label, and words that fit beside it. Pure."""

import textwrap

WIDTH = 11  # of the labels


def row(label: str, text: str) -> str:
    """One row."""
    return f"{label:<{WIDTH}}{text}".rstrip()


def wrapped(label: str, text: str, width: int, indent: str = "") -> list[str]:
    """Words in as many rows as they need."""
    parts = textwrap.wrap(" ".join(text.split()), max(width - WIDTH - len(indent), 20), break_on_hyphens=False) or [""]
    return [row(label if n == 0 else "", f"{indent}{part}") for n, part in enumerate(parts)]


def listed(lines: list[str] | tuple[str, ...], width: int) -> list[str]:
    """Lines of others below a row, as they are but for what does not fit."""
    return [row("", f"  {cut(line, width - WIDTH - 2)}") for line in lines]


def cut(text: str, most: int) -> str:
    """A text that fits."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def many(count: int, what: str) -> str:
    """A count of something, in words."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
