"""Mutates Python: finds mutations in the syntax tree and makes them in the text, which otherwise stays as it is. Pure: text in, texts out."""

import ast
import tokenize
from collections.abc import Collection, Iterator
from functools import partial

from detent.evidence.mutate.arid import arid_nodes, is_arid_function
from detent.evidence.mutate.splice import Page, Splice, spliced, spot
from detent.evidence.mutate.spot import FunctionBody, Spot

SWAPPED: dict[type[ast.AST], tuple[str, str]] = {
    ast.Eq: ("==", "!="), ast.NotEq: ("!=", "=="), ast.Lt: ("<", ">="), ast.GtE: (">=", "<"), ast.Gt: (">", "<="), ast.LtE: ("<=", ">"),
    ast.In: ("in", "not in"), ast.NotIn: ("not in", "in"), ast.Is: ("is", "is not"), ast.IsNot: ("is not", "is"),
    ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "+"), ast.Div: ("/", "*"), ast.Mod: ("%", "+"), ast.FloorDiv: ("//", "*"),
    ast.Pow: ("**", "*"), ast.And: ("and", "or"), ast.Or: ("or", "and"),
}  # fmt: skip

Function = ast.FunctionDef | ast.AsyncFunctionDef
Change = tuple[Splice, ...]


def spots(text: str, lines: Collection[int] | None = None) -> Iterator[Spot]:
    """The places in a module, or on these lines of it, that can be mutated, in line order; none if it does not parse."""
    tree, page = _parsed(text), Page(text)
    leave = arid_nodes(tree)
    places = sorted(
        (n for n in ast.walk(tree) if hasattr(n, "lineno") and id(n) not in leave),
        key=lambda n: (getattr(n, "lineno", 0), getattr(n, "col_offset", 0)),
    )
    for node in places:
        if lines is None or _touches(node, lines):
            yield from (spot(text, getattr(node, "lineno", 0), *change) for change in _changes(page, node))


def bodies(text: str) -> Iterator[FunctionBody]:
    """All functions of a module, each with a mutant in which it returns something else at once."""
    tree, page = _parsed(text), Page(text)
    for node in ast.walk(tree):
        if isinstance(node, Function) and not is_arid_function(node):
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            yield FunctionBody(node.name, first, node.end_lineno or node.lineno, partial(_idle, page, node))


def _parsed(text: str) -> ast.Module:
    try:
        return ast.parse(text) if "\r" not in text.replace("\r\n", "\n") else ast.Module([], [])
    except (SyntaxError, ValueError, RecursionError):
        return ast.Module([], [])


def _touches(node: ast.AST, lines: Collection[int]) -> bool:
    first = getattr(node, "lineno", 0)
    return any(line in lines for line in range(first, (getattr(node, "end_lineno", None) or first) + 1))


# -- one token or one expression --------------------------------------------------------------------------------------------------


def _changes(page: Page, node: ast.AST) -> Iterator[Change]:
    """The mutations of a node."""
    if isinstance(node, ast.Return) and node.value is not None and not (isinstance(node.value, ast.Constant) and node.value.value is None):
        yield _instead(page, node.value, "None", "None and (")
    if isinstance(node, ast.Compare):
        yield from _swapped(page, node.left, type(node.ops[0]), node.comparators[0])
    if isinstance(node, ast.BinOp):
        yield from _swapped(page, node.left, type(node.op), node.right)
    if isinstance(node, ast.BoolOp):
        yield from _swapped(page, node.values[0], type(node.op), node.values[1])
    if isinstance(node, ast.Constant):
        yield from _constants(page, node)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        start = page.start(node)
        yield (Splice(start, start + len("not") + (page.text[start + 3 : start + 4] == " "), ""),)
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name | ast.Attribute | ast.Lambda):
        yield _instead(page, node.value, "...", "... or (")  # an alias for something defined elsewhere
    if isinstance(node, ast.ImportFrom) and node.module != "__future__" and node.names[0].name != "*":
        names = " = ".join(each.asname or each.name for each in node.names)
        more = page.source(node).count("\n")
        yield (page.instead(node, f"{names} = ({'...'}{chr(10) * more})" if more else f"{names} = ..."),)


def _instead(page: Page, node: ast.expr, new: str, before: str) -> Change:
    """Replace a value; one on several lines stays in the text but is never evaluated, to keep the line count."""
    return (page.instead(node, new),) if "\n" not in page.source(node) else page.around(node, before, ")")


def _swapped(page: Page, left: ast.expr, op: type[ast.AST], right: ast.expr) -> Iterator[Change]:
    if op not in SWAPPED:
        return
    old, new = SWAPPED[op]
    words = page.between(page.end(left), page.start(right))
    parts = old.split()
    for i in range(len(words) - len(parts) + 1):
        if [word.text for word in words[i : i + len(parts)]] == parts:
            yield (Splice(words[i].start, words[i + len(parts) - 1].end, new),)
            return


def _constants(page: Page, node: ast.Constant) -> Iterator[Change]:
    value = node.value
    if isinstance(value, bool):
        yield (page.instead(node, str(not value)),)
    elif isinstance(value, int | float) and not _is_inside_text(page, node):
        yield (page.instead(node, repr(value + 1)),)
    elif isinstance(value, str) and value:
        last = [word for word in page.between(page.start(node), page.end(node)) if word.kind == tokenize.STRING][-1:]
        for word in last:
            end = word.end - (3 if word.text.endswith(('"""', "'''")) else 1)
            yield (Splice(end, end, "x"),)


def _is_inside_text(page: Page, node: ast.Constant) -> bool:
    """Whether a constant is inside an f-string, for which older Pythons report wrong positions."""
    return page.source(node)[:1] not in "0123456789."


# -- a whole body -----------------------------------------------------------------------------------------------------------------


def _idle(page: Page, node: Function) -> str:
    """The module with a function that returns something else at once, its old body left below. Keeps the line count if possible."""
    answer = _answer(node)
    first, has_docstring = node.body[0], isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant)
    if has_docstring:
        return spliced(page.text, (Splice(page.end(first), page.end(first), f"; {answer}"),))
    start = page.start(first)
    if not isinstance(
        first,
        Function
        | ast.ClassDef
        | ast.If
        | ast.For
        | ast.AsyncFor
        | ast.While
        | ast.With
        | ast.AsyncWith
        | ast.Try
        | ast.Match
        | ast.TryStar,
    ):
        return spliced(page.text, (Splice(start, start, f"{answer}; "),))
    line = min([first.lineno, *(each.lineno for each in getattr(first, "decorator_list", ()))])
    begins = page.begins(line)
    indent = page.text[begins : begins + first.col_offset]
    return spliced(page.text, (Splice(begins, begins, f"{indent}{answer}\n"), *_blank_after(page, begins)))


def _answer(node: Function) -> str:
    inner = [each for each in _own(node) if isinstance(each, ast.Yield | ast.YieldFrom)]
    return "return" if node.name == "__init__" or (inner and isinstance(node, ast.AsyncFunctionDef)) else "return ..."


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function without those of nested functions and classes."""
    for each in ast.iter_child_nodes(node):
        if not isinstance(each, Function | ast.Lambda | ast.ClassDef):
            yield each
            yield from _own(each)


def _blank_after(page: Page, at: int) -> Change:
    """A splice that removes the next blank line of the module, if there is one."""
    for word, before in zip(page.words[1:], page.words, strict=False):
        begins = page.begins(page.line(word.start))
        if word.kind == tokenize.NL and begins >= at and before.end <= begins and not page.text[begins : word.start].strip():
            return (Splice(begins, word.end, ""),)
    return ()
