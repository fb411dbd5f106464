"""Code not worth mutating, since nobody should test it: logging, metrics, messages, reprs, type hints, defensive asserts. Pure."""

import ast
import re
from collections.abc import Iterator

LOGS = re.compile(r"(?:\w*\.)*_*(?:log|logs|logger|logging|warnings|metrics|statsd|telemetry|tracer|console)\b", re.IGNORECASE)
SAYS = frozenset({"print", "pprint", "debug", "breakpoint"})
TYPES = frozenset({"typing", "typing_extensions", "collections.abc", "types", "__future__"})  # names for type hints
META = re.compile(r"__\w+__")  # __version__, __author__, __all__ and other module metadata
LINE = re.compile(
    r"^\s*(?:\w+[.:]+)*(?:console|log|logs|logger|logging|slog|tracing|metrics|statsd)\s*(?:\.|::)\s*\w+!?\s*\("
    r"|^\s*(?:fmt\.F?[Pp]rint\w*|log\w*|e?print(?:ln|f)?!?|puts|printf|echo|error_log|System\.(?:out|err)\.\w+|std::c(?:out|err)|(?:debug|info|warn|error|trace)!)\s*[(\"' <]"
    r"|^\s*(?:throw\s|raise\b|panic!?\s*\(|(?:debug_)?assert\w*!?\s*[(\s]|static_assert\b)"
    r"|^\s*(?:import|export\s.*\sfrom|use|package|type|interface|declare)\b"
)
EMPTY = re.compile(r"NotImplemented")


def is_arid_line(line: str) -> bool:
    """Whether a line of any language only logs, prints, raises, asserts, imports or declares a type."""
    return LINE.match(line) is not None


def arid_nodes(tree: ast.AST) -> frozenset[int]:
    """The `id()`s of the nodes of a module that are not mutated."""
    return frozenset(id(inner) for node in ast.walk(tree) for left in _left(node) for inner in ast.walk(left))


def is_arid_function(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a function is a `__repr__`, an overload or a stub."""
    if node.name == "__repr__" or any("overload" in ast.dump(each) for each in node.decorator_list):
        return True
    body = [each for each in node.body if not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))]
    if node.name == "__init__":
        return all(isinstance(each, ast.Pass) for each in body)
    return all(isinstance(each, ast.Raise) and each.exc is not None and EMPTY.search(ast.dump(each.exc)) is not None for each in body)


def _left(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a node that are not mutated."""
    if isinstance(node, ast.Raise):
        yield from (arg for arg in getattr(node.exc, "args", ()) if isinstance(arg, ast.expr))
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name != "__repr__":
        yield from [node.returns] if node.returns else []
    elif isinstance(node, ast.arg | ast.AnnAssign):
        yield from [node.annotation] if node.annotation else []
    elif _is_arid(node):
        yield node


def _is_arid(node: ast.AST) -> bool:
    match node:
        case ast.Expr():
            return isinstance(node.value, ast.Constant) or _is_logging(node.value)
        case ast.ImportFrom():
            return node.module in TYPES
        case ast.If():
            return "TYPE_CHECKING" in ast.dump(node.test)
        case ast.Assign():
            return any(isinstance(each, ast.Name) and META.fullmatch(each.id) for each in node.targets)
    return isinstance(node, ast.Assert | ast.JoinedStr | ast.FunctionDef | ast.AsyncFunctionDef)  # functions: only `__repr__`s


def _is_logging(node: ast.expr) -> bool:
    """Whether an expression is a call that logs, counts or prints."""
    if not isinstance(node, ast.Call):
        return False
    name = ast.unparse(node.func)
    return name in SAYS or ("." in name and LOGS.match(name.rpartition(".")[0]) is not None)
