"""Titles into the last part of an address: lower case, plain letters, words joined by dashes."""

import re
import unicodedata

__all__ = ["slugify"]


def slugify(title: str, separator: str = "-") -> str:
    """The slug of a title; empty if nothing of it can be kept."""
    if not re.fullmatch(r"[-_.~]", separator):
        raise ValueError(f"not a separator: {separator!r}")
    words = re.findall(r"[a-z0-9]+", plain(title).lower())
    return separator.join(words)


def plain(text: str) -> str:
    """Letters without their marks: é becomes e. What has no plain form is left out."""
    split = unicodedata.normalize("NFKD", text)
    return split.encode("ascii", "ignore").decode("ascii")
