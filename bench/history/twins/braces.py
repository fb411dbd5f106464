"""Languages with braces, as text: strings and comments blanked, brackets matched. Knows none of them by name."""

import re
from collections.abc import Iterator

OPEN, CLOSE = "([{", ")]}"
AFTER = re.compile(r"(?:^|[(,=:\[!&|?{};+\-*%~^<>]|\b(?:return|typeof|case|in|of|do|else|void|delete|throw|await|yield))\s*$")


def blanked(text: str, slashes: bool = False) -> str:
    """The text with the contents of strings and comments as spaces; every other character keeps its place. `slashes`: /these/ may be patterns."""
    found, at = list(text), 0
    while at < len(text):
        end = _skipped(text, at, slashes)
        for n in range(at + 1, min(end - 1, len(text))):
            found[n] = found[n] if found[n] == "\n" else " "
        if text.startswith(("//", "/*"), at) and end > at + 1:
            found[at] = " "
            found[end - 1] = found[end - 1] if found[end - 1] == "\n" else " "
        at = max(end, at + 1)
    return "".join(found)


def _skipped(text: str, at: int, slashes: bool) -> int:
    """The end of the string or comment that begins here; the same position if none does."""
    char = text[at]
    if char in "\"'`":
        return _closed(text, at, char, slashes)
    if text.startswith("//", at):
        return len(text) if (end := text.find("\n", at)) < 0 else end
    if text.startswith("/*", at):
        return len(text) if (end := text.find("*/", at)) < 0 else end + 2
    if slashes and char == "/" and AFTER.search(text[max(0, at - 20) : at]):
        return _pattern(text, at)
    return at


def _closed(text: str, at: int, quote: str, slashes: bool) -> int:
    """The end of a string. A backslash in Go's raw strings is literal; JavaScript's templates contain code, which belongs to them."""
    n = at + 1
    while n < len(text):
        if text[n] == "\\" and (quote != "`" or slashes):
            n += 2
        elif quote == "`" and slashes and text.startswith("${", n):
            n = _code(text, n + 1)
        elif text[n] == quote:
            return n + 1
        elif text[n] == "\n" and quote != "`":
            return n  # not a string after all
        else:
            n += 1
    return len(text)


def _code(text: str, at: int) -> int:
    """The end of a template's code, whose brace opens here."""
    depth, n = 0, at
    while n < len(text):
        if (end := _skipped(text, n, True)) > n:
            n = end
            continue
        depth += (text[n] == "{") - (text[n] == "}")
        n += 1
        if not depth:
            return n
    return len(text)


def _pattern(text: str, at: int) -> int:
    """The end of a pattern; the same position if it does not end on its line, so that it is none."""
    n, inside = at + 1, False
    while n < len(text) and text[n] != "\n":
        if text[n] == "\\":
            n += 1
        elif text[n] in "[]":
            inside = text[n] == "["
        elif text[n] == "/" and not inside:
            return n + 1
        n += 1
    return at


def matching(blank: str, at: int) -> int:
    """The position after the bracket that closes this one; the end of the text if none does."""
    depth = 0
    for n in range(at, len(blank)):
        depth += (blank[n] in OPEN) - (blank[n] in CLOSE)
        if not depth:
            return n + 1
    return len(blank)


def parts(blank: str, start: int, end: int, between: str = ",") -> Iterator[tuple[int, int]]:
    """The spans between commas outside brackets."""
    depth, first = 0, start
    for n in range(start, end):
        depth += (blank[n] in OPEN) - (blank[n] in CLOSE)
        if not depth and blank[n] == between:
            yield first, n
            first = n + 1
    if blank[first:end].strip():
        yield first, end
