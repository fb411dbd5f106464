"""What of a test file a step changed that was there before: it may only add to it. Pure.

In Python by statements: each one of the old file has its like in the new one. A table may get more rows, an import more names; what is new
binds no name that is in use, and nothing that works on all tests of the file. In other languages by lines (see `reworded_lines`).
"""

import ast
from collections.abc import Iterable, Iterator

from detent.evidence.reworded_lines import changed_lines_of

Function = ast.FunctionDef | ast.AsyncFunctionDef
FOR_ALL = frozenset(
    {
        "pytestmark",
        "pytest_plugins",
        "setup",
        "teardown",
        "setUp",
        "tearDown",
        "setUpClass",
        "tearDownClass",
        "setUpModule",
        "tearDownModule",
    }
    | {f"{when}_{what}" for when in ("setup", "teardown") for what in ("module", "class", "function", "method")}
)  # what the runner uses around every test

FAR = frozenset({"globals", "vars", "setattr", "delattr", "exec", "eval", "__dict__", "modules"})


def reworded(path: str, old: str, new: str) -> tuple[str, ...]:
    """The places of a file that say something else now, or that change what older tests say; each goes on from the file's name."""
    if not path.endswith(".py"):
        return tuple(f":{line}" for line in changed_lines_of(path, old, new))
    try:
        before, now = ast.parse(old).body, ast.parse(new).body
    except (SyntaxError, ValueError, RecursionError):
        return ()
    return tuple(sorted({f"::{name}" for name in _differ(before, now, "")}))


def named_tests(body: list[ast.stmt], within: str = "") -> Iterator[tuple[str, Function]]:
    """The tests of a file, each by its name and the classes it lies in."""
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from named_tests(node.body, f"{within}{node.name}::")
        elif isinstance(node, Function) and node.name.startswith("test"):
            yield f"{within}{node.name}", node


def _differ(before: list[ast.stmt], now: list[ast.stmt], within: str) -> Iterator[str]:
    """The names of what is gone or different, and of what is new and must not be there."""
    left = [node for node in now if not isinstance(node, ast.Import | ast.ImportFrom)]
    imports = {name for node in now for name in _imported(node)}
    for node in before:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from (f"{within}{name[-1] or name[-2]}" for name in sorted(_imported(node) - imports))
            continue
        like = next((other for other in left if _is_like(node, other)), None)
        if like is None:
            if not _says_nothing(node):
                yield f"{within}{_name(node)}"
            continue
        left.remove(like)
        if isinstance(node, ast.ClassDef) and isinstance(like, ast.ClassDef):
            yield from _differ(node.body, like.body, f"{within}{node.name}::")
    known = {name for node in before for name in (*_bound(node), *_arguments(node))}
    said = {name for node in before for name in _imported(node)}
    yield from (
        f"{within}{name}" for module, what, other in sorted(imports - said) if (name := other or what) in known and (module or other)
    )
    yield from (f"{within}{name}" for node in left for name in _meddles(node, known))


def _imported(node: ast.stmt) -> set[tuple[str, str, str]]:
    """What a statement imports: from where, what, and under which name."""
    if isinstance(node, ast.Import):
        return {("", alias.name, alias.asname or "") for alias in node.names}
    return (
        {(f"{'.' * node.level}{node.module}", alias.name, alias.asname or "") for alias in node.names}
        if isinstance(node, ast.ImportFrom)
        else set()
    )


def _is_like(old: ast.AST, new: ast.AST) -> bool:
    """Whether a statement says what it said. Tables may have more rows than they had; a class is gone into by itself."""
    if type(old) is not type(new):
        return False
    if isinstance(old, ast.ClassDef) and isinstance(new, ast.ClassDef):
        return old.name == new.name and [*map(ast.dump, (*old.bases, *old.keywords, *old.decorator_list))] == [
            *map(ast.dump, (*new.bases, *new.keywords, *new.decorator_list))
        ]
    if isinstance(old, Function) and isinstance(new, Function):
        plain = [(ast.dump(each.args), [*map(ast.dump, _without_docs(each.body))]) for each in (old, new)]
        return old.name == new.name and plain[0] == plain[1] and _all_grown(old.decorator_list, new.decorator_list)
    if isinstance(old, ast.Assign) and isinstance(new, ast.Assign):
        return [*map(ast.dump, old.targets)] == [*map(ast.dump, new.targets)] and _is_grown(old.value, new.value)
    return ast.dump(old) == ast.dump(new)


