"""Writes every text that the program shows into one file per door, so that all texts can be read together. Standard library only.

A text is any string literal of two or more words, with `{name}` for what is filled in. It is read from the syntax tree, so none is missed
because no test reaches it. Docstrings count where they are shown: of commands, tools and gates. Briefings and prompts are files with
golden files of their own.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "detent"
GOLDEN = ROOT / "tests" / "golden" / "messages"
# Who reads a text, by folder or path prefix below src/detent; the first match counts. Texts without a match are shared by all doors.
DOORS = {
    "cli": ("interfaces/cli/", "interfaces/demos/", "interfaces/gatebench/", "interfaces/register/", "interfaces/check_"),
    "mcp": ("interfaces/mcp/",),
    "hooks": ("interfaces/hooks/",),
    "http": ("interfaces/",),
    "driven": ("agents/", "tools/", "blocks/briefs"),
    "gates": ("gates/", "evidence/", "effects/", "blocks/", "kernel/", "workflows/", "world/", "door"),
    "shared": ("",),
}
SAMPLES = (
    "interfaces/demos/demo_pipeline_script",
    "interfaces/demos/demo_script",
    "interfaces/demos/demo_queue_script",
    "interfaces/gatebench/play",
)
PHRASE = re.compile(r"(?:[A-Za-z]{2,}|[}'’\")`])[,;:.!?]? (?:[A-Za-z]{2,}|[{'\"(`])")
SQL = re.compile(r"\s*(?:SELECT|INSERT|UPDATE \w+ SET|DELETE FROM|CREATE|ALTER|DROP|PRAGMA|BEGIN|WITH \w+ AS|LOCK TABLE)\b")
CODE = re.compile(
    r"\(\?[:=!<Pim]|\\[bdswSWA]|\[\^|\)\*|\.\*|^\s*(?:import (?:\w+$|\w+[,;] |\{)|from \S+ import|(?:def|class|function) \w+\s*[(:{]|(?:const|let) \w+ =)"
    r"|^\s*(?:use [\w:\\]+;|package \w+(?:;|$)|(?:describe|it|test)\()|^[\w.]+\[.*\]$|=> |\);|\{\{|^[A-Za-z_.]+\(.*\)$|^@|%\(|^-{1,2}[a-z]|</|^#!",
    re.MULTILINE,
)
NAMES = re.compile(r"[a-z0-9_\s]{300,}")  # a long list of names, such as system calls
NAMED = re.compile(r"[\w.]+(?:\[[\w.]+\])?")

# Words that engineers do not use, with the usual ones. A pattern matches whole words.
PLAIN = {
    "anew|afresh": "again",
    "mend(?:s|ed|ing)?": "fix",
    "whilst|amongst|upon": "while, among, on",
    "hereby|thereby|whereby|herein|therein|wherein|thereof|thereupon|henceforth|forthwith|hitherto": "leave it out, or use two sentences",
    "lest|albeit|nay|ere": "so that … not, although",
    "(?:goes|go|going|went|gone) on(?! (?:with|to|for|top)\\b)": "continue",
    "(?:drive|driven) on": "continue to",
    "stands? (?:there|below|above|twice|in (?:its|the|a|your)\\b)": "is",
    "(?:is|are|was|were|be) told(?! (?:not|apart|how)\\b)": "say who tells whom",
    "told plainly": "leave it out",
    "(?<!there )(?<!There )(?<!where )is no (?!longer\\b|more\\b|evidence\\b|way\\b)": "is not a",
    "the rights of|(?:file's|its) rights": "permissions",
    "cannot be had|can be had": "is not available",
    "nobody is waited for|is not waited for": "nothing waits for …",
    "ma(?:kes?|de) void": "invalidate",
    "none of them does what it did|does what it did": "say what changed",
}


# -- Python ----------------------------------------------------------------------------------------------------------------------


def texts_of(tree: ast.Module, docstrings: str = "") -> Iterator[str]:
    """Every text of a module. `docstrings`: "command" or "gate", whose docstrings are shown too."""
    hidden = {id(doc) for node in ast.walk(tree) if (doc := _docstring(node)) is not None}
    for node in ast.walk(tree):
        if docstrings and isinstance(node, ast.FunctionDef) and _is_shown(node, docstrings):
            yield from filter(None, [ast.get_docstring(node)])
        if id(node) in hidden:
            continue
        if isinstance(node, ast.BinOp | ast.JoinedStr | ast.Constant) and (text := _written(node)) is not None:
            hidden |= {id(part) for part in _parts(node)}
            if is_phrase(text):
                yield text
        if _is_unshown(node):
            hidden |= {id(part) for part in ast.walk(node)}


def is_phrase(text: str) -> bool:
    """Whether a string reads as words: not SQL, a pattern or code."""
    return bool(PHRASE.search(text)) and not (SQL.match(text) or CODE.search(text) or NAMES.fullmatch(text))


def _is_unshown(node: ast.AST) -> bool:
    """Whether a call's or statement's strings are never shown: patterns, and messages of bugs."""
    return isinstance(node, ast.Assert) or (isinstance(node, ast.Call) and ast.unparse(node.func).startswith(("re.", "AssertionError")))


def _docstring(node: ast.AST) -> ast.Constant | None:
    """A string that is a statement of its own."""
    return node.value if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) else None


def _is_shown(node: ast.FunctionDef, kind: str) -> bool:
    if kind == "command":
        return any(re.search(r"\b(?:command|group)\(", ast.unparse(each)) for each in node.decorator_list)
    return not node.name.startswith("_") and [each.arg for each in node.args.args] == ["look"]


def _written(node: ast.AST) -> str | None:
    """A string as it reads, with {name} for filled-in values; None if the node is no string."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=values):
            return "".join(_written(value) or "" for value in values)
        case ast.FormattedValue(value=value):
            return _filled(value)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            sides = [_written(side) for side in (left, right)]
            return (
                "".join(text if text is not None else _filled(side) for text, side in zip(sides, (left, right), strict=True))
                if any(sides)
                else None
            )
    return None


