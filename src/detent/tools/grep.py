"""Grep: lines, files or counts that match a regular expression."""

import re
from itertools import groupby
from operator import itemgetter
from typing import Annotated, Literal, NamedTuple

from msgspec import Meta, Struct, field

from detent.errors import ToolError
from detent.tools.beneath import FileContent
from detent.tools.glob import check_pattern, fitting, narrowed
from detent.tools.globs import expression
from detent.tools.read import show_line
from detent.tools.search import Query, SearchHit, search
from detent.tools.spill import is_kept, read_spilled
from detent.tools.tool_paths import MOST, one_line, relative
from detent.tools.tool_values import ToolResult, ToolRoom

ENTRIES = 200
WIDTH = 500
AROUND = 1_000
LINE = re.compile(rb"([^\0\n]+)\0(\d+)([:-])")
COUNT = re.compile(rb"([^\0\n]+)\0(\d+)\n")

DESCRIPTION = f"""Searches the files of the workspace with a regular expression of ripgrep, and shows
the files (files_with_matches), the lines (content) or how many lines match (count).
At most {ENTRIES} files or lines are shown unless head_limit says otherwise, and {MOST:,} characters.
Braces and other signs of the syntax need a backslash: interface\\{{\\}}. Without multiline a match is within one line.
What .gitignore leaves out, .git, symbolic links and binary files are not searched; hidden files are."""


class GrepArguments(Struct, frozen=True, forbid_unknown_fields=True):
    pattern: Annotated[str, Meta(description="The regular expression.")]
    path: Annotated[str, Meta(description="The file or folder to search; the workspace if left out.")] = "."
    glob: Annotated[str, Meta(description="Only files whose path below the folder matches, such as *.py or src/**/*.{ts,tsx}.")] = ""
    output_mode: Annotated[
        Literal["content", "files_with_matches", "count"], Meta(description="What to show: matching lines, files, or counts for each file.")
    ] = "files_with_matches"
    any_case: Annotated[bool, Meta(description="Upper and lower case are the same.")] = field(default=False, name="-i")
    numbers: Annotated[bool, Meta(description="Show line numbers, for content.")] = field(default=True, name="-n")
    after: Annotated[int, Meta(description="Lines to show after each match, for content.", ge=0, le=AROUND)] = field(default=0, name="-A")
    before: Annotated[int, Meta(description="Lines to show before each match, for content.", ge=0, le=AROUND)] = field(default=0, name="-B")
    around: Annotated[int, Meta(description="Lines to show before and after, for content.", ge=0, le=AROUND)] = field(default=0, name="-C")
    head_limit: Annotated[int, Meta(description="How many lines, files or counts to show.", ge=1, le=1 << 20)] = ENTRIES
    multiline: Annotated[bool, Meta(description="A match may go over several lines, and . matches line ends.")] = False
    type: Annotated[str, Meta(description="Only files of this type, such as py, js, rust.")] = ""


class Source(NamedTuple):
    """The search program's output, and what was searched."""

    found: SearchHit
    name: str  # the folder or file that was searched
    content: FileContent | None  # set if it is a single file
    only: re.Pattern[str] | None

    def path(self, raw: bytes) -> str | None:
        """The path of a candidate, or None if it was not asked for."""
        if self.content:
            return self.name
        path = raw.removeprefix(b"./").decode("utf-8", "surrogateescape")
        return path if self.only is None or self.only.fullmatch(path, len(self.name) + 1 if self.name else 0) else None


