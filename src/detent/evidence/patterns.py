"""Patterns of file names as projects write them for their test runners: globs with braces and groups, folders, regular expressions. Pure.

`verify_*.py` means a name in any folder, `checks/**/*.js` a path from the root, `checks/` everything below a folder, `re:…` a regular
expression that is searched in the path, and `!` before any of them takes out what it matches.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

LONGEST = 1000
SOURCES = frozenset({"", ".", "src", "lib", "libs", "app", "source", "sources", "packages", "pkg", "cmd", "internal", "main"})
OPENS = {"?(": "(?:", "+(": "(?:", "*(": "(?:", "@(": "(?:", "!(": "(?:(?!(?:", "{": "(?:"}  # groups of extended globs, and braces
CLOSES = {"?(": ")?", "+(": ")+", "*(": ")*", "@(": ")", "!(": ")(?:[./]|$))[^/]*)", "{": ")"}
PLAIN = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
TOKEN = re.compile(r"[?+*@!]\(|\*\*/|\*\*|\*|\?|\[[!^]?\]?[^\]/]*\]|[{},)|]|[^?+*@!\[{},)|]+|.", re.DOTALL)


def matches(pattern: str, path: str) -> bool:
    """Whether a pattern without its `!` means a path, relative to the root."""
    if pattern.startswith("re:"):
        found = _expression(pattern[3:])
        return found is not None and found.search(f"/{path}") is not None
    plain = pattern.removeprefix("./").removeprefix("/")
    folder = plain.rstrip("/")
    rule = _glob(folder)
    if rule is None:
        return False
    parts = path.split("/")
    if any(rule.fullmatch("/".join(parts[:end])) for end in range(1, len(parts))):
        return True  # a folder above it
    return not plain.endswith("/") and rule.fullmatch(path if "/" in plain else parts[-1]) is not None


def said(patterns: tuple[str, ...], path: str) -> bool | None:
    """What the last pattern that means a path says of it; None where none does."""
    found = next((each for each in reversed(patterns) if matches(each.removeprefix("!"), path)), None)
    return None if found is None else not found.startswith("!")


def is_outside(path: str) -> bool:
    """Whether a path leaves the project."""
    return path.startswith(("/", "…/")) or ".." in path.split("/")


def folders(names: Iterable[str], product: Iterable[str] = ()) -> tuple[str, ...]:
    """Folders that a configuration names for tests, as patterns; those that hold the product as well are none."""
    ours = {_plain(name) for name in product} | SOURCES
    clean = [each.strip().removeprefix("./").rstrip("/") for each in names]
    return tuple(f"{each}/" for each in clean if not is_outside(each) and _plain(each.rpartition("/")[2]) not in ours)


def telling(patterns: Iterable[str]) -> tuple[str, ...]:
    """Those patterns that tell tests from code: by a part of the name, or by a folder that is not one of sources."""
    return tuple(each for each in patterns if not is_outside(each.removeprefix("!")) and _tells(each))


def _tells(pattern: str) -> bool:
    *above, name = pattern.removeprefix("!").removeprefix("./").split("/")
    stem = re.sub(r"\.[^.]*$", "", re.sub(r"\.\{[^}]*\}$", "", name))  # without what all code ends in
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
def _glob(pattern: str) -> re.Pattern[str] | None:
    """The regular expression of a glob; one that cannot be read means nothing."""
    out: list[str] = []
    opened: list[str] = []
    for token in TOKEN.findall(pattern):
        if token in OPENS:
            opened.append(token)
            out.append(OPENS[token])
        elif opened and token == ("}" if opened[-1] == "{" else ")"):
            out.append(CLOSES[opened.pop()])
        elif opened and token == ("," if opened[-1] == "{" else "|"):
            out.append("|")
        elif token.startswith("[") and len(token) > 2:
            out.append(re.sub(r"^\[!", "[^", token))
        else:
            out.append(PLAIN.get(token) or re.escape(token))
    return _expression("".join(out))
