"""Names mapped to other files: `paths` in tsconfig, `imports` and `exports` of a package, aliases, `replace` in go.mod, module mocks in
JavaScript. Pure: texts in, places out."""

import json
import re
from collections.abc import Callable, Collection, Iterator
from pathlib import PurePosixPath
from posixpath import dirname, join, normpath

from detent.evidence.changes.edited_files import is_named_as_test
from detent.evidence.changes.judging_parts import jsonc

ENDS = ("", ".ts", ".tsx", ".js", ".jsx", ".mjs", ".mts", ".cjs", ".cts", "/index.ts", "/index.js", "/index.tsx", "/index.mjs")
MOCKED = re.compile(
    r"\b(?:(?:vi|vitest|jest)\s*\.\s*(?:mock|doMock|unstable_mockModule|setMock)|mock\s*\.\s*module|(?:td|testdouble)\s*\.\s*replace(?:Esm)?|proxyquire\w*|rewiremock|esmock)"
    r"\(\s*(?:import\(\s*)?[\"'`]([^\"'`\n]+)"
)
IMPORTED = re.compile(r"(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire\(\s*)[\"'`](\.[^\"'`\n]*)")
A_TEST = re.compile(r"^\s*(?:it|test|specify)(?:\.\w+)*\s*[(`]", re.MULTILINE)
ALIASED = re.compile(r"\b(?:alias|moduleNameMapper|modulePaths|moduleDirectories|NODE_PATH|resolve)\b")
STAND_IN = re.compile(r"[\"'`][^\"'`\n]*(?:\b__mocks__|\btests?/|\bspecs?/|\bmocks?\b|\bstubs?\b|\bfakes?\b|\bfixtures?\b)[^\"'`\n]*[\"'`]")
PACKAGE = (
    "imports",
    "exports",
    "main",
    "module",
    "browser",
    "overrides",
    "resolutions",
    "_moduleAliases",
    "alias",
    "autoload",
    "autoload-dev",
)
BUILT_IN = frozenset(
    {"assert", "buffer", "child_process", "crypto", "events", "fs", "http", "https", "net", "os", "path", "process", "stream", "timers", "url", "util", "zlib"}
)  # fmt: skip
Mapped = tuple[str, str]  # a name, and the file it is mapped to
Exists = Callable[[str], bool]


def stand_ins(path: str, before: str, after: str, exists: Exists, declared: frozenset[str]) -> Iterator[Mapped]:
    """The names that a change to a manifest maps to a stand-in: a test file, or another file although the old one still exists."""
    old, new = (dict(_mappings(path, text)) for text in (before, after))
    here = dirname(path)
    for name, target in new.items():
        if old.get(name) == target:
            continue
        moved = name in old and exists(normpath(join(here, old[name]))) and not set("*") & set(old[name])
        bare = name.rpartition(":")[2].removesuffix("/*")
        hides = (
            bare.lower().replace("-", "_") in declared
            or bare.removeprefix("node:") in BUILT_IN
            or _is_file(normpath(join(here, bare)), exists)
        )
        if is_named_as_test(normpath(join(here, target))) or moved or (hides and ":paths:" in f":{name}"):
            yield bare, target


def _is_file(path: str, exists: Exists) -> bool:
    return any(exists(f"{path}{end}") for end in ENDS)


def _mappings(path: str, text: str) -> Iterator[Mapped]:
    """Each name that a manifest maps, prefixed with its keys, and the target file."""
    try:
        table = json.loads(jsonc(text) or "{}")
    except (ValueError, RecursionError):
        return
    if not isinstance(table, dict):
        return
    if PurePosixPath(path).name in ("package.json", "composer.json", "deno.json"):
        for key in PACKAGE:
            yield from _leaves(key, table.get(key))
        return
    options = table.get("compilerOptions")
    for key in ("paths", "baseUrl", "rootDirs"):
        if not isinstance(options, dict):
            return
        yield from _leaves(key, options.get(key))


def _leaves(key: str, value: object) -> Iterator[Mapped]:
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, list):
        for n, each in enumerate(value):
            yield from _leaves(f"{n}:{key}" if n else key, each)
    elif isinstance(value, dict):
        for name, each in value.items():
            yield from _leaves(f"{key}:{name}", each)


def aliased(text: str, lines: Collection[int]) -> Iterator[int]:
    """The new lines in a configuration file that map a name to a stand-in."""
    rows = text.split("\n")
    for number in sorted(lines):
        around = "\n".join(rows[max(0, number - 8) : number])
        if number <= len(rows) and STAND_IN.search(rows[number - 1]) and ALIASED.search(around) and re.search(r"[:=>]", rows[number - 1]):
            yield number


def replaced_in_go(before: str, after: str) -> Iterator[str]:
    """The modules that a go.mod or go.work newly replaces."""
    found = [set(re.findall(r"^\s*(?:replace\s+)?(\S+)(?:\s+v\S+)?\s+=>\s+\S+", text, re.MULTILINE)) for text in (before, after)]
    yield from sorted(found[1] - found[0])


