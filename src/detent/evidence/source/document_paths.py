"""Which files are for people to read: documentation, by name. Pure."""

import re
from pathlib import PurePosixPath

ENDS = (".md", ".markdown", ".rst", ".adoc", ".asciidoc", ".org", ".svg", ".png", ".jpg", ".jpeg", ".gif", ".ico", ".po", ".pot", ".mo")
NAMES = re.compile(r"(?i)^(?:license|licence|copying|notice|authors|contributors|changelog|changes|history|news|readme|codeowners)(?:\.|$)")
FOLDERS = frozenset({"docs", "doc", "documentation", "changelog.d", "changes", "newsfragments", "news"})
PLAIN = ("", ".txt", ".text")  # how files of these names may end: `history.tsx` is a program
LICENCES = ("COPYING.LESSER", "COPYING.LIB", "LICENSE.MIT", "LICENSE.APACHE", "LICENSE.APACHE2", "LICENSE.BSD")
IN_FOLDERS = (".txt", ".html", ".css", "")  # elsewhere these may be requirements, templates, programs


def is_document(path: str) -> bool:
    """Whether a file is for people to read."""
    where = PurePosixPath(path)
    return is_words(path) or (where.suffix.lower() in IN_FOLDERS and bool(FOLDERS & set(where.parts[:-1])))


def is_words(path: str) -> bool:
    """Whether a file is for people to read by its own name, wherever it lies."""
    where = PurePosixPath(path)
    end = where.suffix.lower()
    return end in ENDS or (bool(NAMES.match(where.name)) and (end in PLAIN or where.name in LICENCES))
