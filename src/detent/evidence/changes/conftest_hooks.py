"""The parts of a conftest.py that decide how tests are run: hooks, autouse fixtures, and code that runs on import. Pure.

The rest is plain: imports, fixtures that tests request by name, functions, classes and constants. A file that does not parse counts as one
deciding part.
"""

import ast

DECIDING = ("pytest_", "collect_ignore")  # prefixes of the names that pytest looks up in such a file
DECORATORS = frozenset({"fixture", "contextmanager", "asynccontextmanager", "dataclass", "staticmethod", "classmethod", "property"})
VALUES = frozenset(
    {"Path", "dict", "list", "set", "tuple", "frozenset", "range", "str", "int", "float", "resolve", "absolute", "joinpath", "with_name"}
)
CALLED = DECORATORS | VALUES
PLAIN = (
    ast.Constant, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.Name, ast.Attribute, ast.UnaryOp, ast.BinOp, ast.JoinedStr,
    ast.operator, ast.unaryop, ast.expr_context, ast.Call, ast.keyword,
)  # fmt: skip


def deciding(text: str) -> tuple[str, ...]:
    """The source of the statements that decide how tests are run."""
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError):
        return (text,)
    return tuple(ast.unparse(each) for each in body if not _is_plain(each))


def stays_plain(before: str, after: str) -> bool:
    """Whether the deciding parts of a file are unchanged and it calls nothing new on import. Only fixtures and what they use have changed then, as in
    any other file that tests share."""
    return deciding(before) == deciding(after) and set(_called_at_load(after)) <= set(_called_at_load(before))


def _called_at_load(text: str) -> list[str]:
    """The calls that function and class headers make on import: in defaults, decorators, bases and annotations."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return [text]
    heads = [each for node in _loaded(tree.body) for each in _head(node)]
    return [ast.unparse(each) for head in heads for each in ast.walk(head) if isinstance(each, ast.Call) and _name(each.func) not in CALLED]


def _loaded(body: list[ast.stmt]) -> list[ast.stmt]:
    """The statements that run on import: those of the module and of class bodies."""
    return [each for node in body for each in (node, *(_loaded(node.body) if isinstance(node, ast.ClassDef) else ()))]


def _head(node: ast.stmt) -> list[ast.expr]:
    match node:
        case ast.FunctionDef(args=args) | ast.AsyncFunctionDef(args=args):
            hints = [each.annotation for each in (*args.posonlyargs, *args.args, *args.kwonlyargs) if each.annotation]
            default = [each for each in (*args.defaults, *args.kw_defaults) if each]
            return [*node.decorator_list, *default, *hints, *([node.returns] if node.returns else [])]
        case ast.ClassDef():
            return [*node.decorator_list, *node.bases, *(word.value for word in node.keywords)]
    return []


def _is_plain(node: ast.stmt) -> bool:
    match node:
        case ast.ImportFrom(names=names):
            return not any(_decides(each.asname or each.name) for each in names)
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return not _decides(node.name) and all(map(_is_plain_decorator, node.decorator_list))
        case ast.ClassDef():
            return all(map(_is_plain_decorator, node.decorator_list)) and all(map(_is_plain, node.body))
        case ast.Assign(targets=targets, value=value):
            return _are_values(value, *targets)
        case ast.AnnAssign(target=target, value=value):
            return _are_values(value or target, target)
        case ast.Expr(value=ast.Constant()) | ast.Pass() | ast.Import():  # an imported module is not a hook, whatever its name
            return True
    return False


def _decides(name: str) -> bool:
    return name == "*" or name.startswith(DECIDING)


def _are_values(value: ast.expr, *targets: ast.expr) -> bool:
    """Whether an assignment binds plain values to names that mean nothing to pytest."""
    named = all(isinstance(t, ast.Name) and not _decides(t.id) for t in targets)
    return named and all(isinstance(n, PLAIN) and (not isinstance(n, ast.Call) or _name(n.func) in VALUES) for n in ast.walk(value))


def _name(of: ast.expr) -> str:
    return of.attr if isinstance(of, ast.Attribute) else of.id if isinstance(of, ast.Name) else ""


def _is_plain_decorator(node: ast.expr) -> bool:
    """A known decorator; for a fixture, one without `autouse`."""
    call = node if isinstance(node, ast.Call) else None
    of = call.func if call else node
    given = call.keywords if call else []
    return _name(of) in DECORATORS and not any(word.arg in (None, "autouse") for word in given)
