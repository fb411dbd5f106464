"""Tests turned round: what each test expects, made into something that no honest answer is equal to. One that still passes agrees with any.

Only comparisons for equality that every run of the test comes to are turned; a test without one is not spoken of. A new language: a file with `turned(text)`, lines here.
"""

import re
from collections.abc import Callable
from pathlib import PurePosixPath

from detent.evidence.mutate import turned_javascript, turned_python

Turned = tuple[str, frozenset[str]]  # the text, and the names of the tests that were turned
RUBY = re.compile(r"(\.to eq\()(.+)(\))\s*$")
IT = re.compile(r"""^(\s*)it\s*\(?\s*(["'])(.+?)\2""")


def turned_ruby(text: str) -> Turned:
    """Line by line: `expect(…).to eq(x)` right below `it "name"`, not deeper and not after its end."""
    name, names, lines, depth, inner = "", set(), list[str](), 0, 0
    for line in text.splitlines(keepends=True):
        indent = len(line) - len(line.lstrip())
        if begins := IT.match(line):
            name, depth, inner = begins[3], indent, 0
        elif name and line.strip():
            inner = inner or indent
            name = name if indent > depth else ""
        if name and indent == inner and RUBY.search(line.rstrip()):
            line = RUBY.sub(r"\1[\2, 'turned round']\3", line.rstrip()) + "\n"
            names.add(name)
        lines.append(line)
    return "".join(lines), frozenset(names)


LANGUAGES: dict[str, Callable[[str], Turned]] = {
    ".py": turned_python.turned,
    **dict.fromkeys((".js", ".mjs", ".cjs", ".ts", ".mts", ".cts"), turned_javascript.turned),
    ".rb": turned_ruby,
}


def turned(path: str, text: str) -> Turned:
    """The file with each expectation turned; as it is, in a language that is not known."""
    found = LANGUAGES.get(PurePosixPath(path).suffix)
    return found(text) if found else (text, frozenset())


def is_named(test: str, name: str) -> bool:
    """Whether a test's id ends with a name, whatever it lies in, and whatever number or parameters it has."""
    local = re.sub(r"(\[.*\]| \(\d+\))\Z", "", test.partition("::")[2])
    return local == name or local.endswith((f"::{name}", f" > {name}", f" {name}"))