def grep(room: ToolRoom, args: GrepArguments) -> ToolResult:
    if "\0" in args.pattern or not args.pattern:
        raise ToolError("The pattern is empty or holds a NUL character; write \\x00 for one.")
    if "\0" in args.type:
        raise ToolError("The type holds a NUL character.")
    name, content = _searched(room, args.path)
    glob = check_pattern(room, args.glob, name) if args.glob and not content else ""
    found = search(room, _query(args, name, glob, content), content)
    only = expression(glob, wide=True) if glob else None
    lines, left = SHOWN[args.output_mode](room, args, Source(found, name, content, only))
    if not lines:
        return ToolResult(f"Nothing matches {args.pattern} in {name or 'the workspace'}.")
    more = f"[{'' if found.whole else 'at least '}{left:,} more; narrow the search, or raise head_limit]"
    return ToolResult("\n".join([*fitting(lines), *([more] if left or not found.whole else [])]))


def _searched(room: ToolRoom, path: str) -> tuple[str, FileContent | None]:
    """The folder, or the file with its content: a single file is opened here, and only its bytes are searched."""
    if is_kept(path):
        return path, read_spilled(room.spill, path)
    inside = relative(room.files.roots, path)
    return inside, None if room.files.is_folder(inside) else room.files.read(inside)


def _query(args: GrepArguments, name: str, glob: str, content: FileContent | None) -> Query:
    what = Query(MODES[args.output_mode], args.pattern, any_case=args.any_case, multiline=args.multiline)
    if args.output_mode == "content":
        what = what._replace(before=args.before or args.around, after=args.after or args.around)
    return what if content else what._replace(start=name, only=narrowed(glob, name) if glob else (), type=args.type)


def _names(room: ToolRoom, args: GrepArguments, source: Source) -> tuple[list[str], int]:
    paths = sorted(p for raw in source.found.data.split(b"\0")[:-1] if (p := source.path(raw)) is not None)
    there = paths if source.content else room.files.those_there(paths[: args.head_limit])
    return [one_line(p) for p in there], max(0, len(paths) - args.head_limit)


def _counts(room: ToolRoom, args: GrepArguments, source: Source) -> tuple[list[str], int]:
    counts = sorted((p, int(n)) for raw, n in COUNT.findall(source.found.data) if (p := source.path(raw)) is not None)
    known = {source.name} if source.content else set(room.files.those_there([p for p, _ in counts[: args.head_limit]]))
    there = [f"{one_line(p)}:{n}" for p, n in counts[: args.head_limit] if p in known]
    total = [f"[{sum(n for _, n in counts):,} lines in {len(counts):,} files]"] if len(there) > 1 else []
    return [*there, *total], max(0, len(counts) - args.head_limit)


def _lines(room: ToolRoom, args: GrepArguments, source: Source) -> tuple[list[str], int]:
    """The matching lines as they are in the file now; the search program's own copy is not shown."""
    matches = (m for line in source.found.data.split(b"\n") if (m := LINE.match(line)))
    hits = sorted((p, int(m[2]), m[3] == b":") for m in matches if (p := source.path(m[1])) is not None)
    out: list[str] = []
    for path, group in groupby(hits[: args.head_limit], itemgetter(0)):
        try:
            content = source.content or room.files.read(path)
        except ToolError:
            continue  # gone, or no longer a file of the workspace
        out += _of_file(path, content.data.split(b"\n"), [(n, hit) for _, n, hit in group], args, bool(out))
    return out, max(0, len(hits) - args.head_limit)


def _of_file(path: str, lines: list[bytes], hits: list[tuple[int, bool]], args: GrepArguments, rule: bool) -> list[str]:
    out: list[str] = []
    around = bool(args.after or args.before or args.around)
    for (number, hit), before in zip(hits, [None, *(n for n, _ in hits)], strict=False):
        if around and (rule if before is None else number > before + 1):
            out.append("--")
        if number <= len(lines):
            sign = ":" if hit else "-"
            out.append(f"{one_line(path)}{sign}{f'{number}{sign}' if args.numbers else ''}{show_line(lines[number - 1], WIDTH)}")
    return out


MODES = {"content": "lines", "files_with_matches": "names", "count": "counts"}
SHOWN = {"content": _lines, "files_with_matches": _names, "count": _counts}
