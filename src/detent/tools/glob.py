"""Glob: find files by name, newest first."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Annotated

from msgspec import Meta, Struct

from detent.errors import ToolError
from detent.tools.globs import alternatives, expression, source
from detent.tools.search import Query, SearchHit, search
from detent.tools.tool_paths import CONTROL, MOST, one_line, relative
from detent.tools.tool_values import ToolResult, ToolRoom

PATHS = 200
PLAIN = re.compile(r"[\w./*?-]+")

DESCRIPTION = f"""Finds files of the workspace by a pattern for their paths, such as **/*.py or src/**/*.{{ts,tsx}}; those changed last come first, at most {PATHS}.
** stands for any folders, * and ? for letters within a name; a pattern without a slash is for names in every folder.
What .gitignore leaves out, .git and symbolic links are not shown; hidden files are."""


class GlobArguments(Struct, frozen=True, forbid_unknown_fields=True):
    pattern: Annotated[str, Meta(description="The pattern, relative to path.")]
    path: Annotated[str, Meta(description="The folder to look in; the workspace if left out.")] = "."


def glob(room: ToolRoom, args: GlobArguments) -> ToolResult:
    start = folder(room, args.path)
    pattern = check_pattern(room, args.pattern, start)
    only = narrowed(pattern, start)
    found = search(room, Query("files", start=start, only=only))
    hits = matching(found, pattern, start)
    first = list(islice(hits, PATHS))
    there = room.files.those_there(first)
    if not there:
        return ToolResult(f"No file matches {args.pattern} in {start or 'the workspace'}.")
    # Almost all remaining candidates match if the search was narrowed; matching 50,000 paths would take longer than it helps.
    most = bool(room.rg and only and len(first) == PATHS)
    left = found.data.count(b"\0") - PATHS if most else sum(1 for _ in hits)
    return ToolResult("\n".join([*fitting([one_line(p) for p in there]), *_more(left, "up to " if most else "", found.whole)]))


def folder(room: ToolRoom, path: str) -> str:
    """The folder where a search starts."""
    start = relative(room.files.roots, path)
    if not room.files.is_folder(start):
        raise ToolError(f"{path} is a file, not a folder.")
    return start


def check_pattern(room: ToolRoom, pattern: str, start: str) -> str:
    """The validated pattern, relative to the start of the search; one without a slash matches names in every folder."""
    if not pattern or CONTROL.search(pattern):
        raise ToolError("The pattern is empty or holds control characters.")
    inside = relative(room.files.roots, pattern)
    if pattern.startswith("/") and start:
        if not inside.startswith(start + "/"):
            raise ToolError(f"{pattern} is not below {start}. Leave path out, or give a pattern relative to it.")
        inside = inside[len(start) + 1 :]
    whole = f"{inside}/**" if pattern.endswith("/") else inside if "/" in pattern else f"**/{inside}"
    expression(whole, wide=True)
    return whole


def narrowed(pattern: str, start: str) -> tuple[str, ...]:
    """The pattern as globs for the search program, if it has no syntax that the program might read differently; else ()."""
    globs = tuple(f"{start}/{each}" if start else each for each in alternatives(pattern))
    return globs if all(PLAIN.fullmatch(glob) for glob in globs) else ()


def matching(found: SearchHit, pattern: str, start: str) -> Iterator[str]:
    """The candidates that match, as paths of the workspace, in order."""
    text = "\0" + found.data.decode("utf-8", "surrogateescape")
    below = re.escape(start + "/") if start else ""
    return (hit[1] for hit in re.finditer(f"\0(?:\\./)?({below}(?:{source(pattern, wide=True)}))(?=\0)", text))


def fitting(lines: list[str]) -> list[str]:
    """As many lines as fit into an answer."""
    size = 0
    for count, line in enumerate(lines):
        size += len(line) + 1
        if size > MOST:
            return [*lines[:count], f"[… {len(lines) - count} more lines left out: too long]"]
    return lines


def _more(left: int, about: str, whole: bool) -> list[str]:
    if whole and left <= 0:
        return []
    return [f"[{about if whole else 'at least '}{left:,} more files; use a narrower pattern or path]"]
