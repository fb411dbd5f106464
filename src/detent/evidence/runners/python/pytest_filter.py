"""What a `-k` or `-m` expression of pytest lets through: the words that a test must have so that it is selected. Pure."""

import re
from collections.abc import Callable
from itertools import combinations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ast

WORD = re.compile(r"[\w:+\-.\[\]\\/]+|[()]|\S")
MEANING = ("and", "or", "not", "(", ")")
MOST_WORDS = 8


def wanted_by(expression: str) -> tuple[str, ...] | None:
    """The fewest words that satisfy an expression together; None if that cannot be told or no such words make a name."""
    words = WORD.findall(expression)
    names = list(dict.fromkeys(w for w in words if w not in MEANING))
    if len(names) > MOST_WORDS:
        return None
    for size in range(len(names) + 1):
        for chosen in combinations(names, size):
            if all(re.fullmatch(r"\w+", w) for w in chosen) and selects(expression, lambda w, c=chosen: w in c):  # type: ignore[misc]
                return chosen
    return None


def selects(expression: str, has: Callable[[str], bool]) -> bool:
    """Whether something that `has` words is selected."""
    if not expression.strip():
        return True
    import ast  # most runs select by no expression

    text = " ".join(w if w in MEANING else str(has(w)) for w in WORD.findall(expression))
    try:
        return _true(ast.parse(text, mode="eval").body)
    except (SyntaxError, ValueError, RecursionError):
        return False


def _true(node: "ast.expr") -> bool:
    import ast

    match node:
        case ast.BoolOp(op=ast.And(), values=values):
            return all(map(_true, values))
        case ast.BoolOp(values=values):
            return any(map(_true, values))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return not _true(operand)
        case ast.Constant(value=bool(value)):
            return value
    raise ValueError("not an expression of words")
