"""The test file patterns of a JavaScript project, from its configuration or its command.

A configuration is read as tokens, never run: only literal strings at the runner's known keys are found, not computed values.
"""

import re
from collections.abc import Iterator

from detent.evidence.runners.adapter import Command, Files, InnerProject
from detent.evidence.source.file_patterns import ask_patterns, telling_patterns

ENDS = ("ts", "mts", "cts", "js", "mjs", "cjs")
CONFIGS = {
    "vitest": tuple(f"{name}.{end}" for name in ("vitest.config", "vite.config", "vitest.workspace", "vitest.projects") for end in ENDS),
    "jest": ("package.json", "jest.config.json", *(f"jest.config.{end}" for end in ENDS)),
    "mocha": ("package.json", ".mocharc.json", ".mocharc.jsonc", ".mocharc.js", ".mocharc.cjs", ".mocharc.mjs", ".mocharc.yml", ".mocharc.yaml"),
}  # fmt: skip
PLACES = {  # keys that hold test files: the last names of the path to them
    "vitest": (("test", "include"), ("typecheck", "include")),
    "jest": (("testMatch",), ("testRegex",)),
    "mocha": (("spec",),),
}
TOKEN = re.compile(
    r"(?P<skip>//[^\n]*|/\*.*?\*/|`(?:[^`\\]|\\.)*`)|(?P<string>'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\")|(?P<name>[A-Za-z_$][\w$]*)|(?P<sign>[{}\[\]():,])",
    re.DOTALL,
)
YAML_LIST = re.compile(r"^spec:[ \t]*(?:\[(?P<flow>[^\]]*)\]|(?P<one>[^\s\[#].*)|\n(?P<rows>(?:[ \t]*-.*\n?)+))", re.MULTILINE)


def patterns(runner: str, base: Command | None, files: Files) -> tuple[str, ...]:
    """The patterns in the configuration, and in the command if the runner takes file patterns there."""
    found: list[str] = []
    for name in (*_named(base), *CONFIGS.get(runner, ())):
        text = files.read(name)
        if text:
            rows = _yaml(text) if name.endswith((".yml", ".yaml")) else values(text, PLACES.get(runner, ()))
            found += [_pattern(place, word) for place, word in rows]
    paths = base.paths if base and runner in ("mocha", "node") else ()
    return telling_patterns(dict.fromkeys([*found, *(path.removeprefix("./") for path in paths)]))


def values(text: str, places: tuple[tuple[str, ...], ...]) -> Iterator[tuple[str, str]]:
    """Each string at one of these places in an object, alone or in a list, with the last name of the place."""
    names: list[str] = []  # for each open bracket, the key whose value it is
    name = last = ""
    for token in TOKEN.finditer(text):
        sort, word = token.lastgroup, token[0]
        if word == ":":
            name = last
        elif word in ("{", "[", "("):
            names.append(name)
            name = ""
        elif word in ("}", "]", ")") and names:
            names.pop()
            name = ""
        elif word == ",":
            name = ""
        elif sort == "string" and not text[token.end() :].lstrip().startswith(":"):
            path = tuple(each for each in (*names, name) if each)
            if place := next((place for place in places if path[-len(place) :] == place), None):
                yield place[-1], _unquoted(word)
        last = _unquoted(word) if sort == "string" else word if sort == "name" else last


def _unquoted(literal: str) -> str:
    return re.sub(r"\\(.)", lambda found: found[1] if found[1] in "\\'\"/" else found[0], literal[1:-1])


def _pattern(place: str, word: str) -> str:
    plain = word.replace("<rootDir>/", "").replace("<rootDir>", "").removeprefix("./")
    return f"re:{plain}" if place == "testRegex" else plain


def _yaml(text: str) -> Iterator[tuple[str, str]]:
    """The patterns of `spec:`, in its usual forms."""
    for found in YAML_LIST.finditer(text):
        rows = (found["flow"] or "").split(",") if found["flow"] is not None else (found["one"] or found["rows"] or "").splitlines()
        yield from (("spec", word) for row in rows if (word := re.sub(r"^\s*-\s*", "", row).partition(" #")[0].strip().strip("'\"")))


def _named(base: Command | None) -> Iterator[str]:
    """The configuration files that the command names."""
    words = base.argv if base else ()
    for at, word in enumerate(words):
        if word in ("--config", "-c") and at + 1 < len(words):
            yield words[at + 1].removeprefix("./")
        elif word.startswith("--config="):
            yield word.partition("=")[2].removeprefix("./")


def reaches(runner: str, outer: Command, files: Files, below: InnerProject) -> bool:
    """Whether the configured patterns, or the command's paths, cover a folder's tests; by default mocha covers `test/` beside it, the others everything."""
    if named := patterns(runner, outer, files):
        return any(ask_patterns(named, test) for test in below.tests)
    return any(map(below.touched_by, outer.paths)) if outer.paths or runner == "mocha" else True
