"""Inverts the expectations of Python tests, so that honest code cannot meet them. A test that still passes accepts any answer.

Only expectations that every run of the test reaches are inverted; tests without any are left out. An expected literal becomes another that looks
the same; if there is none, the assertion is negated.
"""

import ast
from collections.abc import Iterator

from detent.evidence.mutate.keyed_random import KeyedRandom
from detent.evidence.mutate.splice import Page, Splice, spliced
from detent.evidence.source.test_blocks import Function, named_tests, parametrized

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
ASSERTIONS = EQUALITY | CONTRARY.keys()
RAISES = frozenset({"raises", "assertRaises", "assertRaisesRegex"})
OTHER_ERRORS = ("ZeroDivisionError", "BufferError", "EOFError", "StopAsyncIteration")
LEAVES = (ast.Return, ast.Continue, ast.Break)


def inverted(text: str, key: bytes = b"") -> tuple[str, frozenset[str]]:
    """The text with inverted expectations, and the names of the tests that have any; unchanged if it does not parse."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return text, frozenset()
    if "\r" in text.replace("\r\n", "\n"):
        return text, frozenset()
    page, rng = Page(text), KeyedRandom(key, text)
    changes = {name: list(_changes(page, rng, test)) for name, test in named_tests(tree.body)}
    every = tuple(splice for found in changes.values() for change in found for splice in change)
    return spliced(text, every), frozenset(name for name, found in changes.items() if found)


def _changes(page: Page, rng: KeyedRandom, test: Function) -> Iterator[Change]:
    """The splices for one test. An expected value with a name is replaced where its literal is, if the name has no other use."""
    fixed = _fixed(test)
    for node in _reached(test.body):
        if _is_settled(node, fixed):
            continue
        for expected in _equalities(node):
            name = expected.id if isinstance(expected, ast.Name) else ""
            written = _written(test, name) if name else [expected]
            yield _others(page, rng, written) or _pair(page, rng, expected)
        yield from _turn(page, rng, node)


def _fixed(test: Function) -> frozenset[str]:
    """The names in a test that only stand for literals: columns of its table, and names assigned once."""
    assigned = [each.id for each in ast.walk(test) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)]
    plain = [each for each in test.body if isinstance(each, ast.Assign) and not any(map(_is_asking, ast.walk(each.value)))]
    once = {name for name in assigned if assigned.count(name) == 1 and any(_assigns(each, name) for each in plain)}
    return frozenset(once | set(parametrized(test)[0]) - set(assigned))


def _is_asking(node: ast.AST) -> bool:
    return isinstance(node, ast.Name | ast.Call | ast.Attribute | ast.Await)


def _is_settled(node: ast.stmt, fixed: frozenset[str]) -> bool:
    """Whether an assertion holds whatever the code returns: it contains only literals, or compares something with itself."""
    call = node.value if isinstance(node, ast.Expr) else None
    asserted = (
        [node.test] if isinstance(node, ast.Assert) else call.args if isinstance(call, ast.Call) and _name(call.func) in ASSERTIONS else []
    )
    sides = [asserted[0].left, *asserted[0].comparators] if len(asserted) == 1 and isinstance(asserted[0], ast.Compare) else asserted
    parts = [each for one in asserted for each in ast.walk(one)]
    asking = any(_is_asking(each) and not (isinstance(each, ast.Name) and each.id in fixed) for each in parts)
    return bool(parts) and (not asking or _is_either(asserted[0]) or (len(sides) > 1 and len({ast.dump(side) for side in sides[:2]}) == 1))


def _is_either(asserted: ast.expr) -> bool:
    """Whether an `or` has a literal operand that is always true: `answer or True`."""
    return (
        isinstance(asserted, ast.BoolOp)
        and isinstance(asserted.op, ast.Or)
        and any(isinstance(each, ast.Constant) and each.value for each in asserted.values)
    )


def _written(test: Function, name: str) -> list[ast.expr]:
    """The expressions that give a name its values: a column of the table, or its one assignment."""
    if sum(isinstance(each, ast.Name) and each.id == name for each in ast.walk(test)) != 1 + sum(
        _assigns(each, name) for each in test.body
    ):
        return []
    assigned = [each.value for each in test.body if isinstance(each, ast.Assign) and _assigns(each, name)]
    return assigned if len(assigned) == 1 else column(test, name)


def _assigns(node: ast.stmt, name: str) -> bool:
    return isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name) and node.targets[0].id == name


def column(test: Function, name: str) -> list[ast.expr]:
    """The values of one parameter in the only table of a test."""
    names, rows = parametrized(test)
    return [row[names.index(name)] for row in rows] if name in names and all(len(row) == len(names) for row in rows) else []


def _reached(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that every run of a test reaches: not under a condition, not after a possible exit, not in a block that is meant to fail."""
    for each in body:
        yield each
        if isinstance(each, ast.For | ast.AsyncFor | ast.Try) or (isinstance(each, ast.With | ast.AsyncWith) and not _fails_in(each)):
            yield from _reached(each.body)
        if _may_leave(each):
            return


