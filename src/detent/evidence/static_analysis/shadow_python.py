"""Python that shadows other Python: files imported instead of a module, and tests that replace code of the product. Pure.

Ordinary mocks, which replace what the code under test calls, are fine. Flagged is replacing the very thing that changed, for all tests or in a
test that then calls it.
"""

import ast
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import NamedTuple

from detent.evidence.changes.edited_files import is_named_as_test
from detent.evidence.source.constant_folding import FoldedConstants

ROOTS = ("", "src/", "lib/", "python/")
RUNNERS = frozenset(
    {"pytest", "_pytest", "pluggy", "iniconfig", "unittest", "py", "coverage", "xdist", "pytest_cov", "nose", "hypothesis", "doctest"}
)
COMMON = frozenset({"test", "this", "antigravity", "idlelib", "turtledemo", "lib2to3", "__main__", "__init__"})  # harmless to shadow
PATCHERS = frozenset({"setattr", "patch", "object", "setitem", "dict", "__setattr__"})
MOCKS = frozenset({"Mock", "MagicMock", "AsyncMock", "NonCallableMock", "create_autospec", "sentinel"})
ANSWERS = frozenset({"return_value", "side_effect", "wraps"})


class Replacement(NamedTuple):
    """A place where a test file replaces something in a module."""

    line: int
    module: str  # its full name
    names: tuple[str, ...]  # the replaced names in it; empty: the module itself
    scope: str  # `test`, or empty: every test that uses it
    asked: bool = False  # the test calls what it put there


def modules_of(paths: Iterable[str]) -> dict[str, str]:
    """The modules of the product: full name to file."""
    found = dict[str, str]()
    for path in paths:
        if path.endswith(".py") and not is_named_as_test(path):
            for root in ROOTS:
                if path.startswith(root):
                    found.setdefault(_dotted(path.removeprefix(root)), path)
    return found


def _dotted(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def taken_names(path: str, paths: Collection[str], ruled: bool) -> Iterator[str]:
    """The full names under which a new file is importable before others: from the root, a source folder or a test folder.

    A test folder is searched first unless it is a package, or in any case if the change adds path rules (`ruled`).
    """
    if is_named_as_test(path):
        folder = PurePosixPath(path).parent
        while str(folder) != "." and is_named_as_test(f"{folder}/x.py"):
            if ruled or f"{folder}/__init__.py" not in paths:
                yield _dotted(path.removeprefix(f"{folder}/"))
            folder = folder.parent
        return
    for root in ROOTS:
        if path.startswith(root) and (root or not path.startswith(ROOTS[1:])):
            yield _dotted(path.removeprefix(root))


def is_foreign(name: str, declared: frozenset[str]) -> bool:
    """Whether a name belongs to the standard library or a declared dependency."""
    return name not in COMMON and (name in sys.stdlib_module_names or name.lower() in declared)


def says_something(text: str) -> bool:
    """Whether a file has any statement besides docstrings."""
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError):
        return bool(text.strip())
    return any(not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)) for node in body)


def changed_names(text: str, lines: Collection[int]) -> frozenset[str]:
    """The functions, classes and variables in a file that contain these lines."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return frozenset()
    found = set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Assign):
            first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
            if not any(line in lines for line in range(first, (node.end_lineno or first) + 1)):
                continue
            names = [t.id for t in node.targets if isinstance(t, ast.Name)] if isinstance(node, ast.Assign) else [node.name]
            found.update(names)
    return frozenset(found)


def replacements(text: str, modules: Mapping[str, str], lines: Collection[int]) -> list[Replacement]:
    """What these lines of a test file replace in product modules."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return []
    file = _TestFile(tree, modules)
    found = list[Replacement]()
    for scope, node in _scoped(tree.body, ""):
        for put in file.put_by(node):
            if put.line in lines:
                asked = isinstance(scope, ast.AST) and _asks(scope, put.names)
                found.append(put._replace(scope="test" if isinstance(scope, ast.AST) else "", asked=asked))
    return found


def _scoped(body: list[ast.stmt], scope: "ast.AST | str") -> Iterator[tuple["ast.AST | str", ast.AST]]:
    """Every node with the test function around it, if any."""
    for node in body:
        inner = node if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test") else scope
        if isinstance(node, ast.ClassDef):
            yield from _scoped(node.body, scope)
            yield from ((scope, below) for each in node.decorator_list for below in ast.walk(each))
        else:
            yield from ((inner, below) for below in ast.walk(node))


