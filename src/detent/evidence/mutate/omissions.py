"""Mutants that leave out one new piece of a change: a statement, an operand, an entry of a literal. Python only. Pure: text in, texts out.

A piece that no test misses is not proved by any. A piece whose text was already in the old file is not new. Line numbers stay the same.
"""

import ast
from collections.abc import Collection, Iterator
from functools import partial

from detent.evidence.mutate.spot import Spot

Piece = tuple[int, int, int, int, str]  # first line, column, last line, column, replacement
HOLDERS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
QUIET = (ast.Import, ast.ImportFrom, ast.Pass, ast.Global, ast.Nonlocal)


def omissions(old: str, new: str, lines: Collection[int]) -> Iterator[Spot]:
    """One mutant for each new piece on these lines, outer pieces first; none if the file does not parse."""
    try:
        tree = ast.parse(new)
    except (SyntaxError, ValueError, RecursionError):
        return
    for piece in _pieces(tree.body, old, new, frozenset(lines)):
        yield Spot(piece[0], partial(_without, new, piece))


def _pieces(body: list[ast.stmt], old: str, text: str, lines: frozenset[int]) -> Iterator[Piece]:
    for each in body:
        span = range(each.lineno, (each.end_lineno or each.lineno) + 1)
        if not any(line in lines for line in span):
            continue
        if not isinstance(each, HOLDERS) and not _is_quiet(each):
            if all(line in lines for line in span):
                yield _instead(each, "pass")
            yield from _inside(each, old, text)
        for inner in _bodies(each):
            yield from _pieces(inner, old, text, lines)


def _is_quiet(each: ast.stmt) -> bool:
    """Whether a statement has no effect of its own: an import, a docstring, an annotation."""
    if isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant):
        return True
    return isinstance(each, QUIET) or (isinstance(each, ast.AnnAssign) and each.value is None)


def _bodies(each: ast.stmt) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        if isinstance(inner := getattr(each, name, None), list):
            yield inner
    for part in (*getattr(each, "handlers", ()), *getattr(each, "cases", ())):
        yield part.body


def _inside(each: ast.stmt, old: str, text: str) -> Iterator[Piece]:
    """The new operands, branches and entries in the expressions of a statement."""
    for node in _expressions(each):
        if isinstance(node, ast.BoolOp):
            neutral = "True" if isinstance(node.op, ast.And) else "False"
            yield from (_instead(value, neutral) for value in node.values if _is_new(value, old, text))
        elif isinstance(node, ast.IfExp) and _is_new(node.test, old, text):
            yield from (_instead(node.test, word) for word in ("(True)", "(False)"))
        elif (
            isinstance(node, ast.List | ast.Set | ast.Tuple)
            and len(node.elts) > 1
            and isinstance(node.ctx if hasattr(node, "ctx") else ast.Load(), ast.Load)
        ):
            twin = node.elts
            yield from (_instead(value, _segment(twin[not n], text)) for n, value in enumerate(twin) if _is_new(value, old, text))
        elif isinstance(node, ast.Dict):
            yield from (_instead(key, "object()") for key in node.keys if key is not None and _is_new(key, old, text))


def _expressions(each: ast.stmt) -> Iterator[ast.AST]:
    """The expressions of a statement, without those of nested statements."""
    todo: list[ast.AST] = [child for child in ast.iter_child_nodes(each) if isinstance(child, ast.expr | ast.withitem | ast.keyword)]
    while todo:
        node = todo.pop()
        yield node
        todo += list(ast.iter_child_nodes(node))


def _is_new(node: ast.expr, old: str, text: str) -> bool:
    return _segment(node, text) not in old


def _segment(node: ast.expr, text: str) -> str:
    return ast.get_source_segment(text, node) or ""


def _instead(node: ast.stmt | ast.expr, word: str) -> Piece:
    return node.lineno, node.col_offset, node.end_lineno or node.lineno, node.end_col_offset or 0, word


def _without(text: str, piece: Piece) -> str:
    """The text with a piece replaced; columns count bytes."""
    first, start, last, end, word = piece
    lines = text.encode().split(b"\n")
    head, tail = lines[first - 1][:start], lines[last - 1][end:]
    lines[first - 1 : last] = [
        head + word.encode() + (tail if first == last else b""),
        *([b""] * (last - first - 1)),
        *([tail] if last > first else []),
    ]
    return b"\n".join(lines).decode("utf-8", "replace")
