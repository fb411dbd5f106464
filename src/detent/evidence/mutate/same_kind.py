"""Mutants in which a Python function returns another value of the same kind: another number or boolean, a string or list of another length. Pure.

A test that checks only the type, or only that something raises, does not notice. Only functions without side effects are changed: with side
effects, tests may legitimately ignore the returned value.
"""

import ast
from collections.abc import Collection, Iterator
from functools import partial

from detent.evidence.mutate.arid import is_arid_function
from detent.evidence.mutate.splice import Page, spliced
from detent.evidence.mutate.spot import FunctionBody

ANOTHER = (
    "(lambda a: not a if isinstance(a, bool) else a + 7 if isinstance(a, (int, float)) else a + 'k' if isinstance(a, str)"
    " else a[1:] if isinstance(a, (list, tuple, bytes)) and a else None if a is not None else 7)("
)
PLAIN = (ast.Return, ast.If, ast.Raise, ast.For, ast.While, ast.Break, ast.Continue, ast.Pass, ast.Try, ast.Match, ast.Assert, ast.Import,
         ast.ImportFrom, ast.AnnAssign)  # fmt: skip
NOTHING = frozenset(
    {"append", "extend", "clear", "close", "flush", "sort", "reverse", "release", "notify_all"}
)  # library methods that return nothing
EFFECTS = (ast.Yield, ast.YieldFrom, ast.Await, ast.NamedExpr)


def other_answers(text: str, lines: Collection[int]) -> Iterator[FunctionBody]:
    """The functions on these lines that only compute a value, each with a mutant that returns other ones; none if the file does not parse."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    page, silent = Page(text), _silent(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and any(line in lines for line in range(node.lineno, (node.end_lineno or 0) + 1)):
            returned = [each.value for each in ast.walk(node) if isinstance(each, ast.Return) and each.value is not None]
            if not all(_called(each) in silent for each in returned) and _only_answers(node):
                yield FunctionBody(node.name, node.lineno, node.end_lineno or node.lineno, partial(_made, page, returned))


def _silent(tree: ast.Module) -> frozenset[str]:
    """The names of functions that never return a value. Returning the result of one is a side effect, not an answer."""
    answers = dict[str, bool]()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            own = any(
                isinstance(each, ast.Return) and each.value is not None and _called(each.value) != node.name.lstrip("_")
                for each in ast.walk(node)
            )
            answers[node.name.lstrip("_")] = answers.get(node.name.lstrip("_"), False) or own
    return NOTHING | {name for name, does in answers.items() if not does}


def _called(returned: ast.expr) -> str:
    """The name of the called function, without leading underscores; empty if the expression is not a call."""
    match returned:
        case ast.Call(func=ast.Name(id=name)) | ast.Call(func=ast.Attribute(attr=name)):
            return name.lstrip("_")
    return ""


def _made(page: Page, returned: list[ast.expr]) -> str:
    return spliced(page.text, tuple(splice for each in returned for splice in page.around(each, ANOTHER, ")")))


def _only_answers(function: ast.FunctionDef) -> bool:
    below = [node for each in function.body for node in ast.walk(each)]
    if function.decorator_list or is_arid_function(function) or any(isinstance(node, EFFECTS) for node in below):
        return False
    return all(_is_plain(node) for node in below if isinstance(node, ast.stmt))


def _is_plain(statement: ast.stmt) -> bool:
    match statement:
        case ast.Expr(value=ast.Constant()):
            return True
        case ast.Assign(targets=targets):
            return all(_is_local(target) for target in targets)
        case ast.AugAssign(target=target):
            return _is_local(target)
    return isinstance(statement, PLAIN)


def _is_local(target: ast.expr) -> bool:
    return all(isinstance(each, ast.Name | ast.Tuple | ast.List | ast.Starred | ast.expr_context) for each in ast.walk(target))
