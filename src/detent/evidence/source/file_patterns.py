"""Patterns of file names as projects write them for test runners: globs with braces and groups, folders, regular expressions.
Also which folders hold tests and which files are documents, by name. Pure.

`verify_*.py` matches a name in any folder, `checks/**/*.js` a path from the root, `checks/` everything below a folder, `re:…` a regular
expression searched in the path; a leading `!` excludes what the pattern matches.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import PurePosixPath

LONGEST = 1000
SOURCES = frozenset({"", ".", "src", "lib", "libs", "app", "source", "sources", "packages", "pkg", "cmd", "internal", "main"})
ALTERNATIVES = 64  # the most that the braces of one pattern may expand to
OPENS = {"?(": "(?:", "+(": "(?:", "*(": "(?:", "@(": "(?:", "!(": "(?:(?!(?:"}  # groups of extended globs
CLOSES = {"?(": ")?", "+(": ")+", "*(": ")*", "@(": ")", "!(": ")(?:[./]|$))[^/]*)"}
TOKEN = re.compile(r"[?+*@!]\(|\*+(?!\()|\?|\[[!^]?\]?[^\]/]*\]|[)|]|[^?+*@!\[)|]+|.", re.DOTALL)
BRACES = re.compile(r"\{([^{}]*)\}")
TESTS = re.compile(
    r"tests?|__tests?__|__mocks__|__snapshots__|__fixtures__|testdata|test[-_](?:data|files|fixtures|resources)|cassettes|e2e"
    r"|(?:unit|integration|functional|acceptance|system|smoke|regression|api|e2e|end-to-end|type|typing|types|mypy|pyright|compat|contract|component"
    r"|browser|property|fuzz|conformance|golden|snapshot|doc|docs|perf|performance|stress|cli)[-_]?tests?|tests[-_][\w-]+"
)
ALWAYS_DATA = (".snap", ".ambr", ".snapshot")  # snapshots of vitest, jest and insta, of syrupy, of node


def matches(pattern: str, path: str) -> bool:
    """Whether a pattern, without its `!`, matches a path relative to the root."""
    if pattern.startswith("re:"):
        found = _expression(pattern[3:])
        return found is not None and found.search(f"/{path}") is not None
    plain = pattern.removeprefix("./").removeprefix("/")
    parts = path.split("/")
    for each in _alternatives(plain.rstrip("/")):
        ends = _ends(each, parts)
        if any(end < len(parts) for end in ends):
            return True  # a folder above it matches
        if not plain.endswith("/") and (len(parts) in ends or ("/" not in each and 1 in _ends(each, parts[-1:]))):
            return True
    return False


def ask_patterns(patterns: tuple[str, ...], path: str) -> bool | None:
    """Whether the last matching pattern includes or excludes a path; None if none matches."""
    found = next((each for each in reversed(patterns) if matches(each.removeprefix("!"), path)), None)
    return None if found is None else not found.startswith("!")


def is_outside(path: str) -> bool:
    """Whether a path points outside the project."""
    return path.startswith(("/", "…/")) or ".." in path.split("/")


def folders(names: Iterable[str], product: Iterable[str] = ()) -> tuple[str, ...]:
    """Test folders named by a configuration, as patterns, without those that also hold the product."""
    ours = {_plain(name) for name in product} | SOURCES
    clean = [each.strip().removeprefix("./").rstrip("/") for each in names]
    return tuple(f"{each}/" for each in clean if not is_outside(each) and _plain(each.rpartition("/")[2]) not in ours)


def telling_patterns(patterns: Iterable[str]) -> tuple[str, ...]:
    """The patterns that tell tests from code, by part of the name or by a folder that is no source folder."""
    return tuple(each for each in patterns if not is_outside(each.removeprefix("!")) and _tells(each))


def _tells(pattern: str) -> bool:
    *above, name = pattern.removeprefix("!").removeprefix("./").split("/")
    stem = re.sub(r"\.[^.]*$", "", re.sub(r"\.\{[^}]*\}$", "", name))  # without the file ending
    literal = [part for part in above if part and not set("*?{[(") & set(part)]
    return bool(re.search(r"[A-Za-z]{2}", stem)) or bool(literal and literal[-1] not in SOURCES)


def _plain(name: str) -> str:
    return name.replace("-", "_").lower()


@lru_cache(512)
def _expression(text: str) -> re.Pattern[str] | None:
    try:
        return re.compile(text) if len(text) <= LONGEST else None
    except (re.error, OverflowError):
        return None


@lru_cache(512)
def _alternatives(pattern: str) -> tuple[str, ...]:
    """The patterns that the braces expand to; none if there are too many."""
    todo, done = [pattern], list[str]()
    while todo and len(todo) + len(done) <= ALTERNATIVES:
        each = todo.pop()
        found = BRACES.search(each)
        if found:
            todo += [each[: found.start()] + choice + each[found.end() :] for choice in found[1].split(",")]
        else:
            done.append(each)
    return () if todo else tuple(done)


def _ends(pattern: str, parts: list[str]) -> set[int]:
    """How many leading parts of a path the pattern can match, as all possible counts."""
    at, names = {0}, pattern.split("/")
    for place, name in enumerate(names):
        if name == "**":
            least = min(at, default=len(parts)) + (place == len(names) - 1)
            at = set(range(least, len(parts) + 1))
        else:
            rule = _name(name)
            at = {each + 1 for each in at if each < len(parts) and rule is not None and rule.fullmatch(parts[each])}
    return at


@lru_cache(512)
def _name(pattern: str) -> re.Pattern[str] | None:
    """The regular expression for one path part. Text after a star is matched as early as possible, so no pattern is slow."""
    pieces, opened = [""], list[str]()
    for token in TOKEN.findall(pattern):
        if token in OPENS:
            opened.append(token)
            pieces[-1] += OPENS[token]
        elif opened and token in ")|":
            pieces[-1] += "|" if token == "|" else CLOSES[opened.pop()]
        elif token.startswith("*") and not opened:
            pieces.append("")
        else:
            pieces[-1] += _letters(token)
    first, *others = pieces
    return _expression(first + "".join(f"(?>[^/]*?{each})" for each in others[:-1]) + "".join(f"[^/]*{each}" for each in others[-1:]))


def _letters(token: str) -> str:
    if token.startswith("[") and len(token) > 2:
        return re.sub(r"^\[!", "[^", token)
    return "[^/]*" if token.startswith("*") else "[^/]" if token == "?" else re.escape(token)


def is_below_tests(path: str) -> bool:
    """Whether a file is in a folder with a test name, or is a snapshot, or is a link with such a name."""
    where = PurePosixPath(path)
    if path.startswith("src/main/") or "/src/main/" in path:
        return False  # Maven's folder for the product, whatever its packages are called
    if any(TESTS.fullmatch(part) for part in where.parts[:-1]) or path.endswith(ALWAYS_DATA):
        return True
    return bool(where.parts) and TESTS.fullmatch(where.parts[-1]) is not None  # folders are not listed as files, but links to them are


ENDS = (".md", ".markdown", ".rst", ".adoc", ".asciidoc", ".org", ".svg", ".png", ".jpg", ".jpeg", ".gif", ".ico", ".po", ".pot", ".mo")
NAMES = re.compile(r"(?i)^(?:license|licence|copying|notice|authors|contributors|changelog|changes|history|news|readme)(?:\.|$)")
FOLDERS = frozenset({"docs", "doc", "documentation", "changelog.d", "changes", "newsfragments", "news"})
PLAIN = ("", ".txt", ".text")  # allowed endings of these names: `history.tsx` is a program
LICENCES = ("COPYING.LESSER", "COPYING.LIB", "LICENSE.MIT", "LICENSE.APACHE", "LICENSE.APACHE2", "LICENSE.BSD")
IN_FOLDERS = (".txt", ".html", ".css", "")  # in other folders these may be requirements, templates, programs


def is_document(path: str) -> bool:
    """Whether a file is meant for people to read."""
    where = PurePosixPath(path)
    return is_words(path) or (where.name != "CODEOWNERS" and where.suffix.lower() in IN_FOLDERS and bool(FOLDERS & set(where.parts[:-1])))


def is_words(path: str) -> bool:
    """Whether a file is meant for people to read by its own name, in any folder."""
    where = PurePosixPath(path)
    end = where.suffix.lower()
    return end in ENDS or (bool(NAMES.match(where.name)) and (end in PLAIN or where.name in LICENCES))
