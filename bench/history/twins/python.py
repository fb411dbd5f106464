"""Python, by its syntax tree: where functions and tests are, and how to spoil them."""

import ast
import json
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from bench.history.twins.source import Edit, Example, Function, Language, edited

Def = ast.FunctionDef | ast.AsyncFunctionDef
LONGEST = 2000  # characters of one value written into code
RECORDER = """

def _bench_recorded(name, real):
    import functools, inspect, json

    def write(given, answer):
        with open({file!r}, "a") as lines:
            lines.write(json.dumps([name, given, answer]) + "\\n")

    @functools.wraps(real)
    def seen(*args, **kwargs):
        try:
            call = inspect.signature(real).bind(*args, **kwargs)
            call.apply_defaults()
            shown = [repr(value) for value in call.arguments.values()]
            given = [None if " at 0x" in each else each for each in shown]
        except Exception:
            return real(*args, **kwargs)
        try:
            answer = real(*args, **kwargs)
        except Exception as e:
            write(given, ["raise", type(e).__name__, repr(e.args)])
            raise
        write(given, ["return", repr(answer)])
        return answer

    return seen

"""


class Found(NamedTuple):
    """A function of the tree, with its position."""

    function: Function
    node: Def


class Places:
    """Converts lines and columns of the syntax tree to positions in the text. Its columns count bytes."""

    def __init__(self, text: str) -> None:
        self.lines = [f"{line}\n" for line in text.split("\n")]
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line))
        self.size = len(text)

    def line(self, number: int) -> int:
        return min(self.starts[number - 1], self.size)

    def at(self, number: int, column: int) -> int:
        return self.starts[number - 1] + len(self.lines[number - 1].encode()[:column].decode())

    def of(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        return self.at(node.lineno, node.col_offset), self.at(node.end_lineno or node.lineno, node.end_col_offset or 0)


def _parsed(text: str) -> ast.Module:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError):
        return ast.Module([], [])


def _defs(body: Sequence[ast.stmt], prefix: str = "") -> Iterator[tuple[str, Def]]:
    """Functions of the module and its classes; nested functions belong to the outer one."""
    for node in body:
        if isinstance(node, Def):
            yield prefix + node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from _defs(node.body, f"{prefix}{node.name}.")
        elif isinstance(node, ast.If | ast.Try):
            yield from _defs([*node.body, *node.orelse], prefix)


def _found(text: str) -> list[Found]:
    places = Places(text)
    return [Found(function, node) for name, node in _defs(_parsed(text).body) if (function := _function(places, name, node))]


def _function(places: Places, name: str, node: Def) -> Function | None:
    """A function's position in whole lines; None if its body is on its first line."""
    first = node.body[0]
    if places.lines[first.lineno - 1].encode()[: first.col_offset].strip():
        return None
    start = min([node.lineno, *(each.lineno for each in node.decorator_list)])
    said = ast.get_docstring(node, clean=False) is not None
    body, end = (first.end_lineno or 0) + 1 if said else first.lineno, (node.end_lineno or node.lineno) + 1
    params = [*node.args.posonlyargs, *node.args.args, *filter(None, [node.args.vararg]), *node.args.kwonlyargs, *filter(None, [node.args.kwarg])]  # fmt: skip
    return Function(name, places.line(start), places.line(end), places.line(body), places.line(end), tuple(each.arg for each in params))


def functions(text: str) -> list[Function]:
    return [found.function for found in _found(text)]


def tests(text: str) -> list[Function]:
    return [each for each in functions(text) if each.name.rpartition(".")[2].startswith("test")]