def scripts_moved(before: str, after: str, has: Callable[[str, str, str], bool]) -> Iterator[Mapped]:
    """The scripts in pyproject.toml that now point to another module although the old function still exists."""
    import tomllib

    sides = list[dict[str, str]]()
    for text in (before, after):
        try:
            whole = tomllib.loads(text)
        except tomllib.TOMLDecodeError:
            return
        tables = (
            whole.get("project", {}).get("scripts"),
            whole.get("project", {}).get("gui-scripts"),
            whole.get("tool", {}).get("poetry", {}).get("scripts"),
        )
        sides.append(
            {name: target for table in tables if isinstance(table, dict) for name, target in table.items() if isinstance(target, str)}
        )
    for name, target in sides[1].items():
        was, now = (each.partition(":")[0].strip().replace(".", "/") for each in (sides[0].get(name, target), target))
        function = sides[0].get(name, target).partition(":")[2].strip().partition(".")[0]
        if was != now and any(
            has(f"{root}{was}{end}", function, now.rpartition("/")[2]) for root in ("", "src/") for end in (".py", "/__init__.py")
        ):
            yield name, target


def replaced_in_cargo(before: str, after: str) -> Iterator[str]:
    """The changed entries of a Cargo.toml that replace crates, or point the library at a test file."""
    import tomllib

    sides = []
    for text in (before, after):
        try:
            sides.append(tomllib.loads(text))
        except tomllib.TOMLDecodeError:
            sides.append({})
    for key in ("patch", "replace"):
        if sides[1].get(key) and sides[0].get(key) != sides[1].get(key):
            yield f"[{key}]"
    lib = [side.get("lib", {}).get("path", "") for side in sides]
    if lib[1] and lib[0] != lib[1] and is_named_as_test(lib[1]):
        yield f"[lib] path = {lib[1]}"


def mocks(path: str, text: str, lines: Collection[int], changed: Collection[str]) -> Iterator[tuple[int, str]]:
    """The changed modules that a test file mocks although it tests them: it is named after them, imports nothing else, or is a setup file."""
    about = {found for each in IMPORTED.findall(text) if (found := _resolved(path, each, changed))}
    stem = re.sub(r"[._-](?:test|spec)$|^test[._-]", "", PurePosixPath(path).stem)
    for hit in MOCKED.finditer(text):
        line, target = text.count("\n", 0, hit.start()) + 1, _resolved(path, hit[1], changed)
        if not target or line not in lines:
            continue
        others = [
            each
            for each in IMPORTED.findall(text)
            if not _resolved(path, each, {target}) and not is_named_as_test(normpath(join(dirname(path), each)))
        ]
        if PurePosixPath(target).stem == stem or not A_TEST.search(text) or (about <= {target} and not others):
            yield line, target


def _resolved(path: str, name: str, changed: Collection[str]) -> str:
    """The changed file that an import refers to; empty if none."""
    if not name.startswith("."):
        return next(
            (
                each
                for each in changed
                if re.sub(r"^[@~#][\w-]*/", "", name) in (each.removeprefix("src/"), re.sub(r"\.\w+$", "", each.removeprefix("src/")))
            ),
            "",
        )
    full = normpath(join(dirname(path), name))
    plain = re.sub(r"\.(?:js|mjs|cjs|jsx)$", "", full)
    return next((each for base in (full, plain) for end in ENDS if (each := f"{base}{end}") in changed), "")


HELD = re.compile(r"^(?:var\s+|\t)(\w+)[^=\n]*=\s*func\s*\(", re.MULTILINE)
LOADING = re.compile(
    r"^func\s+(?:init\(\)|TestMain\([^)]*\))\s*\{\n(?P<body>.*?)^\}|^var\s+_\s*=\s*func\(\)(?P<once>.*?)^\}|^func\s+init\(\)\s*\{(?P<line>[^\n]*)\}",
    re.MULTILINE | re.DOTALL,
)
KEPT = re.compile(r"^(?:var\s+|\t)(\w+)\b(?!\s*\()[^\n]*\bfunc\s*\(", re.MULTILINE)
PUT = re.compile(r"(?:^|;)\s*(?:\w+\.)?(\w+)\s*(?:\[[^\]\n]*\]\s*)?=(?!=)", re.MULTILINE)
CALLED = re.compile(r"^var\s+_[^=\n]*=\s*(\w+)\(", re.MULTILINE)


def functions_in_variables(text: str) -> frozenset[str]:
    """The variables in a Go file that are assigned a function literal."""
    return frozenset(HELD.findall(text))


def kept_functions(text: str) -> frozenset[str]:
    """The variables in a Go file that can hold functions: one, a slice or a map of them."""
    return frozenset(KEPT.findall(text))


def put_when_loaded(text: str) -> Iterator[tuple[int, str]]:
    """What a Go file assigns at initialization or before all tests, also by a function that is called then: line and name."""
    called = [
        re.compile(rf"^func {name}\([^)]*\)[^{{\n]*\{{\n(?P<body>.*?)^\}}", re.MULTILINE | re.DOTALL) for name in CALLED.findall(text)
    ]
    for found in (each for pattern in (LOADING, *called) for each in pattern.finditer(text)):
        group = next(name for name, matched in found.groupdict().items() if matched is not None)
        for put in PUT.finditer(found[group]):
            yield text.count("\n", 0, found.start(group) + put.start(1)) + 1, put[1]
