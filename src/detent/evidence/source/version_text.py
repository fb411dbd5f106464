"""Whether a Python module only states the version: constants about a version, with no effect on import. Pure."""

import ast
import re

ABOUT = re.compile(r"(?i)version|commit|^__all__$|^type_checking$|revision|^distance$|^dirty$")
LARGEST = 20_000  # characters
HINTS = (ast.Name, ast.Constant, ast.Subscript, ast.Tuple, ast.List, ast.BinOp, ast.BitOr, ast.Load)  # syntax of a type hint


def only_states_version(text: str) -> bool:
    """Whether a Python module only states the version, so that importing it has no effect."""
    if len(text) > LARGEST:
        return False
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError):
        return False
    return all(map(_is_plain, body))


def _is_plain(node: ast.stmt) -> bool:
    match node:
        case ast.Expr(value=ast.Constant()) | ast.ImportFrom(module="__future__"):
            return True
        case ast.ImportFrom(module="typing") | ast.Import(names=[ast.alias(name="typing")]):
            return True
        case ast.Assign(targets=targets, value=value):
            return all(map(_is_about, targets)) and (_is_constant(value) or _is_hint(value))
        case ast.AnnAssign(target=target, annotation=hint, value=value):
            return _is_about(target) and _is_hint(hint) and (value is None or _is_constant(value))
        case ast.If(test=ast.Name(id="TYPE_CHECKING"), body=body, orelse=other):
            return all(map(_is_plain, (*body, *other)))
        case _:
            return False


def _is_about(target: ast.expr) -> bool:
    names = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
    return all(isinstance(name, ast.Name) and ABOUT.search(name.id) for name in names)


def _is_constant(value: ast.expr) -> bool:
    try:
        ast.literal_eval(value)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True


def _is_hint(value: ast.expr) -> bool:
    return all(isinstance(node, HINTS) for node in ast.walk(value))
