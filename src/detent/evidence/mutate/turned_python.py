"""Tests of Python turned round: what each test of a file expects, made into something that no honest answer is equal to.

A test that still passes agrees with any answer. Only comparisons for equality are turned, and of those the ones that every run of the test
comes to; a test without one is not spoken of.
"""

import ast
from collections.abc import Iterator

from detent.evidence.test_blocks import named_tests

EQUALITY = frozenset({"assertEqual", "assertEquals", "assertListEqual", "assertDictEqual", "assertTupleEqual", "assertSetEqual"})


def turned(text: str) -> tuple[str, frozenset[str]]:
    """The text with each expectation turned, and the names of the tests that have one. Nothing is turned in what cannot be read."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return text, frozenset()
    names = frozenset(name for name, test in named_tests(tree.body) if _turn(test.body))
    return (ast.unparse(tree), names) if names else (text, names)


def _turn(body: list[ast.stmt]) -> bool:
    """Turn every expectation that a test comes to, in place; whether there was one."""
    return sum(_turn_compared(each) or (isinstance(each, ast.Expr) and _turn_called(each.value)) for each in _reached(body)) > 0


def _reached(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """What a test comes to: nothing that hangs on a condition, and nothing that is there to fail."""
    for each in body:
        yield each
        if isinstance(each, ast.For | ast.AsyncFor | ast.Try) or (isinstance(each, ast.With | ast.AsyncWith) and not _fails_in(each)):
            yield from _reached(each.body)


def _fails_in(block: ast.With | ast.AsyncWith) -> bool:
    """`with pytest.raises(…)`, `with self.assertRaises(…)`: whatever is expected inside, the test goes on."""
    return any("raises" in ast.unparse(item.context_expr).lower() for item in block.items)


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
