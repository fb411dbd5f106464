"""Path patterns: `**` for any folders, `*` and `?` within a name; in searches also `[a-z]` and `{a,b}`. And whether a state lets a path be
written. Pure.

The generated regular expressions never backtrack into what a star has matched (the earliest match is as good as any), so that no pattern
is slow.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from itertools import groupby

from detent.errors import ToolError
from detent.kernel.permit import Permit, why_not

LONGEST = 1_000
ALTERNATIVES = 100
BRACES = re.compile(r"\{([^{}]*)\}")
TOKEN = re.compile(r"\*+|\?|\[[!^]?\]?[^\]]*\]|[^*?\[]+|\[", re.DOTALL)


@lru_cache(256)
def expression(pattern: str, wide: bool = False, any_case: bool = False) -> re.Pattern[str]:
    """The regular expression that matches whole relative paths. `wide` enables classes and alternatives, otherwise literal characters."""
    if len(pattern) > LONGEST:
        raise ToolError(f"The pattern is longer than {LONGEST:,} characters.")
    try:
        return re.compile(source(pattern, wide), re.IGNORECASE if any_case else 0)
    except re.error as e:
        raise ToolError(f"The pattern {pattern} cannot be read: {e}.") from e


def source(pattern: str, wide: bool = False) -> str:
    """The expression's source. It never matches NUL, so it can be searched for in NUL-separated paths."""
    return "|".join(f"(?:{_path(each, wide)})" for each in (alternatives(pattern) if wide else [pattern]))


def alternatives(pattern: str) -> list[str]:
    """Every pattern that the braces stand for."""
    todo, done = [pattern], list[str]()
    while todo:
        if len(todo) + len(done) > ALTERNATIVES:
            raise ToolError(f"The braces of the pattern stand for more than {ALTERNATIVES} patterns.")
        each = todo.pop()
        if found := BRACES.search(each):
            todo += [each[: found.start()] + choice + each[found.end() :] for choice in found[1].split(",")]
        elif "{" in each or "}" in each:
            raise ToolError(f"The pattern {pattern} has a brace without its other half.")
        else:
            done.append(each)
    return done


def _path(pattern: str, wide: bool) -> str:
    """Sequences of names, separated by any number of folders where `**` stands."""
    names = [name for name in pattern.split("/") if name]
    runs = [["**"] if deep else [_name(n, wide) for n in group] for deep, group in groupby(names, lambda n: n == "**")]
    out = ""
    for at, run in enumerate(runs):
        last, after_deep = at == len(runs) - 1, at > 0  # two consecutive runs have `**` between them
        if run == ["**"]:
            out += "[^\0]+" if last else ""
        elif last:
            out += ("(?:[^/\0]+/)*" if after_deep else "") + "/".join(run)
        else:
            out += f"(?>(?:[^/\0]+/)*?{'/'.join(run)}/)" if after_deep else "/".join(run) + "/"
    return out


def _name(name: str, wide: bool) -> str:
    """One name; the text between two stars is matched as early as possible."""
    pieces = [""]
    for token in TOKEN.findall(name):
        if token.startswith("*"):
            pieces.append("")
        else:
            pieces[-1] += (
                "[^/\0]" if token == "?" else _letters(token) if wide and token.startswith("[") and len(token) > 2 else re.escape(token)
            )
    first, *others = pieces
    return first + "".join(f"(?>[^/\0]*?{p})" for p in others[:-1]) + "".join(f"[^/\0]*{p}" for p in others[-1:])


def _letters(token: str) -> str:
    inner = token[1:-1]
    no = inner[0] in "!^"
    inner = re.sub(r"([\\\[\]^&~|])", r"\\\1", inner[no:])
    return f"[^/\0{inner}]" if no else f"(?![/\0])[{inner}]"


def writable(
    globs: tuple[str, ...], protected: tuple[str, ...], phase: str = "", is_test: Callable[[str], bool] = lambda path: False
) -> Callable[[str], str | None]:
    """A function that says why a path may not be written, or None if it may. Protected paths stay so whatever `globs` say."""
    permit = Permit(list(globs), list(protected), phase)
    return lambda path: why_not(permit, path, is_test, matches)


def matches(glob: str, path: str, any_case: bool) -> bool:
    return expression(glob, any_case=any_case).fullmatch(path) is not None
