"""Tests of Python turned round: what each test of a file expects, made into something that no honest answer is equal to.

A test that still passes agrees with any answer. Only expectations that every run of the test comes to are turned; a test without one is not
spoken of. What is expected becomes another value of the same look; where no value is written down, the contrary is expected.
"""

import ast
from collections.abc import Iterator

from detent.evidence.mutate.lot import Lot
from detent.evidence.mutate.splice import Page, Splice, spliced
from detent.evidence.test_blocks import named_tests

Change = tuple[Splice, ...]
EQUALITY = frozenset(
    {"assertEqual", "assertEquals", "assertListEqual", "assertDictEqual", "assertTupleEqual", "assertSetEqual", "assertSequenceEqual", "assertMultiLineEqual", "assertCountEqual"}
)  # fmt: skip
PAIRS = (
    ("assertTrue", "assertFalse"), ("assertIn", "assertNotIn"), ("assertIs", "assertIsNot"), ("assertIsNone", "assertIsNotNone"),
    ("assertNotEqual", "assertEqual"), ("assertAlmostEqual", "assertNotAlmostEqual"), ("assertGreater", "assertLessEqual"),
    ("assertLess", "assertGreaterEqual"), ("assertRegex", "assertNotRegex"), ("assertIsInstance", "assertNotIsInstance"),
)  # fmt: skip
CONTRARY = {one: other for pair in PAIRS for one, other in (pair, pair[::-1]) if one not in EQUALITY}
RAISES = frozenset({"raises", "assertRaises", "assertRaisesRegex"})
OTHER_ERRORS = ("ZeroDivisionError", "BufferError", "EOFError", "StopAsyncIteration")
LEAVES = (ast.Return, ast.Continue, ast.Break)


def turned(text: str, key: bytes = b"") -> tuple[str, frozenset[str]]:
    """The text with each expectation turned, and the names of the tests that have one. Nothing is turned in what cannot be read."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return text, frozenset()
    if "\r" in text.replace("\r\n", "\n"):
        return text, frozenset()
    page, lot = Page(text), Lot(key, text)
    changes = {name: [change for each in _reached(test.body) for change in _turn(page, lot, each)] for name, test in named_tests(tree.body)}
    every = tuple(splice for found in changes.values() for change in found for splice in change)
    return spliced(text, every), frozenset(name for name, found in changes.items() if found)


def _reached(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """What a test comes to: nothing that hangs on a condition, nothing after a way out of the test, and nothing that is there to fail."""
    for each in body:
        yield each
        if isinstance(each, ast.For | ast.AsyncFor | ast.Try) or (isinstance(each, ast.With | ast.AsyncWith) and not _fails_in(each)):
            yield from _reached(each.body)
        if _may_leave(each):
            return


def _may_leave(node: ast.stmt) -> bool:
    """Whether the rest may be left out: a way out in a block, or a test that is skipped."""
    return any(
        isinstance(each, LEAVES) or (isinstance(each, ast.Call) and _name(each.func) in ("skip", "skipTest", "xfail"))
        for each in ast.walk(node)
    )


def _fails_in(block: ast.With | ast.AsyncWith) -> bool:
    """`with pytest.raises(…)`, `with self.assertRaises(…)`, `with suppress(…)`: whatever is expected inside, the test goes on."""
    said = [ast.unparse(item.context_expr).lower() for item in block.items]
    return any("raises" in each or "suppress" in each for each in said)


def _turn(page: Page, lot: Lot, node: ast.stmt) -> Iterator[Change]:
    """The expectation of one statement, turned."""
    if isinstance(node, ast.Assert):
        yield from _turn_asserted(page, lot, node.test)
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield from _turn_called(page, lot, node.value)
    elif isinstance(node, ast.With | ast.AsyncWith):
        yield from (
            change
            for item in node.items
            if isinstance(item.context_expr, ast.Call)
            for change in _turn_raises(page, lot, item.context_expr)
        )


def _turn_asserted(page: Page, lot: Lot, test: ast.expr) -> Iterator[Change]:
    """`assert a == b`: of the two, the side that is written down. `assert a`: the contrary."""
    equal = [
        each for each in (test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]) if _is_equality(each)
    ]
    for each in equal:
        assert isinstance(each, ast.Compare), "an equality is a comparison"
        yield _other(page, lot, _expected(each.left, each.comparators[0]))
    if not equal:
        yield page.around(test, "not (", ")")


def _is_equality(node: ast.expr) -> bool:
    return isinstance(node, ast.Compare) and [type(op) for op in node.ops] == [ast.Eq]


def _turn_called(page: Page, lot: Lot, call: ast.Call) -> Iterator[Change]:
    """`self.assertEqual(a, b)`, and the like."""
    name = _name(call.func)
    if not isinstance(call.func, ast.Attribute):
        return
    if name in EQUALITY and len(call.args) >= 2 and not any(isinstance(each, ast.Starred) for each in call.args):
        yield _other(page, lot, _expected(call.args[0], call.args[1]))
    elif name in CONTRARY:
        end = page.end(call.func)
        yield (Splice(end - len(name), end, CONTRARY[name]),)
    else:
        yield from _turn_raises(page, lot, call)


def _turn_raises(page: Page, lot: Lot, call: ast.Call) -> Iterator[Change]:
    """`pytest.raises(ValueError)`: another error is expected."""
    if _name(call.func) in RAISES and call.args and not isinstance(call.args[0], ast.Starred):
        said = page.said(call.args[0])
        yield (page.instead(call.args[0], lot.one([error for error in OTHER_ERRORS if error not in said])),)


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _expected(left: ast.expr, right: ast.expr) -> ast.expr:
    """The side that says what is expected: the one that calls nothing."""
    calls = [any(isinstance(each, ast.Call) for each in ast.walk(side)) for side in (left, right)]
    return left if isinstance(left, ast.Constant) or (calls[1] and not calls[0]) else right


def _other(page: Page, lot: Lot, expected: ast.expr) -> Change:
    """Another value of the same look; where none is written down, a pair of what was expected and something else."""
    for node in _values(expected):
        new = lot.literal(page.said(node))
        if new is not None:
            return (page.instead(node, new),)
    return page.around(expected, "(", f", {lot.one((lot.digits('10'), repr(lot.word())))})")


def _values(node: ast.expr) -> Iterator[ast.Constant]:
    """The values that an expectation has in it such that another one makes it another expectation."""
    if isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float | str | bytes):
        yield node
    elif isinstance(node, ast.List | ast.Tuple):
        yield from (value for each in node.elts for value in _values(each))
    elif isinstance(node, ast.Dict):
        yield from (value for key, each in zip(node.keys, node.values, strict=True) if key is not None for value in _values(each))
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield from _values(node.operand)
    elif isinstance(node, ast.Call) and _name(node.func) == "approx" and node.args:
        yield from _values(node.args[0])
