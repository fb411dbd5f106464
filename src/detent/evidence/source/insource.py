"""The test part of a file of code, told apart by its syntax: `#[cfg(test)]` and documentation tests of Rust, docstrings of Python that
hold `>>>`, `if (import.meta.vitest) { … }` of JavaScript, and pages of text with `>>>`. Pure: text in, text out.

A file that cannot be taken apart for certain is code from its first letter to its last.
"""

from collections.abc import Callable
from pathlib import PurePosixPath
from typing import NamedTuple

from detent.evidence.source.insource_part import PROMPT, TestPart, without


class InsourceLanguage(NamedTuple):
    """How a language keeps tests in its code."""

    parts: Callable[[str], list[TestPart] | None]  # None: it cannot be taken apart
    lay: Callable[[str, str, list[TestPart], list[TestPart]], str | None]  # code and tests, with the parts of both


def split(path: str, text: str) -> tuple[str, str]:
    """The code without its test part, and the test part."""
    language = _language(path)
    found = language.parts(text) if language else None
    ours = [part for part in found or () if part.is_test]
    return without(text, ours), "\n".join(text[part.start : part.end] for part in ours)


def holds_tests(path: str, text: str) -> bool:
    """Whether a file of code has a test part."""
    return bool(split(path, text)[1])


def test_lines(path: str, text: str) -> frozenset[int]:
    """The lines of a file of code that belong to its test part."""
    language = _language(path)
    found = language.parts(text) if language else None
    pairs = [(text.count("\n", 0, p.start) + 1, text.count("\n", 0, max(p.start, p.end - 1)) + 1) for p in found or () if p.is_test]
    return frozenset(line for first, last in pairs for line in range(first, last + 1))


def only_tests_differ(path: str, old: str, new: str) -> bool:
    """Whether two versions of a file differ in their test part and in nothing else; blank lines apart."""
    language = _language(path)
    sides = [language.parts(text) for text in (old, new)] if language else [None]
    if any(side is None for side in sides) or old == new:
        return False
    before, after = (side or [] for side in sides)
    keys = {part.key for part in (*before, *after) if part.is_test}
    bare = [without(text, [part for part in side if part.key in keys]) for text, side in ((old, before), (new, after))]
    return _lines(bare[0]) == _lines(bare[1])


def lay_over(path: str, code_from: str, tests_from: str) -> str | None:
    """The code of one version with the test part of another; None where that cannot be done, so that the code stays as it is."""
    language = _language(path)
    before, after = (language.parts(code_from), language.parts(tests_from)) if language else (None, None)
    if language is None or before is None or after is None:
        return None
    return language.lay(code_from, tests_from, before, after)


def modules_for_tests(path: str, text: str) -> tuple[str, ...]:
    """The files that a file of Rust loads for tests only (`#[cfg(test)] mod name;`), as patterns."""
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
    """A page of words has no code: with an example in it, all of it is a test."""
    return [TestPart(0, len(text), "page", PROMPT in text)]


def _lay_page(code: str, tests: str, before: list[TestPart], after: list[TestPart]) -> str | None:
    return tests if PROMPT in tests else code