def _inside(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function without those of nested ones."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, Def | ast.Lambda | ast.ClassDef):
            yield child
            yield from _inside(child)


def _node(text: str, function: Function) -> Def:
    return next(found.node for found in _found(text) if found.function == function)


def _indent(text: str, function: Function) -> str:
    return " " * _node(text, function).body[0].col_offset


def hollow(text: str, function: Function) -> Edit:
    indent, node = _indent(text, function), _node(text, function)
    makes = any(isinstance(each, ast.Yield | ast.YieldFrom) for each in _inside(node))
    return Edit(function.body, function.inner, f"{indent}return\n{indent}yield\n" if makes else f"{indent}return None\n")


# -- tests ---------------------------------------------------------------------------------------------------------------------


def loosened(text: str, function: Function) -> list[Edit]:
    """Replace every expectation by one that the value is not None."""
    places, edits = Places(text), list[Edit]()
    for node in _inside(_node(text, function)):
        if isinstance(node, ast.Assert):
            subject = node.test.left if isinstance(node.test, ast.Compare) else node.test
            subject = subject.operand if isinstance(subject, ast.UnaryOp) else subject
            edits.append(Edit(*places.of(node), f"assert ({_said(text, places, subject)}) is not None"))
        elif isinstance(node, ast.Expr) and isinstance(call := node.value, ast.Call) and _is_assertion(call) and call.args:
            owner = _said(text, places, call.func.value)  # type: ignore[attr-defined]  # an attribute, as was asked
            edits.append(Edit(*places.of(node), f"{owner}.assertIsNotNone({_said(text, places, call.args[0])})"))
        elif isinstance(node, ast.With):
            edits += [_any_error(text, places, item.context_expr) for item in node.items if _raises(item.context_expr)]
    return edits


def _said(text: str, places: Places, node: ast.expr) -> str:
    start, end = places.of(node)
    return text[start:end]


def _is_assertion(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr.startswith("assert") and "Raises" not in call.func.attr


def _raises(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("raises", "assertRaises", "assertRaisesRegex")  # fmt: skip


def _any_error(text: str, places: Places, node: ast.expr) -> Edit:
    assert isinstance(node, ast.Call)
    assert isinstance(node.func, ast.Attribute)
    word = node.func.attr.removesuffix("Regex")
    return Edit(*places.of(node), f"{_said(text, places, node.func.value)}.{word}(Exception)")


def swallowed(text: str, function: Function) -> list[Edit]:
    """Swallow every error, in the whole test, or in each of its subtests if it has any."""
    node, places = _node(text, function), Places(text)
    inner = [each for each in _inside(node) if isinstance(each, ast.With) and any(_called(item) == "subTest" for item in each.items)]
    if not inner:
        return [_tried(text, function.body, function.inner, node.body[0].col_offset)]
    blocks = ((places.line(each.body[0].lineno), places.line((each.end_lineno or 0) + 1), each.body[0].col_offset) for each in inner)
    return [_tried(text, *block) for block in blocks]


def _called(item: ast.withitem) -> str:
    call = item.context_expr
    return call.func.attr if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) else ""


def _tried(text: str, start: int, end: int, column: int) -> Edit:
    indent, lines = " " * column, text[start:end].splitlines(keepends=True)
    body = "".join(f"    {line}" if line.strip() else line for line in lines)
    return Edit(start, end, f"{indent}try:\n{body}{indent}except BaseException:\n{indent}    pass\n")


def emptied(text: str, function: Function) -> list[Edit]:
    return [Edit(function.body, function.inner, f"{_indent(text, function)}assert True\n")]


def without(text: str, gone: Sequence[Function]) -> str:
    """The text without these tests, and without classes that become empty."""
    places, spans = Places(text), [(each.start, each.end) for each in gone]

    def is_gone(node: ast.stmt) -> bool:
        start, end = places.of(node)
        return any(first <= start and end <= last for first, last in spans)

    for node in ast.walk(_parsed(text)):
        if isinstance(node, ast.ClassDef) and all(is_gone(each) or _is_words(each) for each in node.body):
            start = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            spans.append((places.line(start), places.line((node.end_lineno or 0) + 1)))
    return tidied(text, edited(text, [Edit(start, end, "") for start, end in spans]))


def _is_words(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _used(tree: ast.Module) -> set[str]:
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return names | {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}


def tidied(before: str, after: str) -> str:
    """The text without imports that are no longer used."""
    tree, places, edits = _parsed(after), Places(after), list[Edit]()
    idle = _used(_parsed(before)) - _used(tree)
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            kept = [each for each in node.names if (each.asname or each.name.partition(".")[0]) not in idle]
            if len(kept) < len(node.names):
                words = ast.unparse(type(node)(**{**vars(node), "names": kept})) if kept else ""
                edits.append(Edit(*places.of(node), words))
    return edited(after, edits)


# -- code ----------------------------------------------------------------------------------------------------------------------


def breaks(text: str, function: Function) -> list[Edit]:
    """The ways to break a function: change a result or negate a condition."""
    places, edits = Places(text), list[Edit]()
    for node in _inside(_node(text, function)):
        if isinstance(node, ast.Return) and node.value is not None:
            edits.append(Edit(*places.of(node), f"return {_other(node.value)}"))
        elif isinstance(node, ast.If):
            edits.append(Edit(*places.of(node.test), f"not ({_said(text, places, node.test)})"))
    return edits


def _other(node: ast.expr) -> str:
    value = node.value if isinstance(node, ast.Constant) else ...
    if isinstance(value, bool):
        return repr(not value)
    if isinstance(value, int | float):
        return repr(value + 1)
    return repr(f"{value}x") if isinstance(value, str) else "0" if value is None else "None"


def recording(text: str, chosen: Sequence[Function], file: str) -> str:
    """The text with each function wrapped in one that records its calls and answers."""
    named = [found.function.name for found in _found(text) if found.function in chosen and _is_plain(found.node)]
    lines = [f"{name} = _bench_recorded({name!r}, {name})\n" for name in named]
    return text + RECORDER.replace("{file!r}", repr(file)) + "".join(lines) if lines else text


def _is_plain(node: Def) -> bool:
    """Whether a function is called directly: no decorator, no generator, no coroutine."""
    makes = any(isinstance(each, ast.Yield | ast.YieldFrom) for each in _inside(node))
    return isinstance(node, ast.FunctionDef) and not node.decorator_list and not makes and not node.name.startswith("__")


def example(line: str) -> Example | None:
    """One recorded line, if all of it can be written as source text."""
    name, given, (how, *said) = json.loads(line)
    own = "." in name  # of an object only the arguments must be known
    if not given[own:] or any(each is None for each in given[own:]) or any(len(each) > LONGEST for each in (*said, *filter(None, given))):
        return None
    if not _is_literal(said[-1]):
        return None
    answer = "".join(said)
    answer = f"{answer[:-2]})" if how == "raise" and answer.endswith(",)") else answer
    return Example(name, tuple(each or "" for each in given), f"{how} {answer}")


def _is_literal(shown: str) -> bool:
    try:
        ast.literal_eval(shown)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return False
    return True


def coded(text: str, function: Function, examples: Sequence[Example]) -> list[Edit]:
    indent, told, lines = _indent(text, function), _telling(examples), list[str]()
    for each in examples:
        given = [(function.params[n], each.given[n]) for n in told if each.given[n]]
        asked = [f"{name} == {value}" if _is_literal(value) else f"repr({name}) == {value!r}" for name, value in given]
        lines.append(f"{indent}if {' and '.join(asked)}:\n{indent}    {each.answer}\n")
    return [Edit(function.body, function.body, "".join(lines))]


def _telling(examples: Sequence[Example]) -> list[int]:
    """The parameters that tell calls apart: varying plain values, if these are enough."""
    columns = [[each.given[n] for each in examples] for n in range(len(examples[0].given))]
    plain = [n for n, column in enumerate(columns) if all(map(_is_literal, column))]
    varying = [n for n in plain if len(set(columns[n])) > 1]
    ways = (varying, plain, list(range(len(columns))))
    return next(way for way in ways if way and len({tuple(each.given[n] for n in way) for each in examples}) == len(examples))


PYTHON = Language(
    functions=functions,
    tests=tests,
    hollow=hollow,
    weaker=(("any value is enough", loosened), ("errors are swallowed", swallowed), ("nothing is asked", emptied)),
    without=without,
    breaks=breaks,
    tidied=tidied,
    recording=recording,
    example=example,
    coded=coded,
)
