"""Mutates code so that it passes on the errors that it caught: each handler of a change raises again what it got. Pure: text in, text out.

A test that only wants no error to come fails for this and for hardly anything else. Python, JavaScript and TypeScript; line numbers stay the same.
"""

import ast
import re
from collections.abc import Collection
from pathlib import PurePosixPath

from detent.evidence.mutate.splice import Page, Splice, spliced
from detent.evidence.mutate.textual import blanked

SIMPLE = (ast.Pass, ast.Return, ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Continue, ast.Break, ast.Delete)
SCRIPTS = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx")
CATCH = re.compile(r"\bcatch\s*(?:\(\s*(\w+)\s*(?::\s*\w+\s*)?\)\s*)?\{")


def passed_on(path: str, text: str, lines: Collection[int]) -> str:
    """The text with each handler that these lines touch passing on what it caught; the same text if there is none."""
    suffix = PurePosixPath(path).suffix
    if suffix == ".py":
        return _python(text, lines)
    return _script(suffix, text, lines) if suffix in SCRIPTS else text


def _python(text: str, lines: Collection[int]) -> str:
    try:
        tree = ast.parse(text) if "\r" not in text.replace("\r\n", "\n") else ast.Module([], [])
    except (SyntaxError, ValueError, RecursionError):
        return text
    page = Page(text)
    handlers = [node for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler) and isinstance(node.body[0], SIMPLE)]
    touched = [each for each in handlers if any(line in lines for line in range(each.lineno, (each.end_lineno or each.lineno) + 1))]
    starts = sorted(page.start(each.body[0]) for each in touched)
    return spliced(text, tuple(Splice(start, start, "raise; ") for start in starts))


def _script(suffix: str, text: str, lines: Collection[int]) -> str:
    made, at = list[str](), 0
    for found in CATCH.finditer(blanked(suffix, text)):
        if text.count("\n", 0, found.start()) + 1 in lines:
            name = found[1] or "caught"
            made += [text[at : found.start()], text[found.start() : found.end()] if found[1] else f"catch ({name}) {{", f" throw {name};"]
            at = found.end()
    return "".join([*made, text[at:]])
