"""Which tests of a file changed: by their own text, and in Python also by the definitions of the names they use. Pure.

An import that became a stand-in, a changed helper, a rebound name: each changes a test whose own text is the same.
"""

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping

from detent.evidence.source.test_blocks import Function, blocks, named_tests, preamble

EVERY = ("", "pytestmark")  # names that affect every test of a file: statements that bind no name, and marks
IMPORT = re.compile(
    r"""(?:import|use|using|require|require_relative|package|from)\b|["`][\w./-]+["`]$|[()]$|(?:const|let|var)\s[^=]+=\s*require\("""
)
QUOTED = re.compile(r"""["'`]([^"'`]+)["'`]""")
NAME = re.compile(r"[^\W\d]\w*")
DEEPEST = 4  # levels of helpers that call helpers
Bound = Mapping[str, tuple[str, ...]]


def changed_tests(path: str, old: str, new: str) -> frozenset[str]:
    """The names of tests in both versions of a file whose text or used definitions differ."""
    before, now = blocks(path, old), blocks(path, new)
    otherwise = _meaning_otherwise(old, new) if path.endswith(".py") else frozenset[str]()
    return frozenset(name for name in before.keys() & now.keys() if before[name] != now[name] or name in otherwise)


def speaking_of_imports(path: str, old: str, new: str) -> frozenset[str]:
    """The changed tests that use a name which only the new version imports; all changed tests if it imports no new name."""
    names = changed_tests(path, old, new)
    lines = [line for line in new.splitlines() if IMPORT.match(line.strip())]
    imported = {word for line in lines for word in NAME.findall(line)} - set(NAME.findall(old))
    now = blocks(path, new)
    return frozenset(name for name in names if not imported or imported & set(NAME.findall(now[name])))


def standing_otherwise(path: str, old: str, new: str) -> frozenset[str]:
    """All tests in both versions of a file if the code above the first test changed, because their calls may then mean something else.

    New imports are no such change. In Python the names tell more (`changed_tests`), so this returns nothing.
    """
    if path.endswith(".py"):
        return frozenset()
    was, now = (Counter(preamble(text)) for text in (old, new))
    added = [line for line in now - was if not IMPORT.match(line)]
    there = {module for line in now for module in QUOTED.findall(line)}
    removed = [line for line in was - now if not IMPORT.match(line) or not set(QUOTED.findall(line)) <= there]
    return frozenset(blocks(path, old).keys() & blocks(path, new).keys()) if added or removed else frozenset()


def _meaning_otherwise(old: str, new: str) -> frozenset[str]:
    """The tests of a file that use a name with another definition in the newer version."""
    try:
        before, now = ast.parse(old).body, ast.parse(new).body
    except (SyntaxError, ValueError, RecursionError):
        return frozenset()
    was, is_ = _bound(before), _bound(now)
    differs = {name for name in was.keys() | is_.keys() if was.get(name) != is_.get(name)}
    if not differs:
        return frozenset()
    helpers = {node.name: node for node in now if isinstance(node, Function) and not node.name.startswith("test")}
    return frozenset(name for name, test in named_tests(now) if differs & _used(test, helpers))


def _used(test: Function, helpers: Mapping[str, Function]) -> set[str]:
    """The names used by a test, and by its helpers and fixtures in the same file."""
    names, todo = {test.name, *EVERY}, [test]
    for _ in range(DEEPEST):
        found = {each.id for node in todo for each in ast.walk(node) if isinstance(each, ast.Name)}
        found |= {arg.arg for node in todo for arg in node.args.args}
        todo = [helpers[name] for name in found - names if name in helpers]
        names |= found
    return names


def _bound(body: list[ast.stmt]) -> Bound:
    """The definitions of each name of a file, in order; tests are left out, because their text is compared elsewhere."""
    found = defaultdict[str, list[str]](list)
    for node in body:
        for name, definition in _binds(node):
            found[name].append(definition)
    return {name: tuple(definitions) for name, definitions in found.items()}


def _binds(node: ast.stmt) -> Iterator[tuple[str, str]]:
    match node:
        case ast.Import(names=names):
            yield from ((each.asname or each.name.partition(".")[0], f"import {each.name}") for each in names)
        case ast.ImportFrom(module=module, names=names, level=level):
            yield from ((each.asname or each.name, f"from {'.' * level}{module or ''} import {each.name}") for each in names)
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            yield name, "test" if name.startswith("test") else ast.dump(node)
        case ast.ClassDef(name=name):
            yield name, "test" if name.startswith("Test") else ast.dump(node)
        case ast.Assign(targets=targets, value=value) if all(isinstance(target, ast.Name) for target in targets):
            yield from ((target.id, ast.dump(value)) for target in targets if isinstance(target, ast.Name))
        case ast.AnnAssign(target=ast.Name(id=name), value=value):
            yield name, ast.dump(value) if value else ""
        case ast.Expr(value=ast.Constant()):
            return
        case _:
            yield "", ast.dump(node)
