"""Tests whose expectations may fail silently: the failure is swallowed, or an older test now returns before it. Pure.

Judged by form alone. A test that stays as strict as it was is not flagged, whatever else it catches.
"""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from detent.evidence.changes.edited_files import EditedFile
from detent.kernel.model import Flag

EXPECTS = re.compile(
    r"^\s*(?:await\s+|return\s+)?(?:assert\b|self\.assert|expect\b|assert[._(]|assert_\w|refute|should\b|require\.|[tb]\.(?:Error|Fatal)|is_expected)|\bexpect\(|\bassert[.(]|\.should\b"
)
NEAR = 12  # most lines of a `try` block
CATCHES = {
    ".py": re.compile(r"^\s*except(?:\s*\(?[^:\n]*\b(?:AssertionError|Exception|BaseException)\b[^:\n]*)?\s*:\s*(?P<then>.*)$"),
    ".rb": re.compile(
        r"^\s*rescue\b\s*(?:(?:RSpec::|Minitest::|Test::Unit)[\w:]*|Exception|StandardError)?(?:\s*=>\s*\w+)?\s*(?P<then>(?:then|;).*)?$"
    ),
    ".js": re.compile(r"^\s*\}?\s*catch\s*(?:\(\s*\w*\s*\))?\s*\{\s*(?P<then>.*)$"),
}
BEGINS = {
    ".py": re.compile(r"^\s*try\s*:"),
    ".rb": re.compile(r"^\s*(?:begin\b|it\b|specify\b|def test)"),
    ".js": re.compile(r"\btry\s*\{"),
}
NOTHING = re.compile(r"^(?:pass|return(?:\s+(?:None|nil|undefined|null))?|continue|\.\.\.|nil|next|end|\}.*|//.*|#.*|/\*.*)?;?\s*$")
AROUND = {
    ".py": re.compile(r"\bsuppress\([^)\n]*(?:\bAssertionError|\bBaseException|(?<!\w)Exception)\b"),
    ".js": re.compile(
        r"\.catch\(\s*(?:(?:async\s*)?\(?\s*\w*\s*\)?\s*=>\s*(?:\{\s*\}|undefined|null|void 0|\d)|function\s*\(\w*\)\s*\{\s*\}|noop|Function\.prototype)\s*\)"
    ),
    ".rb": re.compile(r"^\s*expect\b.*\srescue\s"),
    ".go": re.compile(r"(?!)"),
}
JAVASCRIPT = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx")
LEAVES = re.compile(
    r"^\s*(?:return|next)\s*;?\s*(?:$|if\b|unless\b)|^\s*if\s*\(.*\)\s*(?:\{\s*)?return\s*;?\s*\}?\s*$|^\s*if\b.*:\s*return\s*$"
)
ASKS = re.compile(r"^\s*(?:if|unless)\b")
STRICT = re.compile(r"[\"'`](?:node:)?assert/strict[\"'`]|\bassert[\"'`]\)\.strict\b|\bstrict as assert\b|\bassert\.strict\b")
LOADS_ASSERT = re.compile(r"[\"'`](?:node:)?assert[\"'`]")
LOOSE = re.compile(r"\b(?:assert\.)?(?:equal|deepEqual|notEqual|notDeepEqual)\(")
HEAD = re.compile(r"^\s*(?:async\s+)?(?:def\s+test|(?:it|test|specify|example)\b|func\s+Test|function\s+test)")


def forgiving(files: tuple[EditedFile, ...]) -> Iterator[Flag]:
    """A flag for each test file that a change made forgiving."""
    for file in files:
        if file.how == "deleted" or not file.is_test or not file.all_added:
            continue
        rows = file.after.split("\n")
        found = _swallowed(file, rows) or _ends_early(file, rows) or _compares_loosely(file)
        if found:
            line, words = found
            kind = "vacuous-test" if file.how == "added" else "rewritten-test"
            yield Flag(kind, words, f"{file.path}:{line}", after=file.line(line), level="ask")


def _compares_loosely(file: EditedFile) -> tuple[int, str] | None:
    """Older Node tests whose `equal` no longer tells "1" from 1, because they switched from the strict assert module."""
    if not STRICT.search(file.before) or STRICT.search(file.after) or not LOOSE.search(file.after):
        return None
    line = next((n for n in sorted(file.all_added) if LOADS_ASSERT.search(file.line(n))), 0)
    return (line, 'older tests compare loosely now: `equal` takes "1" for 1 here') if line else None


def _language(path: str) -> str:
    suffix = PurePosixPath(path).suffix
    return ".js" if suffix in JAVASCRIPT else suffix


def _swallowed(file: EditedFile, rows: list[str]) -> tuple[int, str] | None:
    """A new line that catches the failure of an expectation and ignores it."""
    of = _language(file.path)
    for number in sorted(file.all_added):
        row = rows[number - 1] if number <= len(rows) else ""
        caught = CATCHES[of].match(row) if of in CATCHES else None
        then = (caught["then"] or "").removeprefix("then").strip("; ") if caught else ""
        after = then or next((each.strip() for each in rows[number:] if each.strip()), "")
        inside = _tried(of, rows, number) if caught and NOTHING.match(after) else ""
        around = of in AROUND and AROUND[of].search(row) is not None
        if around and of == ".py":
            inside = "\n".join(rows[number : number + 4])
        elif around:
            inside = "\n".join(rows[max(0, number - 4) if row.lstrip()[:1] in ".)}" else number - 1 : number])
        if any(map(EXPECTS.search, inside.split("\n"))):
            return number, "a failure of this expectation is swallowed, so the test passes whatever the answer is"
    return None


def _tried(of: str, rows: list[str], number: int) -> str:
    """The body of the `try` above a catching line; empty if its start is not found."""
    first = max(0, number - 1 - NEAR)
    begins = [n for n in range(first, number - 1) if BEGINS[of].search(rows[n])]
    return "\n".join(rows[begins[-1] : number - 1]) if begins else ""


def _ends_early(file: EditedFile, rows: list[str]) -> tuple[int, str] | None:
    """A new early exit in an older test, before its expectations."""
    for number in sorted(file.all_added) if file.how == "modified" else ():
        row = rows[number - 1] if number <= len(rows) else ""
        above = rows[number - 2] if number > 1 else ""
        if not LEAVES.match(row) or not (ASKS.match(row) or ASKS.match(above) or re.search(r"\s(?:if|unless)\s", row)):
            continue
        head = next((n for n in range(number - 1, 0, -1) if HEAD.match(rows[n - 1])), 0)
        rest = []
        for n in range(number + 1, len(rows) + 1):
            if HEAD.match(rows[n - 1]):
                break
            rest.append(n)
        if head and head not in file.all_added and any(n not in file.all_added and EXPECTS.search(rows[n - 1]) for n in rest):
            return number, "an older test can now return here before its expectations"
    return None
