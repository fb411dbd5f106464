"""The search program where ripgrep is missing: searches the current folder, with the same output (see search.Query). Imports nothing of ours.

Runs as a separate process and walks by file descriptors, so symlinks lead it nowhere. Slower, and its patterns are Python's.
"""

import json
import os
import re
import stat
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

MOST = 16 << 20  # bytes searched per file
READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
TYPES = {
    "c": "c h", "cpp": "cpp cc cxx hpp hh h", "css": "css", "go": "go", "html": "html htm", "java": "java", "js": "js jsx mjs cjs", "json": "json",
    "md": "md markdown", "py": "py pyi", "ruby": "rb", "rust": "rs", "sh": "sh bash", "sql": "sql", "toml": "toml", "ts": "ts tsx mts cts",
    "txt": "txt", "yaml": "yaml yml",
}  # fmt: skip


class Rule(NamedTuple):
    """A line of a .gitignore."""

    path: re.Pattern[str]  # relative to the .gitignore's folder
    base: str
    keeps: bool
    folders_only: bool


def main(query: dict[str, Any], start: str) -> int:
    kinds = query["type"]
    if kinds and kinds not in TYPES:
        return _fail(f"unknown file type {kinds}; known: {', '.join(TYPES)}")
    try:
        flags = re.MULTILINE | (re.IGNORECASE if query["any_case"] else 0) | (re.DOTALL if query["multiline"] else 0)
        pattern = re.compile(query["pattern"].encode(), flags)
    except (re.error, UnicodeEncodeError, RecursionError, OverflowError) as e:
        return _fail(f"the pattern cannot be read: {e}")
    out = sys.stdout.buffer
    if start == "-":
        return 0 if _search("<stdin>", sys.stdin.buffer.read(MOST), pattern, query, out.write) else 1
    ends = tuple("." + end for end in TYPES.get(kinds, "").split()) or None
    paths = (item for item in _walk(start.removeprefix("./").rstrip("/")) if ends is None or item[0].endswith(ends))
    if query["mode"] == "files":
        times = sorted(((_changed(path, fd), path) for path, fd in paths), reverse=True)
        return 0 if out.write(b"".join(os.fsencode(path) + b"\0" for _, path in times)) else 1
    return 0 if sum(_search(path, _content(path, fd), pattern, query, out.write) for path, fd in paths) else 1


def _fail(sentence: str) -> int:
    print(sentence, file=sys.stderr)
    return 2


def _walk(start: str) -> Iterator[tuple[str, int]]:
    """(path, descriptor of its folder) of every regular file that is not ignored."""
    rules: dict[str, list[Rule]] = {}
    for folder, names, files, fd in os.fwalk(".", follow_symlinks=False):
        here = folder.removeprefix(".").lstrip("/")
        rules[here] = [*rules.get(os.path.dirname(here) if here else "", []), *_rules(here, files, fd)]
        names[:] = sorted(n for n in names if n.casefold() != ".git" and _leads(f"{here}/{n}".lstrip("/"), start, rules[here]))
        if f"{here}/".startswith(f"{start}/") or not start:
            for name in sorted(files):
                path = f"{here}/{name}".lstrip("/")
                if name.casefold() != ".git" and not _ignored(path, False, rules[here]) and _is_regular(name, fd):
                    yield path, fd


def _is_regular(name: str, folder: int) -> bool:
    try:
        return stat.S_ISREG(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return False


def _changed(path: str, folder: int) -> int:
    try:
        return os.stat(path.rpartition("/")[2], dir_fd=folder, follow_symlinks=False).st_mtime_ns
    except FileNotFoundError:
        return 0


def _leads(folder: str, start: str, rules: list[Rule]) -> bool:
    """Whether a folder leads to the start of the search, or is searched itself."""
    on_the_way = start == folder or start.startswith(folder + "/")
    return on_the_way or ((not start or folder.startswith(start + "/")) and not _ignored(folder, True, rules))


def _rules(here: str, files: list[str], fd: int) -> list[Rule]:
    if ".gitignore" not in files:
        return []
    lines = _content(".gitignore", fd).decode("utf-8", "replace").splitlines()
    return [_rule(here, line.rstrip()) for line in lines if line.strip() and not line.startswith("#")]


def _rule(here: str, line: str) -> Rule:
    keeps, line = line.startswith("!"), line.removeprefix("!")
    folders_only, line = line.endswith("/"), line.rstrip("/")
    line = line.lstrip("/") if "/" in line else f"**/{line}"
    translated = re.escape(line).replace(r"\*\*/", "(?:.*/)?").replace(r"/\*\*", "/.*").replace(r"\*", "[^/]*").replace(r"\?", "[^/]")
    return Rule(re.compile(translated), here, keeps, folders_only)


def _ignored(path: str, is_folder: bool, rules: list[Rule]) -> bool:
    """Whether a path is ignored; the last matching rule decides."""
    for rule in reversed(rules):
        below = path[len(rule.base) :].lstrip("/")
        if (is_folder or not rule.folders_only) and rule.path.fullmatch(below):
            return not rule.keeps
    return False


def _content(path: str, folder: int) -> bytes:
    try:
        fd = os.open(path.rpartition("/")[2], READ, dir_fd=folder)
    except OSError:
        return b""
    with os.fdopen(fd, "rb") as file:
        return file.read(MOST) if stat.S_ISREG(os.fstat(fd).st_mode) else b""


def _search(path: str, data: bytes, pattern: re.Pattern[bytes], query: dict[str, Any], write: Callable[[bytes], object]) -> bool:
    if b"\0" in data and path != "<stdin>":
        return False
    hits = _hits(data, pattern, query["multiline"])
    name = os.fsencode(path) + b"\0"
    if hits and query["mode"] == "names":
        write(name)
    elif hits and query["mode"] == "counts":
        write(b"%s%d\n" % (name, len(hits)))
    elif hits:
        last = data.count(b"\n") + (not data.endswith(b"\n"))
        near = {n for hit in hits for n in range(max(1, hit - query["before"]), min(last, hit + query["after"]) + 1)}
        write(b"".join(b"%s%d%s\n" % (name, n, b":" if n in hits else b"-") for n in sorted(near)))
    return bool(hits)


def _hits(data: bytes, pattern: re.Pattern[bytes], multiline: bool) -> set[int]:
    """The numbers of the matching lines."""
    if not multiline:
        return {n for n, line in enumerate(data.removesuffix(b"\n").split(b"\n"), 1) if pattern.search(line)}
    spans = [(m.start(), max(m.start(), m.end() - 1)) for m in pattern.finditer(data)]
    return {n for a, b in spans for n in range(data.count(b"\n", 0, a) + 1, data.count(b"\n", 0, b) + 2)}


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1]), sys.argv[-1]))
