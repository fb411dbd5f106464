"""Tests of Python turned round: what each test of a file expects, made into something that no honest answer is equal to.

A test that still passes agrees with any answer. Only comparisons for equality are turned; a test without one is not spoken of.
"""

import ast
from collections.abc import Iterator

EQUALITY = frozenset({"assertEqual", "assertEquals", "assertListEqual", "assertDictEqual", "assertTupleEqual", "assertSetEqual"})


def turned(text: str) -> tuple[str, frozenset[str]]:
    """The text with each expectation turned, and the names of the tests that have one. Nothing is turned in what cannot be read."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return text, frozenset()
    names = frozenset(each.name for each in _tests(tree) if _turn(each))
    return (ast.unparse(tree), names) if names else (text, names)


def _tests(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test"))


def _turn(test: ast.AST) -> bool:
    """Turn every expectation of a test, in place; whether there was one."""
    return sum(_turn_compared(node) or _turn_called(node) for node in ast.walk(test)) > 0


def _turn_compared(node: ast.AST) -> bool:
    """`assert a == b`; of the two, the side that is written down."""
    if not (isinstance(node, ast.Assert) and isinstance(node.test, ast.Compare) and [type(op) for op in node.test.ops] == [ast.Eq]):
        return False
    if isinstance(node.test.left, ast.Constant):
        node.test.left = _other(node.test.left)
    else:
        node.test.comparators = [_other(node.test.comparators[0])]
    return True


def _turn_called(node: ast.AST) -> bool:
    """`self.assertEqual(a, b)`."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in EQUALITY and len(node.args) >= 2):
        return False
    side = 0 if isinstance(node.args[0], ast.Constant) else 1
    node.args[side] = _other(node.args[side])
    return True


def _other(expected: ast.expr) -> ast.expr:
    """A pair of what was expected and something else."""
    return ast.copy_location(ast.Tuple([expected, ast.Constant("turned round")], ast.Load()), expected)
