"""Which tests of a file were reworded or taken out between two versions of it. Pure. Python only: in other languages nothing is said.

A test is its arguments and its body; what decorates it may grow (a table of cases gets a row).
"""

import ast
from collections.abc import Iterator


def reworded(path: str, old: str, new: str) -> tuple[str, ...]:
    """The names of tests that the old file has and that are not there, or say something else, in the new one."""
    if not path.endswith(".py"):
        return ()
    try:
        before, now = _tests(old), _tests(new)
    except (SyntaxError, ValueError, RecursionError):
        return ()
    return tuple(sorted(name for name, bodies in before.items() if now.get(name) != bodies))


def _tests(text: str) -> dict[str, list[str]]:
    """Every version of each test, by its name: one that is defined again takes the place of the first."""
    tree = ast.parse(text)
    found: dict[str, list[str]] = {}
    for name, node in named_tests(tree.body):
        said = [ast.unparse(node.args), *map(ast.unparse, node.body)]
        found.setdefault(name, []).append("\n".join(said))
    return found


def named_tests(body: list[ast.stmt], within: str = "") -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """The tests of a file, each by its name and the classes it lies in."""
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from named_tests(node.body, f"{within}{node.name}::")
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test"):
            yield f"{within}{node.name}", node