def _may_leave(node: ast.stmt) -> bool:
    """Whether a statement may end the test or loop early: a return, break, continue or skip."""
    return any(
        isinstance(each, LEAVES) or (isinstance(each, ast.Call) and _name(each.func) in ("skip", "skipTest", "xfail"))
        for each in ast.walk(node)
    )


def _fails_in(block: ast.With | ast.AsyncWith) -> bool:
    """Whether a block expects or suppresses errors (`pytest.raises`, `assertRaises`, `suppress`), so that a failing assertion in it goes unnoticed."""
    contexts = [ast.unparse(item.context_expr).lower() for item in block.items]
    return any("raises" in each or "suppress" in each for each in contexts)


def _equalities(node: ast.stmt) -> list[ast.expr]:
    """The expected values of a statement's equality assertions: `assert a == b`, `self.assertEqual(a, b)`."""
    if isinstance(node, ast.Assert):
        parts = node.test.values if isinstance(node.test, ast.BoolOp) and isinstance(node.test.op, ast.And) else [node.test]
        return [_expected(each.left, each.comparators[0]) for each in parts if isinstance(each, ast.Compare) and _is_equality(each)]
    call = node.value if isinstance(node, ast.Expr) else None
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in EQUALITY and len(call.args) >= 2:
        return [] if any(isinstance(each, ast.Starred) for each in call.args) else [_expected(call.args[0], call.args[1])]
    return []


def _turn(page: Page, rng: KeyedRandom, node: ast.stmt) -> Iterator[Change]:
    """Invert an assertion other than equality."""
    if isinstance(node, ast.Assert) and not _equalities(node):
        yield page.around(node.test, "not (", ")")
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield from _turn_called(page, rng, node.value)
    elif isinstance(node, ast.With | ast.AsyncWith):
        yield from (
            change
            for item in node.items
            if isinstance(item.context_expr, ast.Call)
            for change in _turn_raises(page, rng, item.context_expr)
        )


def _is_equality(node: ast.Compare) -> bool:
    return [type(op) for op in node.ops] == [ast.Eq]


def _turn_called(page: Page, rng: KeyedRandom, call: ast.Call) -> Iterator[Change]:
    """Invert `self.assertIn(a, b)` and the like."""
    name = _name(call.func)
    if isinstance(call.func, ast.Attribute) and name in CONTRARY:
        end = page.end(call.func)
        yield (Splice(end - len(name), end, CONTRARY[name]),)
    elif isinstance(call.func, ast.Attribute) and name not in EQUALITY:
        yield from _turn_raises(page, rng, call)


def _turn_raises(page: Page, rng: KeyedRandom, call: ast.Call) -> Iterator[Change]:
    """Expect another error in `pytest.raises(ValueError)` and the like."""
    if _name(call.func) in RAISES and call.args and not isinstance(call.args[0], ast.Starred):
        expected = page.source(call.args[0])
        yield (page.instead(call.args[0], rng.one([error for error in OTHER_ERRORS if error not in expected])),)


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _expected(left: ast.expr, right: ast.expr) -> ast.expr:
    """The expected side of a comparison: the one without a call."""
    calls = [any(isinstance(each, ast.Call) for each in ast.walk(side)) for side in (left, right)]
    return left if isinstance(left, ast.Constant) or (calls[1] and not calls[0]) else right


def _others(page: Page, rng: KeyedRandom, written: list[ast.expr]) -> Change:
    """Replace a literal in each of these expressions; nothing if one of them has none."""
    made = []
    for expected in written:
        found = ((node, rng.literal(page.source(node))) for node in _values(expected))
        new = next((page.instead(node, literal) for node, literal in found if literal is not None), None)
        if new is None:
            return ()
        made.append(new)
    return tuple(made)


def _pair(page: Page, rng: KeyedRandom, expected: ast.expr) -> Change:
    """Expect a pair of the old value and something else, for expectations without a literal."""
    return page.around(expected, "(", f", {rng.one((rng.digits('10'), repr(rng.word())))})")


def _values(node: ast.expr) -> Iterator[ast.Constant]:
    """The literals in an expectation, each of which can be replaced to change it."""
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
