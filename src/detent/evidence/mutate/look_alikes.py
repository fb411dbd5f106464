"""Mutants in which a function of Python, JavaScript or Ruby runs as it is but returns a look-alike of its value. Pure.

There are three: a value near the right one, one far from it, and an alien of another type. A test that fails for the alien checks the returned
value; if it fails for neither of the others, it accepts anything that looks right.
"""

import ast
import re
from collections.abc import Callable, Collection, Iterator
from functools import partial
from pathlib import PurePosixPath
from typing import NamedTuple

from detent.evidence.mutate.answers import HEADS, end_of
from detent.evidence.mutate.splice import Page, spliced
from detent.evidence.mutate.textual import blanked


class LookAlikes(NamedTuple):
    """A function, and the three mutants of its file in which it returns other values."""

    name: str
    near: Callable[[], str]
    far: Callable[[], str]
    alien: Callable[[], str]


class Wrapping(NamedTuple):
    """The code put before and after a returned value to replace it. A value without a look-alike becomes an alien."""

    near: str
    far: str
    alien: str
    end: str = ")"


PYTHON = Wrapping(
    "(lambda f, a: f(f, a))(lambda f, a: not a if a is True or a is False else a + 7 if type(a) in (int, float) else a + 'k' if type(a) is str"
    " else type(a)(f(f, e) for e in a) if type(a) in (list, tuple) and a else {k: f(f, e) for k, e in a.items()} if type(a) is dict and a else ..., ",
    "(lambda f, a: f(f, a))(lambda f, a: not a if a is True or a is False else -a - 13 if type(a) in (int, float)"
    " else a[::-1].swapcase() + 'k' if type(a) is str else type(a)(f(f, e) for e in a[1:]) if type(a) in (list, tuple) and a"
    " else {'k': 7} if type(a) is dict else ..., ",
    "(lambda a: ...)(",
)
JAVASCRIPT = Wrapping(
    "((f, a) => f(f, a))((f, a) => typeof a === 'boolean' ? !a : typeof a === 'number' ? a + 7 : typeof a === 'string' ? a + 'k'"
    " : Array.isArray(a) && a.length ? a.map((e) => f(f, e))"
    " : a && Object.getPrototypeOf(a) === Object.prototype ? Object.fromEntries(Object.entries(a).map(([k, e]) => [k, f(f, e)])) : Symbol.iterator, ",
    "((f, a) => f(f, a))((f, a) => typeof a === 'boolean' ? !a : typeof a === 'number' ? -a - 13 : typeof a === 'string' ? 'k' + [...a].reverse().join('')"
    " : Array.isArray(a) && a.length ? a.slice(1).map((e) => f(f, e)) : a && Object.getPrototypeOf(a) === Object.prototype ? { k: 7 } : Symbol.iterator, ",
    "((a) => Symbol.iterator)(",
)
RUBY = Wrapping(
    "->(f, a) { f.call(f, a) }.call(->(f, a) { case a when true then false when false then true when Integer, Float then a + 7 when String then a + 'k'"
    " when Array then a.empty? ? Object.new : a.map { |e| f.call(f, e) } when Hash then a.transform_values { |e| f.call(f, e) } else Object.new end }, ",
    "->(f, a) { f.call(f, a) }.call(->(f, a) { case a when true then false when false then true when Integer, Float then -a - 13"
    " when String then a.reverse.swapcase + 'k' when Array then a.empty? ? Object.new : a[1..].map { |e| f.call(f, e) }"
    " when Hash then { k: 7 } else Object.new end }, ",
    "->(a) { Object.new }.call(",
)
SCRIPTS = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".tsx")
KEYWORDS = frozenset({"if", "for", "while", "switch", "catch", "with", "constructor", "set"})


def look_alikes(path: str, text: str, lines: Collection[int]) -> Iterator[LookAlikes]:
    """The functions on these lines that return something; none if the file does not parse."""
    suffix = PurePosixPath(path).suffix
    if suffix == ".py":
        yield from _python(text, lines)
    elif suffix in SCRIPTS or suffix == ".rb":
        yield from _by_heads(suffix, text, lines)


def _python(text: str, lines: Collection[int]) -> Iterator[LookAlikes]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    page = Page(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not lines_of(node).isdisjoint(lines):
            below = list(_own(node))
            returned = [each.value for each in below if isinstance(each, ast.Return) and each.value is not None]
            if returned and not any(isinstance(each, ast.Yield | ast.YieldFrom) for each in below):
                yield LookAlikes(node.name, *(partial(_around, page, returned, f"{start}(", f"{PYTHON.end})") for start in PYTHON[:3]))


def lines_of(node: ast.stmt) -> frozenset[int]:
    return frozenset(range(node.lineno, (node.end_lineno or node.lineno) + 1))


def _own(function: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function without those of nested functions and classes."""
    for node in ast.iter_child_nodes(function):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            yield node
            yield from _own(node)


def _around(page: Page, returned: list[ast.expr], start: str, end: str) -> str:
    return spliced(page.text, tuple(splice for each in returned for splice in page.around(each, start, end)))


def _by_heads(suffix: str, text: str, lines: Collection[int]) -> Iterator[LookAlikes]:
    blank, rule = blanked(suffix, text), HEADS[suffix]
    for head in rule.found.finditer(blank):
        found = head.groupdict()
        name = next((each for each in (found.get(group) for group in ("name", "word", "const")) if each), "")
        end = end_of(blank, head)
        body = text[head.end() : end]
        inside = range(text.count("\n", 0, head.start()) + 1, text.count("\n", 0, end) + 2)
        if (
            name
            and name not in KEYWORDS
            and name != "initialize"
            and body.strip()
            and "*" not in head[0]
            and not set(inside).isdisjoint(lines)
        ):
            of = RUBY if suffix == ".rb" else JAVASCRIPT
            around = partial(_whole if found.get("whole") else _ruby if suffix == ".rb" else _script, text, head.start(), head.end(), end)
            yield LookAlikes(name, *(partial(around, start, of.end) for start in of[:3]))


def _whole(text: str, first: int, start: int, end: int, before: str, after: str) -> str:
    """Wrap a function that is a single expression."""
    return f"{text[:start]} {before}{text[start:end]}{after}{text[end:]}"


def _ruby(text: str, first: int, start: int, end: int, before: str, after: str) -> str:
    """Wrap the body in a lambda, on the same lines, so that any `return` in it ends up here."""
    return f"{text[:start]}; return {before}lambda do {text[start:end]} end.call{after}; {text[end:]}"


def _script(text: str, first: int, start: int, end: int, before: str, after: str) -> str:
    waits = re.search(r"\basync\s*$", text[max(0, first - 12) : first]) or re.search(r"\basync\b", text[first:start])
    head, call = ("await (async () => {", "})()") if waits else ("(() => {", "})()")
    return f"{text[:start]} return {before}{head}{text[start:end]}{call}{after};{text[end:]}"
