"""The calls that JavaScript tests make, in a form that can be repeated without a test: `assert.equal(half(3), 1.5)`, `expect(half(3)).toBe(1.5)`. Pure.

Reads only literal calls, in tests that do nothing but call and compare: elsewhere, the context may legitimately change the result.
"""

import ast
import json
import re
from collections.abc import Collection, Iterator

from detent.evidence.mutate.test_calls import MOST, TestCall
from detent.evidence.source.test_blocks import HEAD
from detent.evidence.source.test_ids import is_named

SETS_UP = re.compile(
    r"\b(?:before|after)(?:Each|All)?\s*\(|\bmock|\bstub|\bspy|\bsinon\b|\bnock\b|\buseFakeTimers\b|\bproxyquire\b|\besmock\b"
)
IMPORT = re.compile(r"""^import\s+(?P<what>[^'"]+?)\s+from\s+['"](?P<of>\.[^'"]*)['"]""", re.MULTILINE)
REQUIRE = re.compile(r"""^(?:const|let|var)\s+(?P<what>\{[^}]*\}|\w+)\s*=\s*require\(\s*['"](?P<of>\.[^'"]*)['"]\s*\)""", re.MULTILINE)
ASKS = re.compile(
    r"\b(?:assert|t)\.(?:equal|strictEqual|deepEqual|deepStrictEqual|is|same|strictSame)\(|\bexpect\(|(?<![\w.])(?:equal|strictEqual|deepEqual|deepStrictEqual)\("
)  # the call follows
EQUAL = re.compile(r"\s*\.(?:toBe|toEqual|toStrictEqual|to\.(?:equal|eql|deep\.equal|be\.equal|strictEqual))\(")
CALL = re.compile(r"(?P<name>\w+(?:\.\w+)?)\((?P<args>.*)\)\s*\Z", re.DOTALL)
STRING = re.compile(r"""'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\$]|\\.)*`""")
WRITTEN = re.compile(r"(?:[\s\d.,:\[\]{}+_-]|\d[eE]|\btrue\b|\bfalse\b|\bnull\b|\bundefined\b|\b\w+\s*(?=:)|\x00)*\Z")
ONLY_ASKS = re.compile(
    r"\s*(?:(?:assert|t|equal|strictEqual|deepEqual|deepStrictEqual)\b.*|expect\(.*|[\])}\[({;,.\s]*|//.*|\w+\.(?:plan|end)\(.*|['\"\d\[{\x00-].*)\Z"
)
CALLED_ABOVE = re.compile(r"^(?!import\b|describe\b|suite\b|it\b|test\b|require\b|'use|\"use)(\w+)(?:\.\w+)*\(", re.MULTILINE)
SET_ABOVE = re.compile(r"^(\w+)(?:\.\w+|\[[^\]]*\])+\s*=(?!=)", re.MULTILINE)
ENDS = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx")


def asked_in_javascript(path: str, text: str, tests: Collection[str]) -> list[TestCall]:
    """The calls with literal arguments and literal expected values that some tests of a file make."""
    if not path.endswith(ENDS) or SETS_UP.search(text):
        return []
    names = dict(_imported(path, text))
    if any(above[1] in names for pattern in (CALLED_ABOVE, SET_ABOVE) for above in pattern.finditer(text)):
        return []
    found = [
        call
        for name, line, body in _bodies(text)
        if any(is_named(each, name) for each in tests) and all(map(ONLY_ASKS.match, body.split("\n")[1:]))
        for call in _calls(name, line, body, names)
    ]
    return found[:MOST]


def _imported(path: str, text: str) -> Iterator[tuple[str, str]]:
    """Each name that a file imports from the code, with its origin as JSON: the importing file, the module, import or require, both names."""
    for pattern, how in ((IMPORT, "import"), (REQUIRE, "require")):
        for found in pattern.finditer(text):
            for what in _parts(found["what"], how):
                yield what[0], json.dumps([path, found["of"], how, *what])


def _parts(what: str, how: str) -> Iterator[tuple[str, str]]:
    inner = re.search(r"\{([^}]*)\}", what)
    for each in inner[1].split(",") if inner else ():
        name, _, other = (part.strip() for part in each.partition(" as " if how == "import" else ":"))
        if name:
            yield other or name, name
    if found := re.match(r"\s*\*\s*as\s+(\w+)", what):
        yield found[1], "*"
    elif found := re.match(r"\s*(\w+)", what):
        yield found[1], "default" if how == "import" else "*"


def _bodies(text: str) -> Iterator[tuple[str, int, str]]:
    """Each test of a file: its name, first line number and text."""
    lines = text.split("\n")
    for n, line in enumerate(lines):
        head = HEAD.match(line)
        if not head or not head["said"]:
            continue
        indent = len(line) - len(line.lstrip())
        end = next((m for m in range(n + 1, len(lines)) if lines[m].strip() and len(lines[m]) - len(lines[m].lstrip()) <= indent), n)
        yield head["said"], n + 1, "\n".join(lines[n:end])


def _calls(test: str, line: int, body: str, names: dict[str, str]) -> Iterator[TestCall]:
    for asks in ASKS.finditer(body):
        inner, end = _inside(body, asks.end())
        parts = _split(inner)
        if asks[0] == "expect(":
            equal = EQUAL.match(body, end)
            wanted = _inside(body, equal.end())[0] if equal else ""
            call_text = inner
        elif len(parts) >= 2:
            call_text, wanted = parts[0], parts[1]
        else:
            continue
        call = CALL.match(call_text.strip())
        root = call["name"].partition(".")[0] if call else ""
        if call and root in names and wanted.strip() and call["args"].strip() and all(map(is_written, (call["args"], wanted))):
            at = line + body.count("\n", 0, asks.start())
            yield TestCall(test, at, names[root], call["name"], call_text.strip(), wanted.strip(), _read(call["args"]))


def is_written(text: str) -> bool:
    """Whether an expression is a literal, without names other than keys."""
    return WRITTEN.match(STRING.sub("\x00", text)) is not None


def _read(args: str) -> tuple[ast.expr, ...]:
    """The arguments parsed as Python, which works for numbers, strings and lists; empty for anything else."""
    try:
        node = ast.parse(f"f({args})", mode="eval").body
    except (SyntaxError, ValueError, RecursionError):
        return ()
    return tuple(node.args) if isinstance(node, ast.Call) else ()


def _inside(text: str, at: int) -> tuple[str, int]:
    """The text up to the closing bracket, and the offset after it; brackets in strings do not count."""
    depth, here = 1, at
    while here < len(text) and depth:
        if string := STRING.match(text, here):
            here = string.end()
            continue
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(text[here], 0)
        here += 1
    return text[at : here - 1], here


def _split(text: str) -> list[str]:
    """The arguments of a call, split at top-level commas."""
    found, here, begun = list[str](), 0, 0
    while here < len(text):
        if string := STRING.match(text, here):
            here = string.end()
            continue
        if text[here] in "([{":
            here = _inside(text, here + 1)[1]
            continue
        if text[here] == ",":
            found.append(text[begun:here])
            begun = here + 1
        here += 1
    return [*found, text[begun:]]
