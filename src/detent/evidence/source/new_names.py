"""The names that a change adds to a file and that a test can refer to: definitions, parameters, attributes, keys. Pure.

Prose is not included, nor are local variables of functions.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from detent.evidence.source.file_patterns import is_document

NAME = re.compile(r"[A-Za-z_]\w*")
KEY = re.compile(r"[\w.:/-]+")  # a string that is one word: an option, a key, a path
COMMENT = re.compile(r"^\s*(?://|#(?!\[)|/\*|\*).*$", re.MULTILINE)


def new_names(path: str, old: str, new: str) -> frozenset[str]:
    """The names that only the newer version of a file has."""
    where = PurePosixPath(path)
    if is_document(path) or (where.name.startswith(".") and not where.suffix):
        return frozenset()
    return frozenset(_names(path, new)) - frozenset(_names(path, old))


def _names(path: str, text: str) -> Iterator[str]:
    if not path.endswith(".py"):
        yield from NAME.findall(COMMENT.sub("", text))
        return
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        yield from NAME.findall(text)
        return
    for holder in (node for node in ast.walk(tree) if isinstance(node, ast.Module | ast.ClassDef)):
        yield from (name for node in holder.body for name in _bound(node))
    for node in ast.walk(tree):
        yield from _spoken(node)


def _bound(node: ast.stmt) -> Iterator[str]:
    """The names that a statement of a module or a class binds."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        yield from (each.asname or each.name.partition(".")[0] for each in node.names)
    elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield from (each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store))


def _spoken(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name) | ast.arg(arg=name):
            yield name
        case ast.Attribute(attr=name, ctx=ast.Store()):
            yield name
        case ast.Constant(value=str() as text) if KEY.fullmatch(text):
            yield from NAME.findall(text)
