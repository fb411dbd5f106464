"""Docstrings of Python with examples (`>>>`), found in the syntax tree. Pure."""

import ast
import re
from collections import Counter
from collections.abc import Callable

from detent.evidence.source.insource_part import PROMPT, TestPart, replaced

LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")
Holder = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def parts(text: str) -> list[TestPart] | None:
    """Every docstring, keyed by the qualified name of its owner; None if the file cannot be parsed."""
    tree = _parsed(text)
    if tree is None:
        return None
    found, span = [], _spans(text)
    for key, node in _holders(tree).items():
        docstring = _docstring(node)
        if docstring is not None:
            start, end = span(docstring)
            found.append(TestPart(start, end, key, PROMPT in str(docstring.value)))
    return found


def lay(code: str, tests: str, before: list[TestPart], after: list[TestPart]) -> str | None:
    """The code with every docstring that has an example in either version taken from the tests' version."""
    tree = _parsed(code)
    if tree is None:
        return None
    old, new = {part.key: part for part in before}, {part.key: part for part in after}
    asked = {part.key for part in (*before, *after) if part.is_test}
    pieces: dict[tuple[int, int], str] = {}
    for key, node in _holders(tree).items():
        if key not in asked:
            continue
        words = tests[new[key].start : new[key].end] if key in new else '""'
        if key in old:
            pieces[old[key].start, old[key].end] = words
        elif key in new:
            at, indent, end = _place(code, node)
            pieces[at, at] = f"{words}{end}{indent}"
    done = replaced(code, pieces)
    return done if _parsed(done) is not None else None


def _parsed(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _holders(tree: ast.Module) -> dict[str, Holder]:
    """Everything that can have a docstring, by qualified name; repeated names get a number."""
    found: dict[str, Holder] = {"": tree}
    times: Counter[str] = Counter()

    def walk(node: ast.AST, above: str) -> None:
        for child in ast.iter_child_nodes(node):
            below = above
            if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                below = f"{above}.{child.name}"
                times[below] += 1
                found[f"{below} ({times[below]})" if times[below] > 1 else below] = child
            walk(child, below)

    walk(tree, "")
    return found


def _docstring(node: Holder) -> ast.Constant | None:
    first = node.body[0] if node.body else None
    value = first.value if isinstance(first, ast.Expr) else None
    return value if isinstance(value, ast.Constant) and isinstance(value.value, str) else None


def _spans(text: str) -> Callable[[ast.expr | ast.stmt], tuple[int, int]]:
    """A function from a node to its span in characters; the tree has lines and UTF-8 byte offsets."""
    lines = LINE.findall(text)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))

    def place(line: int, byte: int) -> int:
        whole = lines[line - 1].encode("utf-8", "surrogatepass")[:byte]
        return starts[line - 1] + len(whole.decode("utf-8", "surrogatepass"))

    return lambda node: (place(node.lineno, node.col_offset), place(node.end_lineno or node.lineno, node.end_col_offset or 0))


def _place(text: str, node: Holder) -> tuple[int, str, str]:
    """Where to insert a docstring: the position before the first statement, that line's indent, and the separator."""
    if not node.body:
        return 0, "", "\n"
    first = node.body[0]
    lead = min([first, *getattr(first, "decorator_list", [])], key=lambda each: (each.lineno, each.col_offset))
    at = _spans(text)(lead)[0]
    if getattr(first, "decorator_list", []):
        at = text.rfind("@", 0, at)
    before = text[text.rfind("\n", 0, at) + 1 : at]
    return (at, before, "\n") if not before.strip() else (at, "", "; ")
