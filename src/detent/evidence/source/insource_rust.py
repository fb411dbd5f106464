"""The test-only parts of a Rust file: items under `#[cfg(test)]` or `#[test]`, and documentation with code in it. Pure.

Strings, comments and character literals are blanked first, so braces in them do not count.
"""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import NamedTuple

from detent.evidence.source.insource_part import TestPart, replaced

SKIPPED = re.compile(
    r"(?P<line>//[^\n]*)|(?P<block>/\*)|(?P<raw>\b[bc]?r(?P<hashes>#*)\")|(?P<string>\b[bc]?\"|\")|(?P<char>b?'(?:\\(?:u\{[0-9a-fA-F_]*\}|x..|.)|[^\\'\n])')"
)
ATTRIBUTE = re.compile(r"#\s*\[")
BETWEEN = re.compile(r"\s*")
ITEM = re.compile(
    r"(?:pub(?:\s*\([^)]*\))?\s+)?(?:(?:default|const|async|unsafe|extern(?:\s+\S+)?)\s+)*"
    r"(?P<sort>mod|fn|impl|struct|enum|union|trait|use|const|static|type|macro_rules\s*!|extern)\b\s*(?P<rest>[^;{=(]*)"
)
ENDS_WITH_SEMICOLON = ("use", "const", "static", "type")
DOC = re.compile(r"^[ \t]*(///(?!/)|//!)[^\n]*\n?", re.MULTILINE)
ABOUT = re.compile(r"^[ \t]*((?!#\[|//)\S[^\n]*)", re.MULTILINE)  # the next line of code
FENCE = "```"


class UnclosedBracket(Exception):
    """A bracket is never closed."""


class RustItem(NamedTuple):
    """One item with its attributes."""

    start: int
    end: int
    name: str
    attributes: tuple[str, ...]


def parts(text: str) -> list[TestPart] | None:
    """The test-only items, and the documentation outside them; None if the file cannot be parsed."""
    plain = blanked(text)
    if plain is None:
        return None
    try:
        items = [item for item in _items(text, plain) if item is not None and _is_for_tests(item)]
    except UnclosedBracket:
        return None
    found = [TestPart(item.start, _with_line_end(text, item.end), item.name) for item in items]
    docs = [part for part in _docs(text, plain) if not any(each.start <= part.start < each.end for each in found)]
    times: Counter[str] = Counter()
    numbered = []
    for part in sorted([*found, *docs]):
        times[part.key] += 1
        numbered.append(part._replace(key=f"{part.key} ({times[part.key]})"))
    return numbered


def lay(code: str, tests: str, before: list[TestPart], after: list[TestPart]) -> str | None:
    """The code with every test piece of the other version: in its old place, before what it documents, or at the end of the file."""
    plain = blanked(tests) or ""
    old, new = {part.key: part for part in before}, {part.key: part for part in after}
    asked = {part.key for part in (*before, *after) if part.is_test}
    pieces: dict[tuple[int, int], str] = {(old[key].start, old[key].end): "" for key in asked if key in old}
    more = []
    for key, part in new.items():
        words = tests[part.start : part.end]
        if key not in asked:
            continue
        if key in old:
            pieces[old[key].start, old[key].end] = words
        elif key.startswith("doc "):
            if (at := _place(code, key)) is not None:
                pieces[at, at] = words
        elif _depth(plain, part.start):
            return None  # it is nested in another item, whose place in the other version is unknown
        else:
            more.append(words.strip("\n"))
    done = replaced(code, pieces)
    return "\n\n".join([done.rstrip("\n"), *more]) + "\n" if more else done


def declared(path: str, text: str) -> tuple[str, ...]:
    """The files of modules that a file declares only for tests."""
    plain = blanked(text) if "cfg" in text and "mod" in text else None
    where = PurePosixPath(path)
    home = where.parent if where.stem in ("lib", "main", "mod") else where.parent / where.stem
    try:
        items = [item for item in _items(text, plain) if item and _is_for_tests(item)] if plain is not None else []
    except UnclosedBracket:
        return ()
    found: list[str] = []
    for item in items:
        if item.name.startswith("mod ") and text[item.end - 1] == ";":
            named = next((m[1] for each in item.attributes if (m := re.fullmatch(r"path\s*=\s*\"([^\"]+)\"", each))), "")
            name = item.name.removeprefix("mod ")
            found += [(where.parent / named).as_posix()] if named else [(home / f"{name}.rs").as_posix(), (home / name).as_posix() + "/"]
    return tuple(found)


# Parsing.


def blanked(text: str) -> str | None:
    """The text with comments replaced by spaces and strings by `"`; None if one of them does not end."""
    out, at = [], 0
    while found := SKIPPED.search(text, at):
        out.append(text[at : found.start()])
        end = _end(text, found)
        if end is None:
            return None
        filler = " " if found["line"] or found["block"] else '"'
        out.append(re.sub(r"[^\n]", filler, text[found.start() : end]))
        at = end
    return "".join(out) + text[at:]


