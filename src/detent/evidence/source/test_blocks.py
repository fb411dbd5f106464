"""The tests of a file with the text of each, so that two versions can be compared. Pure.

In Python by syntax; in other languages by the line that begins a test, up to the next such line.
"""

import ast
import re
from collections.abc import Iterator

Function = ast.FunctionDef | ast.AsyncFunctionDef
HEAD = re.compile(
    r"""^\s*(?:(?:it|test|specify|example|scenario)(?:\.\w+)*\s*\(?\s*(?P<quote>["'`])(?P<said>.+?)(?P=quote)"""  # JavaScript, RSpec
    r"""|func\s+(?P<go>(?:Test|Benchmark|Example|Fuzz)\w*)\s*\("""
    r"""|(?:(?:public|private|static|final)\s+)*function\s+(?P<php>test\w*)\s*\("""
    r"""|def\s+(?P<def>test\w*)"""
    r"""|(?:pub\s+)?(?:async\s+)?fn\s+(?P<rust>\w+)\s*\("""
    r"""|TEST\w*\s*\(\s*(?P<macro>[\w, ]+)\)"""
    r"""|(?:(?:public|protected|static|final|override|suspend)\s+)*(?:void|fun)\s+(?P<jvm>\w+)\s*\()"""
)
COMMENT = re.compile(r"^\s*(?://|#(?!\[)|/\*|\*)")


def blocks(path: str, text: str) -> dict[str, str]:
    """The text of each test by name, without comments and layout; empty if the file cannot be parsed."""
    if not path.endswith(".py"):
        return dict(_by_heads(text))
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError):
        return {}
    return {name: _words(test) for name, test in named_tests(body)}


def texts_of(path: str, text: str) -> Iterator[tuple[str, frozenset[str]]]:
    """Each test of a file by name, with the words it uses."""
    if not path.endswith(".py"):
        yield from ((name, frozenset(re.findall(r"\w+[?!]?", body_text))) for name, body_text in texts_by_heads(text))
        return
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError):
        return
    yield from ((name, frozenset(re.findall(r"\w+", ast.unparse(ast.Module(test.body, []))))) for name, test in named_tests(body))


def preamble(text: str) -> list[str]:
    """The lines above the first test of a file, without comments and layout."""
    lines = text.splitlines()
    end = next((n for n, line in enumerate(lines) if HEAD.match(line)), len(lines))
    return [" ".join(line.split()) for line in lines[:end] if line.strip() and not COMMENT.match(line)]


def named_tests(body: list[ast.stmt], within: str = "") -> Iterator[tuple[str, Function]]:
    """The tests of a Python file, named with their classes."""
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from named_tests(node.body, f"{within}{node.name}::")
        elif isinstance(node, Function) and node.name.startswith("test"):
            yield f"{within}{node.name}", node


def _words(test: Function) -> str:
    body = [n for n in test.body if not (isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant))]
    return "\n".join(map(ast.dump, (test.args, *test.decorator_list, *body)))


def _by_heads(text: str) -> Iterator[tuple[str, str]]:
    for name, lines in texts_by_heads(text):
        yield name, " ".join(word for line in lines.split("\n") if not COMMENT.match(line) for word in line.split())


def texts_by_heads(text: str) -> Iterator[tuple[str, str]]:
    """The tests of a file by their first lines: the name of each, and its lines without that name."""
    name, lines = "", list[str]()
    for line in text.splitlines():
        if found := HEAD.match(line):
            if name:
                yield name, "\n".join(lines)
            name, lines = next(v for k, v in found.groupdict().items() if v and k != "quote"), []
        lines.append(line.replace(name, "", 1) if found else line)  # so that a renamed test compares equal
    if name:
        yield name, "\n".join(lines)


def parametrized(test: Function) -> tuple[list[str], list[list[ast.expr]]]:
    """The names and rows of a pytest test's only table; empty if it has none, several, or a computed one."""
    tables = [each for each in test.decorator_list if isinstance(each, ast.Call) and ast.unparse(each.func).endswith("parametrize")]
    if len(tables) != 1 or len(tables[0].args) != 2 or not isinstance(tables[0].args[1], ast.List | ast.Tuple):
        return [], []
    try:
        given = ast.literal_eval(tables[0].args[0])
    except ValueError:
        return [], []
    names = [each.strip() for each in given.split(",")] if isinstance(given, str) else list(given)
    rows = tables[0].args[1].elts
    return names, [[row] if len(names) == 1 else row.elts if isinstance(row, ast.Tuple | ast.List) else [] for row in rows]
