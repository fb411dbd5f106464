"""Finds the code that a text is about: files and functions whose names share a word with it. Pure.

Used for an entry that is claimed to be satisfied already: only code that the entry mentions can show that.
"""

import re
from collections.abc import Callable, Iterable

from detent.evidence.mutate import bodies_on

NO_NAMES = frozenset(
    {"feat", "feature", "fix", "chore", "docs", "test", "tests", "refactor", "perf", "build", "the", "and", "for", "with", "that", "this", "when", "from",
     "into", "should", "must", "not", "are", "was", "has", "have", "all", "any", "new", "code", "function", "method", "class", "module", "file", "which", "its"}
)  # fmt: skip
SHORTEST = 3
STEM = 4  # shortest common prefix of two words of which neither is a prefix of the other


def lines_about(texts: Iterable[str], files: Iterable[str], read: Callable[[str], str]) -> dict[str, frozenset[int]]:
    """The lines in each file that the first matching text is about; empty if no text matches."""
    paths = list(files)
    for text in texts:
        words = words_of(text) - NO_NAMES
        found = {path: lines for path in paths if words and (lines := _lines(words, path, read(path)))}
        if found:
            return found
    return {}


def words_of(text: str) -> frozenset[str]:
    """The words of a text or identifier in lower case: two for both `parseDate` and `parse_date`."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", text)
    return frozenset(word.lower() for word in re.findall(r"[A-Za-z]+", apart) if len(word) >= SHORTEST)


def _lines(words: frozenset[str], path: str, text: str) -> frozenset[int]:
    every = range(1, text.count("\n") + 2)
    stem = path.rpartition("/")[2].rpartition(".")[0]
    if _share(words, words_of(stem)):
        return frozenset(every)
    bodies = (body for body in bodies_on(path, text, every) if _share(words, words_of(body.name)))
    return frozenset(line for body in bodies for line in range(body.first, body.last + 1))


def _share(words: frozenset[str], names: frozenset[str]) -> bool:
    return any(_are_alike(word, name) for word in words for name in names)


def _are_alike(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return long.startswith(short) or (len(short) > STEM and long.startswith(short[: max(STEM, len(short) - 3)]))
