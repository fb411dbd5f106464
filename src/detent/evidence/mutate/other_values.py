"""Mutates the values that lines decide by: each number becomes one more or less, each condition always holds or never. Pure: text in, texts out.

Unlike the other mutators it leaves no place of a line out for another: a value that no test notices is found beside one that many notice.
"""

import ast
import re
import tokenize
from collections.abc import Collection, Iterator
from pathlib import PurePosixPath

from detent.evidence.mutate.splice import Page, Splice, spot
from detent.evidence.mutate.spot import Spot
from detent.evidence.mutate.textual import blanked

NUMBER = re.compile(r"(?<![\w.$\"'#])\d[\d_]*(?:\.\d+)?(?![\w\"'])")
CONDITION = re.compile(r"^\s*[})]*\s*(?:else\s+)?(?:if|elsif|unless|guard)\b\s*(?P<asked>[^\n]+?)\s*(?:\{\s*|\bthen\b.*|\belse\s*\{\s*)?$")
AT_THE_END = re.compile(r"\S\s+(?:if|unless)\s+(?P<asked>[^\n]+?)\s*;?\s*$")  # in Ruby
WORDS = {".py": ("True or ", "False and ")}
OTHERS = ("true || ", "false && ")
RUBY = ".rb"


def other_values(path: str, text: str, lines: Collection[int]) -> Iterator[Spot]:
    """The mutants of the values on these lines: numbers first, then conditions."""
    suffix = PurePosixPath(path).suffix
    page = Page(text)
    blank = _blanked_python(page) if suffix == ".py" else blanked(suffix, text)
    for number in NUMBER.finditer(blank):
        if (line := page.line(number.start())) in lines:
            yield from (spot(text, line, Splice(number.start(), number.end(), other)) for other in _others(number[0]))
    always, never = WORDS.get(suffix, OTHERS)
    for start, end in _conditions_python(page, lines) if suffix == ".py" else _conditions(page, suffix, blank, lines):
        for word in (always, never):
            yield spot(text, page.line(start), Splice(start, start, f"({word}("), Splice(end, end, "))"))


def _others(number: str) -> list[str]:
    """The next number, and the one before."""
    value = float(number) if "." in number else int(number.replace("_", ""))
    return [str(value + 1), *([str(value - 1)] if value >= 1 else [])]


def _blanked_python(page: Page) -> str:
    """The text with its comments and strings blanked; empty if it cannot be read."""
    text = page.text if page.words else ""
    for word in page.words:
        if word.kind in (tokenize.COMMENT, tokenize.STRING):
            text = text[: word.start] + re.sub(r"[^\n]", '"', text[word.start : word.end]) + text[word.end :]
    return text


def _conditions_python(page: Page, lines: Collection[int]) -> Iterator[tuple[int, int]]:
    try:
        tree = ast.parse(page.text)
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        asked = [node.test] if isinstance(node, ast.If | ast.IfExp) else node.ifs if isinstance(node, ast.comprehension) else []
        yield from ((page.start(each), page.end(each)) for each in asked if each.lineno in lines)


def _conditions(page: Page, suffix: str, blank: str, lines: Collection[int]) -> Iterator[tuple[int, int]]:
    """The conditions that begin and end on one of these lines."""
    rows = blank.split("\n")
    for line in sorted(line for line in lines if 0 < line <= len(rows)):
        found = CONDITION.match(rows[line - 1]) or (AT_THE_END.search(rows[line - 1]) if suffix == RUBY else None)
        if found is None:
            continue
        start, end = found.span("asked")
        start, end = _in_brackets(rows[line - 1], start, end)
        start += rows[line - 1][start:end].rfind("; ") + 2 if "; " in rows[line - 1][start:end] else 0
        if start < end and not re.match(r"\s*let\b", rows[line - 1][start:]) and _is_whole(rows[line - 1][start:end]):
            yield page.begins(line) + start, page.begins(line) + end


def _in_brackets(row: str, start: int, end: int) -> tuple[int, int]:
    """The condition without the brackets around it, and without what follows them."""
    if row[start : start + 1] != "(":
        return start, end
    deep = 0
    for at in range(start, len(row)):
        deep += {"(": 1, ")": -1}.get(row[at], 0)
        if not deep:
            rest = row[at + 1 : end].strip()
            return (start, end) if re.match(r"[=!<>&|+*/%?.-]|and\b|or\b", rest) else (start + 1, at)
    return start, start


def _is_whole(asked: str) -> bool:
    return asked.count("(") == asked.count(")") and not re.search(r"(?:&&|\|\||\band|\bor|[,(\[])\s*$", asked)
