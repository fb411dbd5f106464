"""The test part of a code file, found by syntax: `#[cfg(test)]` and documentation tests in Rust, docstrings with `>>>` in Python,
`if (import.meta.vitest) { … }` in JavaScript, and text pages with `>>>`. Pure: text in, text out.

A file that cannot be parsed for certain counts as code in full.
"""

from collections.abc import Callable
from pathlib import PurePosixPath
from typing import NamedTuple

from detent.evidence.source.insource_part import PROMPT, TestPart, without


class InsourceLanguage(NamedTuple):
    """How to find and replace tests inside code files of one language."""

    parts: Callable[[str], list[TestPart] | None]  # None: it cannot be parsed
    lay: Callable[[str, str, list[TestPart], list[TestPart]], str | None]  # code, tests, and the parts of both


def split_tests(path: str, text: str) -> tuple[str, str]:
    """A file's text without its test part, and the test part."""
    language = _language(path)
    found = language.parts(text) if language else None
    ours = [part for part in found or () if part.is_test]
    return without(text, ours), "\n".join(text[part.start : part.end] for part in ours)


def holds_tests(path: str, text: str) -> bool:
    """Whether a code file has a test part."""
    return bool(split_tests(path, text)[1])


def test_lines(path: str, text: str) -> frozenset[int]:
    """The lines of a code file that belong to its test part."""
    language = _language(path)
    found = language.parts(text) if language else None
    pairs = [(text.count("\n", 0, p.start) + 1, text.count("\n", 0, max(p.start, p.end - 1)) + 1) for p in found or () if p.is_test]
    return frozenset(line for first, last in pairs for line in range(first, last + 1))


def only_tests_differ(path: str, old: str, new: str) -> bool:
    """Whether two versions of a file differ in their test part alone, blank lines aside."""
    language = _language(path)
    sides = [language.parts(text) for text in (old, new)] if language else [None]
    if any(side is None for side in sides) or old == new:
        return False
    before, after = (side or [] for side in sides)
    keys = {part.key for part in (*before, *after) if part.is_test}
    bare = [without(text, [part for part in side if part.key in keys]) for text, side in ((old, before), (new, after))]
    return _lines(bare[0]) == _lines(bare[1])


def lay_over(path: str, code_from: str, tests_from: str) -> str | None:
    """The code of one version with the test part of another; None if they cannot be combined."""
    language = _language(path)
    before, after = (language.parts(code_from), language.parts(tests_from)) if language else (None, None)
    if language is None or before is None or after is None:
        return None
    return language.lay(code_from, tests_from, before, after)


def modules_for_tests(path: str, text: str) -> tuple[str, ...]:
    """The files that a Rust file loads only for tests (`#[cfg(test)] mod name;`), as patterns."""
    from detent.evidence.source.insource_rust import declared

    return declared(path, text)


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines() if line.strip()]


def _language(path: str) -> InsourceLanguage | None:
    suffix = PurePosixPath(path).suffix
    if suffix == ".rs":
        from detent.evidence.source import insource_rust as rust

        return InsourceLanguage(rust.parts, rust.lay)
    if suffix in (".py", ".pyi"):
        from detent.evidence.source import insource_python as python

        return InsourceLanguage(python.parts, python.lay)
    if suffix in (".js", ".mjs", ".jsx", ".ts", ".mts", ".tsx"):
        from detent.evidence.source import insource_javascript as javascript

        return InsourceLanguage(javascript.parts, javascript.lay)
    return InsourceLanguage(_page, _lay_page) if suffix in (".md", ".rst", ".txt") else None


def _page(text: str) -> list[TestPart]:
    """A text page is a test as a whole if it has an example, else no part of it is."""
    return [TestPart(0, len(text), "page", PROMPT in text)]


def _lay_page(code: str, tests: str, before: list[TestPart], after: list[TestPart]) -> str | None:
    return tests if PROMPT in tests else code
