"""A piece of the test part of a code file, and how pieces are removed from a text or replaced. Pure."""

from collections.abc import Mapping
from typing import NamedTuple

PROMPT = ">>> "  # the start of a Python example


class TestPart(NamedTuple):
    """One piece of the test part, with a key by which it is found in another version."""

    start: int
    end: int
    key: str
    is_test: bool = True  # False: a docstring or comment without an example


def without(text: str, parts: list[TestPart]) -> str:
    """A text without these pieces."""
    for part in sorted(parts, reverse=True):
        text = text[: part.start] + text[part.end :]
    return text


def replaced(text: str, pieces: Mapping[tuple[int, int], str]) -> str:
    """A text with the given spans replaced."""
    for (start, end), words in sorted(pieces.items(), reverse=True):
        text = text[:start] + words + text[end:]
    return text