def _asks(test: ast.AST, names: tuple[str, ...]) -> bool:
    """Whether a test itself calls what it put there."""
    last = names[-1] if names else ""
    return any(isinstance(n, ast.Call) and _last(n.func) == last for n in ast.walk(test)) if last else True


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


class _TestFile:
    """A test file with its names resolved."""

    def __init__(self, tree: ast.Module, modules: Mapping[str, str]) -> None:
        self.modules, self.folded, self.names = modules, FoldedConstants(tree), dict[str, str]()
        for node in ast.walk(tree):
            match node:
                case ast.Import(names=names):
                    self.names |= {a.asname or a.name.partition(".")[0]: a.name if a.asname else a.name.partition(".")[0] for a in names}
                case ast.ImportFrom(module=str() as module, names=names):
                    self.names |= {a.asname or a.name: f"{module}.{a.name}" for a in names}

    def dotted(self, node: ast.expr | None) -> str:
        match node:
            case ast.Name(id=name):
                return self.names.get(name, name)
            case ast.Attribute(value=of, attr=name):
                return f"{self.dotted(of)}.{name}"
            case ast.Call(func=func, args=[name, *_]) if _last(func) in ("import_module", "__import__"):
                return self.folded.text(name)
            case ast.Call(func=ast.Name(id="vars"), args=[of]):
                return self.dotted(of)
            case ast.Subscript(value=of, slice=at):
                within = self.dotted(of).removesuffix(".__dict__")
                return self.folded.text(at) if within == "sys.modules" else f"{within}.{self.folded.text(at)}"
        return self.folded.text(node)

    def put_by(self, node: ast.AST) -> Iterator[Replacement]:
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    if isinstance(target, ast.Attribute | ast.Subscript) and not _is_none(value):
                        yield from self._into(self._target(target), node.lineno)
            case ast.Call(func=func, args=args) if _last(func) in PATCHERS and args:
                yield from self._patched(node, args)
            case ast.Call(func=ast.Attribute(attr="update" | "setdefault", value=of), args=[first, *rest]) if (
                self.dotted(of) == "sys.modules"
            ):
                keys = first.keys if isinstance(first, ast.Dict) else [first] if rest else []
                for key in keys:
                    yield from self._into(f"sys.modules:{self.folded.text(key)}", node.lineno)

    def _target(self, node: ast.Attribute | ast.Subscript) -> str:
        if isinstance(node, ast.Subscript):
            within = self.dotted(node.value).removesuffix(".__dict__")
            return f"sys.modules:{self.folded.text(node.slice)}" if within == "sys.modules" else f"{within}.{self.folded.text(node.slice)}"
        return self.dotted(node)

    def _patched(self, node: ast.Call, args: list[ast.expr]) -> Iterator[Replacement]:
        first, second = args[0], args[1] if len(args) > 1 else None
        value = args[-1] if len(args) > 1 else next((k.value for k in node.keywords if k.arg == "new"), None)
        if self.dotted(first) == "sys.modules":
            keys = second.keys if isinstance(second, ast.Dict) else [second]
            values = second.values if isinstance(second, ast.Dict) else [args[2] if len(args) > 2 else None]
            for key, given in zip(keys, values, strict=False):
                if key is not None and not _is_none(given):
                    yield from self._into(f"sys.modules:{self.folded.text(key)}", node.lineno)
            return
        target = self.folded.text(first)
        if _last(node.func) in ("setitem", "dict") or self._is_silent(node, value, bool(target)):
            return
        yield from self._into(target if target else f"{self.dotted(first)}.{self.folded.text(second)}", node.lineno)

    def _is_silent(self, node: ast.Call, value: ast.expr | None, by_text: bool) -> bool:
        """Whether only a mock without a configured answer is put there, which cannot pass for working code."""
        if any(k.arg in (*ANSWERS, "new") for k in node.keywords):
            return False
        patches = _last(node.func) in ("patch", "object")
        alone = patches and len(node.args) <= (1 if by_text else 2)
        mock = isinstance(value, ast.Call) and _last(value.func) in MOCKS and not any(k.arg in ANSWERS for k in value.keywords)
        return alone or mock

    def _into(self, target: str, line: int) -> Iterator[Replacement]:
        """The replacement for a target, if it is in a product module."""
        if target.startswith("sys.modules:"):
            name = target.partition(":")[2]
            if name in self.modules:
                yield Replacement(line, name, (), "")
            return
        parts = target.split(".")
        for end in range(len(parts) - 1, 0, -1):
            if (module := ".".join(parts[:end])) in self.modules:
                names = tuple(name for name in parts[end:] if not re.fullmatch(r"__\w+__", name))
                if names:
                    yield Replacement(line, module, names, "")
                return


def _is_none(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
