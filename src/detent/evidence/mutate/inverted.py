"""Inverts the expectations of tests, so that honest code cannot meet them. A test that still passes accepts any answer.

An expected value becomes another of the same type and look, drawn with a key that the code cannot see, never a fixed word. Only expectations
that every run of the test reaches are inverted; tests without any are left out. To add a language, write a file with `inverted(text, key)` and
register it here.
"""

import re
from collections.abc import Callable
from pathlib import PurePosixPath

from detent.evidence.mutate import inverted_go, inverted_javascript, inverted_python
from detent.evidence.mutate.keyed_random import KeyedRandom

Inverted = tuple[str, frozenset[str]]  # the text, and the names of the tests whose expectations were inverted
RUBY = re.compile(r"(?P<head>\.to eq\()(?P<value>.+)(?P<tail>\))\s*$|(?P<to>\.to)(?= (?:raise_error|be_|be\b|include\b|match\b|contain_))")
IT = re.compile(r"""^(\s*)it\s*\(?\s*(["'])(.+?)\2""")


def inverted_ruby(text: str, key: bytes = b"") -> Inverted:
    """Invert `expect(…).to eq(x)` line by line, only at the top level of `it "name"`."""
    name, names, lines, depth, inner, rng = "", set(), list[str](), 0, 0, KeyedRandom(key, text)
    for line in text.splitlines(keepends=True):
        indent = len(line) - len(line.lstrip())
        if begins := IT.match(line):
            name, depth, inner = begins[3], indent, 0
        elif name and line.strip():
            inner = inner or indent
            name = name if indent > depth else ""
        if name and indent == inner and RUBY.search(line.rstrip()):
            line = RUBY.sub(lambda found: _other_ruby(found, rng), line.rstrip()) + "\n"
            names.add(name)
        lines.append(line)
    return "".join(lines), frozenset(names)


def _other_ruby(found: re.Match[str], rng: KeyedRandom) -> str:
    if found["to"]:
        return ".not_to"
    new = rng.literal(found["value"]) or f"[{found['value']}, {rng.digits('10')}]"
    return f"{found['head']}{new}{found['tail']}"


LANGUAGES: dict[str, Callable[[str, bytes], Inverted]] = {
    ".py": inverted_python.inverted,
    ".go": inverted_go.inverted,
    **dict.fromkeys((".js", ".mjs", ".cjs", ".ts", ".mts", ".cts"), inverted_javascript.inverted),
    ".rb": inverted_ruby,
}


def inverted(path: str, text: str, key: bytes = b"") -> Inverted:
    """The file with its expectations inverted; unchanged if its language is not supported."""
    found = LANGUAGES.get(PurePosixPath(path).suffix)
    return found(text, key) if found else (text, frozenset())