def _filled(node: ast.AST) -> str:
    name = ast.unparse(node)
    return f"{{{name if NAMED.fullmatch(name) else '…'}}}"


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    """The literal parts of a string that was read; strings inside filled-in expressions are texts of their own."""
    yield node
    match node:
        case ast.JoinedStr(values=values):
            for value in values:
                yield from _parts(value) if not isinstance(value, ast.FormattedValue) else ast.walk(value.format_spec or ast.Pass())
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            yield from _parts(left)
            yield from _parts(right)


# -- the page and the script -------------------------------------------------------------------------------------------------------

COMMENT = re.compile(r"(?<!:)//[^\n]*|/\*.*?\*/|\{/\*.*?\*/\}", re.DOTALL)
UNSHOWN = re.compile(r"\b(?:class|className|d|viewBox|transform|stroke\w*|style|points|key|import|from)=(?:\"[^\"]*\"|\{`[^`]*`\})")
QUOTED = re.compile(r"\"((?:[^\"\\\n]|\\.)*)\"|`((?:[^`\\]|\\.)*)`|(?<=[>}])([^<>{}`\"=]*[A-Za-z][^<>{}`\"=]*)(?=[<{])")
PAGE_CODE = re.compile(r";\n|\);|^\s*[.#]?[a-z-]+(?: [a-z-]+)*\s*$|=>|&&|\|\||\?\.|\) |^\)|\bconst |[a-z]\($")
SPOKEN = re.compile(r"\"((?:[^\"\\]|\\.)*)\"")


def texts_of_page(source: str) -> Iterator[str]:
    """Every text of a module of the page: in quotes and between tags."""
    for found in QUOTED.finditer(UNSHOWN.sub("", COMMENT.sub("", source))):
        text = re.sub(
            r"\$\{((?:[^{}]|\{[^{}]*\})*)\}",
            lambda m: f"{{{m[1] if NAMED.fullmatch(m[1]) else '…'}}}",
            next(filter(None, found.groups()), ""),
        )
        if (
            re.search(r"[A-Za-z]{2,}[,;:.]? [A-Za-z{]", text)
            and not PAGE_CODE.search(text)
            and not re.search(r"[a-z]\(|\d,\s*\d|\w\.\w+\(", text)
        ):
            yield text


def texts_of_script(source: str) -> Iterator[str]:
    """The texts of ./x: its help, and the arguments of say, complain and die."""
    yield from re.findall(r"<<'TEXT'\n(.*?)\nTEXT\n", source, re.DOTALL)
    for line in source.splitlines():
        if re.search(r"\b(?:say|complain|die) \"", line):
            yield from (found[1] for found in SPOKEN.finditer(line[line.index('"') :]) if is_phrase(found[1]))


# -- all doors ---------------------------------------------------------------------------------------------------------------------------


def stilted(line: str) -> list[str]:
    """The words of a text that should be others: each with what to write instead."""
    _, _, text = line.partition(": ")
    return [
        f"{found[0]!r}: {instead}" for words, instead in PLAIN.items() for found in re.finditer(rf"\b(?:{words})\b", text, re.IGNORECASE)
    ]


def door_of(path: str) -> str:
    return next(door for door, starts in DOORS.items() if path.startswith(starts))


def messages() -> dict[str, str]:
    """The content of each door's file: one line per text, after the module that has it."""
    lines: dict[str, set[str]] = {door: set() for door in (*DOORS, "page", "x")}
    for file in sorted(SOURCE.rglob("*.py")):
        path = file.relative_to(SOURCE).as_posix()
        if not path.startswith(SAMPLES):
            shown = "command" if path.startswith("interfaces/cli/") else "gate" if path.startswith(("gates/", "workflows/")) else ""
            texts = texts_of(ast.parse(file.read_text("utf-8")), shown)
            lines[door_of(path)] |= {_line(path.removesuffix(".py"), text) for text in texts}
    for file in sorted((ROOT / "web" / "src").glob("*.js*")):
        lines["page"] |= {_line(file.name, text) for text in texts_of_page(file.read_text("utf-8"))}
    lines["x"] |= {_line("x", text) for text in texts_of_script((ROOT / "x").read_text("utf-8"))}
    return {door: "".join(sorted(of_door)) for door, of_door in lines.items()}


def _line(module: str, text: str) -> str:
    return f"{module}: " + text.strip().replace("\n", "⏎") + "\n"


def main() -> int:
    GOLDEN.mkdir(parents=True, exist_ok=True)
    for door, text in messages().items():
        (GOLDEN / f"{door}.txt").write_text(text, "utf-8")
        print(f"{door}: {text.count(chr(10))} texts")
    return 0


if __name__ == "__main__":
    sys.exit(main())