def _end(text: str, found: re.Match[str]) -> int | None:
    if found["line"] or found["char"]:
        return found.end()
    if found["raw"]:
        close = text.find('"' + found["hashes"], found.end())
        return None if close < 0 else close + 1 + len(found["hashes"])
    if found["string"]:
        rest = re.compile(r"(?:[^\"\\]|\\.)*\"", re.DOTALL).match(text, found.end())
        return rest.end() if rest else None
    depth = 0  # comments nest
    for each in re.compile(r"/\*|\*/").finditer(text, found.start()):
        depth += 1 if each[0] == "/*" else -1
        if depth == 0:
            return each.end()
    return None


def _items(text: str, plain: str) -> Iterator[RustItem | None]:
    """Every item with attributes, outer items first."""
    at = 0
    while found := ATTRIBUTE.search(plain, at):
        start, at, attributes = found.start(), found.start(), list[str]()
        while opened := ATTRIBUTE.match(plain, at):
            close = _closing(plain, opened.end() - 1)
            attributes.append(text[opened.end() : close - 1].strip())
            space = BETWEEN.match(plain, close)
            at = space.end() if space else close
        item = _item(plain, start, at, tuple(attributes))
        yield item
        at = item.end if item and _is_for_tests(item) else max(at, found.end())


def _item(plain: str, start: int, at: int, attributes: tuple[str, ...]) -> RustItem | None:
    head = ITEM.match(plain, at)
    if head is None:
        return None
    end = _item_end(plain, head.end("sort"), head["sort"] in ENDS_WITH_SEMICOLON)
    return RustItem(start, end, f"{head['sort']} {' '.join(head['rest'].split())}".strip(), attributes)


def _item_end(plain: str, at: int, to_semicolon: bool) -> int:
    """The end of an item: after its block, or at its semicolon."""
    while at < len(plain):
        if plain[at] == ";":
            return at + 1
        if plain[at] in "([{":
            close = _closing(plain, at)
            if plain[at] == "{" and not to_semicolon:
                return close
            at = close
        else:
            at += 1
    raise UnclosedBracket


def _closing(plain: str, at: int) -> int:
    """The end of the bracket that opens at this position."""
    depth = 0
    for each in re.compile(r"[(\[{}\])]").finditer(plain, at):
        depth += 1 if each[0] in "([{" else -1
        if depth == 0:
            return each.end()
    raise UnclosedBracket


def _is_for_tests(item: RustItem) -> bool:
    return any(_asks_for_test(" ".join(each.split())) for each in item.attributes)


def _asks_for_test(attribute: str) -> bool:
    inner = re.fullmatch(r"cfg ?\((?:all ?\()?(.*?)\)*", attribute)
    if inner:
        every = attribute.replace(" ", "").startswith(("cfg(test)", "cfg(all("))
        return every and "test" in [word.strip() for word in re.sub(r"\b(?:any|not) ?\([^()]*\)", "", inner[1]).split(",")]
    return re.fullmatch(r"(?:\w+::)*(?:test|rstest|test_case|quickcheck)(?:\(.*\))?", attribute) is not None


def _docs(text: str, plain: str) -> Iterator[TestPart]:
    """Documentation comments, keyed by the line of code after them."""
    start: int | None = None
    end = 0
    for found in DOC.finditer(text):
        if plain[found.start(1)] != " ":
            continue  # in a string
        if start is not None and found.start() != end:
            yield _doc(text, start, end)
            start = None
        start, end = found.start() if start is None else start, found.end()
    if start is not None:
        yield _doc(text, start, end)


def _doc(text: str, start: int, end: int) -> TestPart:
    line = ABOUT.search(text, end)
    about = line[1].strip() if line else ""
    inner = text[start:end].lstrip().startswith("//!")
    return TestPart(start, end, "doc !" if inner else f"doc {about}", FENCE in text[start:end])


def _place(code: str, key: str) -> int | None:
    """Where to insert documentation: before its line and that line's attributes, or at the top for the file's own."""
    about = key.removeprefix("doc ").rpartition(" (")[0]
    if about == "!":
        return 0
    lines = code.splitlines(keepends=True)
    hits = [at for at, line in enumerate(lines) if line.strip() == about]
    if len(hits) != 1:
        return None
    at = hits[0]
    while at and lines[at - 1].strip().startswith("#["):
        at -= 1
    return sum(map(len, lines[:at]))


def _depth(plain: str, at: int) -> int:
    return plain.count("{", 0, at) - plain.count("}", 0, at)


def _with_line_end(text: str, at: int) -> int:
    return at + 1 if text[at : at + 1] == "\n" else at
