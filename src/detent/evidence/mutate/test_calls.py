"""The calls that Python tests make, in a form that can be repeated without a test: `assert half(3) == 1.5`, also from table rows. Pure.

Reads only tests that do nothing but call and compare, in modules without setup: elsewhere, the context may legitimately change the result.
"""

import ast
import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from detent.evidence.mutate.keyed_random import KeyedRandom
from detent.evidence.source.test_blocks import Function, named_tests, parametrized
from detent.evidence.source.test_ids import is_named

SETS_UP = re.compile(
    r"\bautouse\b|\bsetup_(?:module|function|method|class)\b|\bsetUp(?:Class|Module)?\b|\bmonkeypatch\b|\bmock\b|\bpatch\b"
)
MOST = 40


class TestCall(NamedTuple):
    """A call in a test, with the value it expects."""

    test: str
    line: int
    imports: str  # the import statement it needs; for JavaScript, the origin as JSON
    function: str
    call: str
    wanted: str
    args: tuple[ast.expr, ...]
    more: str = ""  # its keyword arguments


def asked(text: str, tests: Collection[str]) -> list[TestCall]:
    """The calls with literal arguments and literal expected values that some tests of a file make."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return []
    if SETS_UP.search(ast.unparse(tree)):
        return []
    imports = {name: ast.unparse(node) for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom) for name in _names(node)}
    found = [
        call
        for name, test in named_tests(tree.body)
        if any(is_named(each, name) for each in tests)
        for row in _rows(test)
        for call in _calls(name, test, row, imports)
    ]
    return found[:MOST]


TRIES = 6  # attempts to draw a value that no test uses


def others(call: TestCall, rng: KeyedRandom, known: Collection[str] = ()) -> str | None:
    """The call with other values that look the same, for numbers and strings with digits. None if it has neither: other strings may be names.

    `known`: values that the tests use, to be avoided if possible.
    """
    drawn = [_unknown(arg, rng, known) for arg in call.args]
    if not any(drawn):
        return None
    given = ", ".join(new or ast.unparse(arg) for new, arg in zip(drawn, call.args, strict=True))
    return f"{call.function}({given}{call.more})"


def _unknown(arg: ast.expr, rng: KeyedRandom, known: Collection[str]) -> str | None:
    made = _other(arg, rng)
    for _ in range(TRIES):
        if made not in known:
            break
        made = _other(arg, rng)
    return made


def _other(arg: ast.expr, rng: KeyedRandom) -> str | None:
    inner = arg.operand if isinstance(arg, ast.UnaryOp) and isinstance(arg.op, ast.USub) else arg
    if isinstance(inner, ast.Constant) and isinstance(inner.value, int | float) and not isinstance(inner.value, bool):
        return ast.unparse(arg).replace(ast.unparse(inner), rng.literal(ast.unparse(inner)) or ast.unparse(inner))
    if isinstance(inner, ast.Constant) and isinstance(inner.value, str) and re.search(r"\d", inner.value):
        return repr(re.sub(r"\d+", lambda digits: rng.text(digits[0]), inner.value))
    if isinstance(arg, ast.List | ast.Tuple) and arg.elts:
        parts = [_other(each, rng) for each in arg.elts]
        if any(parts):
            items = ", ".join(new or ast.unparse(each) for new, each in zip(parts, arg.elts, strict=True))
            return f"[{items}]" if isinstance(arg, ast.List) else f"({items},)"
    return None


def _names(node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    yield from ((each.asname or each.name.partition(".")[0]) for each in node.names)


def _rows(test: Function) -> Iterator[dict[str, ast.expr]]:
    """The parameters of each row of a test's table, or a single empty row; none if the test needs fixtures or has other decorators."""
    params = {arg.arg for arg in test.args.args} - {"self"}
    if not test.decorator_list and not params:
        yield {}
    names, rows = parametrized(test)
    if len(test.decorator_list) == 1 and set(names) == params:
        whole = (row for row in rows if len(row) == len(names) and all(map(_is_written, row)))
        yield from (dict(zip(names, row, strict=True)) for row in whole)


def _calls(name: str, test: Function, row: dict[str, ast.expr], imports: dict[str, str]) -> Iterator[TestCall]:
    """The calls of a test, up to where it does anything else. Values may have names, and so may results if only one function is called."""
    known, imports = dict(row), dict(imports)
    asks_one = len({ast.unparse(node.func) for node in map(_given, test.body) if node is not None}) <= 1
    for node in test.body:
        match node:
            case ast.Expr(value=ast.Constant()):
                continue
            case ast.Import() | ast.ImportFrom():
                imports |= {each: ast.unparse(node) for each in _names(node)}
                continue
            case ast.Assign(targets=[ast.Name(id=to)], value=value) if _is_written(value) or (asks_one and isinstance(value, ast.Call)):
                known[to] = value
                continue
            case ast.Assert(test=ast.Compare(left=left, ops=[ast.Eq()], comparators=[right])):
                sides = left, right
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr="assertEqual"), args=[left, right, *_])):
                sides = left, right
            case ast.Assert() | ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id="self")))):
                continue
            case _:
                return  # other statements may affect the result
        if (found := _asked(sides, known, imports)) is not None:
            yield found._replace(test=name, line=node.lineno)


def _given(node: ast.stmt) -> ast.Call | None:
    """The call whose result is assigned to a name."""
    return node.value if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) else None


def _asked(sides: tuple[ast.expr, ast.expr], known: dict[str, ast.expr], imports: dict[str, str]) -> TestCall | None:
    """A call with literal arguments, and the literal value it is compared with."""
    for one, other in (sides, sides[::-1]):
        call, wanted = _filled(one, known), _filled(other, known)
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name | ast.Attribute) or not _is_written(wanted):
            continue
        args = tuple(_filled(arg, known) for arg in call.args)
        named = {each.arg: _filled(each.value, known) for each in call.keywords}
        function = ast.unparse(call.func)
        root = function.partition(".")[0]
        if root not in imports or not args or None in named or not all(map(_is_written, (*args, *named.values()))):
            return None
        more = "".join(f", {key}={ast.unparse(value)}" for key, value in named.items())
        call_text = f"{function}({', '.join(map(ast.unparse, args))}{more})"
        return TestCall("", 0, imports[root], function, call_text, ast.unparse(wanted), args, more)
    return None


def _filled(node: ast.expr, row: dict[str, ast.expr]) -> ast.expr:
    return row.get(node.id, node) if isinstance(node, ast.Name) else node


def _is_written(node: ast.expr) -> bool:
    """Whether an expression is a literal."""
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        return False
    return True