def _all_grown(old: list[ast.expr], new: list[ast.expr]) -> bool:
    return len(old) == len(new) and all(_is_grown(a, b) for a, b in zip(old, new, strict=True))


def _is_grown(old: ast.expr, new: ast.expr) -> bool:
    """Whether an expression is as it was, but for rows that the lists of a table got."""
    if ast.dump(old) == ast.dump(new):
        return True
    if isinstance(old, ast.List | ast.Tuple | ast.Set) and isinstance(new, type(old)):
        rows = iter(map(ast.dump, new.elts))
        return all(any(ast.dump(row) == other for other in rows) for row in old.elts)
    if isinstance(old, ast.Dict) and isinstance(new, ast.Dict):
        pairs = [[(ast.dump(k) if k else "", ast.dump(v)) for k, v in zip(each.keys, each.values, strict=True)] for each in (old, new)]
        return set(pairs[0]) <= set(pairs[1]) and len({key for key, _ in pairs[1]}) == len(pairs[1])
    if isinstance(old, ast.Call) and isinstance(new, ast.Call):
        words = [[word.arg for word in each.keywords] for each in (old, new)]
        values = [[*each.args, *(word.value for word in each.keywords)] for each in (old, new)]
        return ast.dump(old.func) == ast.dump(new.func) and words[0] == words[1] and _all_grown(*values)
    return False


def _without_docs(body: list[ast.stmt]) -> list[ast.stmt]:
    return [node for node in body if not _says_nothing(node)]


def _says_nothing(node: ast.stmt) -> bool:
    return isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))


def _name(node: ast.stmt) -> str:
    return next(iter(_bound(node)), f"line {node.lineno}")


def _bound(node: ast.AST) -> list[str]:
    """The names that a statement gives something to, also to a part of it."""
    if isinstance(node, Function | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Import | ast.ImportFrom):
        return [alias.asname or alias.name.partition(".")[0] for alias in node.names]
    if isinstance(getattr(node, "ctx", None), ast.Store | ast.Del):
        return [_root(node)]
    return [name for inner in ast.iter_child_nodes(node) for name in _bound(inner)]


def _root(node: ast.AST) -> str:
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Starred):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _arguments(node: ast.stmt) -> Iterator[str]:
    """What tests ask for by name: a fixture of that name would be another one."""
    for inner in ast.walk(node):
        if isinstance(inner, Function) and inner.name.startswith("test"):
            yield from (arg.arg for arg in inner.args.args if arg.arg != "self")


def _meddles(node: ast.stmt, known: Iterable[str]) -> list[str]:
    """What a new statement does to older tests: names of theirs that it binds, what works on all tests, what is done when the file is loaded."""
    taken = [name for name in _bound(node) if name in known or name in FOR_ALL]
    if isinstance(node, Function):
        auto = any("autouse" in ast.unparse(each) for each in node.decorator_list)
        far = [name for inner in ast.walk(node) if isinstance(inner, ast.Global) for name in inner.names if name in known]
        return [*taken, *far, *([node.name] if auto else [])]
    plain = isinstance(node, ast.ClassDef | ast.Assign | ast.AnnAssign | ast.If | ast.Try) or _says_nothing(node)
    return taken if taken or (plain and not _reaches_out(node)) else [f"line {node.lineno}"]


def _reaches_out(node: ast.AST) -> bool:
    """Whether something outside of functions binds names without naming them."""
    if isinstance(node, Function | ast.Lambda):
        return False
    here = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
    return here in FAR or any(_reaches_out(inner) for inner in ast.iter_child_nodes(node))
