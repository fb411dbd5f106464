"""Small mutations of Python code, one at a time, by its syntax tree. Pure: text in, texts out."""

import ast
import copy
from collections.abc import Collection, Iterator
from functools import partial
from typing import Any

from detent.evidence.mutate.spot import Body, Spot

SWAPPED: dict[type[ast.AST], Any] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.Mod: ast.Add,
    ast.FloorDiv: ast.Mult, ast.Pow: ast.Mult, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip


Function = ast.FunctionDef | ast.AsyncFunctionDef


def spots(text: str, lines: Collection[int] | None = None) -> Iterator[Spot]:
    """Every place of a module, or of these lines of it, in the order of its lines; none if it cannot be parsed."""
    tree = _parsed(text)
    said = {id(node) for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # a docstring, or what is worked out for nothing
    leave = {
        id(inner) for node in ast.walk(tree) if id(node) in said for inner in ast.iter_child_nodes(node) if isinstance(inner, ast.Constant)
    }
    places = sorted(
        (n for n in ast.walk(tree) if hasattr(n, "lineno") and id(n) not in leave),
        key=lambda n: (getattr(n, "lineno", 0), getattr(n, "col_offset", 0)),
    )
    for node in places:
        if lines is None or _touches(node, lines):
            yield from (Spot(getattr(node, "lineno", 0), partial(_with, tree, node, change)) for change in _changes(node))


def bodies(text: str) -> Iterator[Body]:
    """Every function of a module: none of them does what it did."""
    tree = _parsed(text)
    for node in ast.walk(tree):
        if isinstance(node, Function) and not (node.name == "__init__" and all(isinstance(each, ast.Pass) for each in node.body)):
            idle = copy.deepcopy(node)
            said = node.body[:1] if ast.get_docstring(node, clean=False) is not None else []  # its examples may be tests
            idle.body = [*said, ast.Pass() if node.name == "__init__" else ast.Return(ast.Constant(...))]
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            yield Body(node.name, first, node.end_lineno or node.lineno, partial(_with, tree, node, idle))


def _parsed(text: str) -> ast.Module:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return ast.Module([], [])


def _touches(node: ast.AST, lines: Collection[int]) -> bool:
    first = getattr(node, "lineno", 0)
    return any(line in lines for line in range(first, (getattr(node, "end_lineno", None) or first) + 1))


def _changes(node: ast.AST) -> Iterator[ast.AST]:
    """What may stand in the place of a node."""
    if isinstance(node, ast.Return) and node.value is not None and not (isinstance(node.value, ast.Constant) and node.value.value is None):
        yield ast.Return(ast.Constant(None))
    if isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPPED:
        other = copy.deepcopy(node)
        other.ops[0] = SWAPPED[type(node.ops[0])]()
        yield other
    if isinstance(node, ast.BinOp | ast.BoolOp) and type(node.op) in SWAPPED:
        same = copy.deepcopy(node)
        same.op = SWAPPED[type(node.op)]()
        yield same
    if isinstance(node, ast.Constant):
        yield from _constants(node.value)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node.operand
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name | ast.Attribute | ast.Lambda):
        yield ast.Assign(node.targets, ast.Constant(...))  # another name for what somebody else wrote
    if isinstance(node, ast.ImportFrom) and node.module != "__future__" and node.names[0].name != "*":
        yield ast.Assign([ast.Name(each.asname or each.name, ast.Store()) for each in node.names], ast.Constant(...))


def _constants(value: object) -> Iterator[ast.AST]:
    if isinstance(value, bool):
        yield ast.Constant(not value)
    elif isinstance(value, int | float):
        yield ast.Constant(value + 1)
    elif isinstance(value, str) and value:
        yield ast.Constant(f"{value}x")


def _with(tree: ast.Module, node: ast.AST, change: ast.AST) -> str:
    """The module as text, with one node replaced; the tree itself stays as it is."""
    at = next(i for i, n in enumerate(ast.walk(tree)) if n is node)
    whole = copy.deepcopy(tree)
    target = next(n for i, n in enumerate(ast.walk(whole)) if i == at)

    class Put(ast.NodeTransformer):
        def visit(self, here: ast.AST) -> ast.AST:
            return ast.copy_location(change, here) if here is target else self.generic_visit(here)

    return ast.unparse(ast.fix_missing_locations(Put().visit(whole)))
