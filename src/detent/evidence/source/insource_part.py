"""A piece of the test part of a file of code, and how pieces are taken out of a text or put into it. Pure."""

from collections.abc import Mapping
from typing import NamedTuple

PROMPT = ">>> "  # how an example of Python begins


class TestPart(NamedTuple):
    """One piece of the test part: where it stands, and what it belongs to, which is how it is found again in another version."""

    start: int
    end: int
    key: str
    is_test: bool = True  # False: words (a docstring, a comment) that would be one if they held an example


def without(text: str, parts: list[TestPart]) -> str:
    """A text without these pieces."""
    for part in sorted(parts, reverse=True):
        text = text[: part.start] + text[part.end :]
    return text


def replaced(text: str, pieces: Mapping[tuple[int, int], str]) -> str:
    """A text with other words at these places."""
    for (start, end), words in sorted(pieces.items(), reverse=True):
        text = text[:start] + words + text[end:]
    return text
