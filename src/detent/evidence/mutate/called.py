"""What tests of Python ask the code, as calls that can be made without any test: `assert half(3) == 1.5`, rows of a table too. Pure.

Only tests that do nothing but ask are read, of modules that set nothing up: for others, what is around a call may honestly decide its answer.
"""

import ast
import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from detent.evidence.mutate.lot import Lot
from detent.evidence.mutate.turned import is_named
from detent.evidence.test_blocks import Function, named_tests

SETS_UP = re.compile(
    r"\bautouse\b|\bsetup_(?:module|function|method|class)\b|\bsetUp(?:Class|Module)?\b|\bmonkeypatch\b|\bmock\b|\bpatch\b"
)
MOST = 40


class TestCall(NamedTuple):
    """One call, as a test makes it."""

    test: str
    line: int
    imports: str  # what must be imported for it
    function: str
    call: str
    wanted: str
    args: tuple[ast.expr, ...]


def asked(text: str, tests: Collection[str]) -> list[TestCall]:
    """The calls that some tests of a file make with values that are written down, and the values that they want."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return []
    if SETS_UP.search(text):
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


TRIES = 6  # to draw a value that no test asks


def others(call: TestCall, lot: Lot, known: Collection[str] = ()) -> str | None:
    """The same call with other values of the same look: numbers, and texts with digits. None if it has none: a word may be a name.

    `known`: values that the tests ask; where it can be, none of them is drawn.
    """
    drawn = [_unknown(arg, lot, known) for arg in call.args]
    if not any(drawn):
        return None
    return f"{call.function}({', '.join(new or ast.unparse(arg) for new, arg in zip(drawn, call.args, strict=True))})"


def _unknown(arg: ast.expr, lot: Lot, known: Collection[str]) -> str | None:
    made = _other(arg, lot)
    for _ in range(TRIES):
        if made not in known:
            break
        made = _other(arg, lot)
    return made


def _other(arg: ast.expr, lot: Lot) -> str | None:
    inner = arg.operand if isinstance(arg, ast.UnaryOp) and isinstance(arg.op, ast.USub) else arg
    if isinstance(inner, ast.Constant) and isinstance(inner.value, int | float) and not isinstance(inner.value, bool):
        return ast.unparse(arg).replace(ast.unparse(inner), lot.literal(ast.unparse(inner)) or ast.unparse(inner))
    if isinstance(inner, ast.Constant) and isinstance(inner.value, str) and re.search(r"\d", inner.value):
        return repr(re.sub(r"\d+", lambda digits: lot.text(digits[0]), inner.value))
    if isinstance(arg, ast.List | ast.Tuple) and arg.elts:
        parts = [_other(each, lot) for each in arg.elts]
        if any(parts):
            said = ", ".join(new or ast.unparse(each) for new, each in zip(parts, arg.elts, strict=True))
            return f"[{said}]" if isinstance(arg, ast.List) else f"({said},)"
    return None


def _names(node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    yield from ((each.asname or each.name.partition(".")[0]) for each in node.names)


def _rows(test: Function) -> Iterator[dict[str, ast.expr]]:
    """The parameters of each row of a table, or none; nothing of a test that wants anything else."""
    marks = [each for each in test.decorator_list if isinstance(each, ast.Call) and ast.unparse(each.func).endswith("parametrize")]
    params = {arg.arg for arg in test.args.args} - {"self"}
    if not test.decorator_list and not params:
        yield {}
    elif len(marks) == len(test.decorator_list) == 1 and len(marks[0].args) == 2 and isinstance(marks[0].args[1], ast.List | ast.Tuple):
        try:
            said = ast.literal_eval(marks[0].args[0])
        except ValueError:
            return
        names = [name.strip() for name in said.split(",")] if isinstance(said, str) else list(said)
        if set(names) != params:
            return
        for row in marks[0].args[1].elts:
            values = [row] if len(names) == 1 else row.elts if isinstance(row, ast.Tuple | ast.List) else []
            if len(values) == len(names) and all(_is_written(value) for value in values):
                yield dict(zip(names, values, strict=True))


def _calls(name: str, test: Function, row: dict[str, ast.expr], imports: dict[str, str]) -> Iterator[TestCall]:
    for node in test.body:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        if not isinstance(node, ast.Assert):
            return  # what it does besides may decide the answer
        pair = _pair(node.test, row)
        if pair is None:
            continue
        call, wanted = pair
        root = ast.unparse(call.func).partition(".")[0]
        args = tuple(_filled(arg, row) for arg in call.args)
        if root in imports and not call.keywords and args and all(map(_is_written, args)):
            function = ast.unparse(call.func)
            said = f"{function}({', '.join(map(ast.unparse, args))})"
            yield TestCall(name, node.lineno, imports[root], function, said, ast.unparse(wanted), args)


def _pair(test: ast.expr, row: dict[str, ast.expr]) -> tuple[ast.Call, ast.expr] | None:
    if not (isinstance(test, ast.Compare) and [type(op) for op in test.ops] == [ast.Eq]):
        return None
    for call, wanted in ((test.left, test.comparators[0]), (test.comparators[0], test.left)):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name | ast.Attribute) and _is_written(_filled(wanted, row)):
            return call, _filled(wanted, row)
    return None


def _filled(node: ast.expr, row: dict[str, ast.expr]) -> ast.expr:
    return row.get(node.id, node) if isinstance(node, ast.Name) else node


def _is_written(node: ast.expr) -> bool:
    """Whether a value is written down in full."""
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        return False
    return True
