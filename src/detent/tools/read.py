"""Read: lines of a file with their numbers."""

import io
from itertools import islice
from typing import Annotated

from msgspec import Meta, Struct

from detent.errors import ToolError
from detent.tools.beneath import MOST, FileContent
from detent.tools.spill import is_kept, read_spilled
from detent.tools.tool_paths import HIDDEN, WIDTH, relative, shorten, visible
from detent.tools.tool_values import ToolResult, ToolRoom

LINES = 2_000
CHARACTERS = 100_000  # per answer
BINARY = 4_000  # per answer for a binary file, of which little is readable
FAR = 1 << 40

DESCRIPTION = f"""Reads a file of the workspace and shows its lines with their numbers, as in `cat -n`.
Shows {LINES:,} lines from the first one, at most {CHARACTERS:,} characters; use offset and limit for other parts. The number and the tab before each line are not part of the file.
Also opens outputs that were too long to be shown, by the name that was given, such as output:bash-1.txt. A folder is listed with Glob, not with Read."""


class ReadArguments(Struct, frozen=True, forbid_unknown_fields=True):
    file_path: Annotated[str, Meta(description="The file: absolute below the workspace, or relative to it.")]
    offset: Annotated[int, Meta(description="The number of the first line to show, from 1.", ge=1, le=FAR)] = 1
    limit: Annotated[int, Meta(description="How many lines to show.", ge=1, le=FAR)] = LINES


def read(room: ToolRoom, args: ReadArguments) -> ToolResult:
    name, found = find_text(room, args.file_path)
    data = found.data[:MOST]
    total = data.count(b"\n") + (not data.endswith(b"\n") and data != b"")
    if total == 0:
        return ToolResult(f"[{name} is empty]")
    if args.offset > total:
        raise ToolError(f"{name} has {total:,} lines; there is no line {args.offset:,}.")
    lines = list(islice(io.BytesIO(data), args.offset - 1, args.offset - 1 + args.limit))
    body = _numbered(lines, args.offset, BINARY if b"\0" in data[:8192] else CHARACTERS)
    last = args.offset + len(body) - 1
    return ToolResult("\n".join([*body, *_notes(name, found, b"".join(lines[: len(body)]), last, total)]))


def find_text(room: ToolRoom, file_path: str) -> tuple[str, FileContent]:
    """A file of the workspace or a kept output, by the name that the model gave."""
    if is_kept(file_path):
        return file_path, read_spilled(room.spill, file_path)
    path = relative(room.files.roots, file_path)
    found = room.files.read(path)
    room.seen[path] = found.stamp
    return path, found


def show_line(line: bytes, width: int = WIDTH) -> str:
    """One line for the model: without its line ending, with hidden characters escaped, cut if too long."""
    line = line.removesuffix(b"\n").removesuffix(b"\r")
    return visible(shorten(line.decode("utf-8", "replace"), width))


def _numbered(lines: list[bytes], first: int, room: int) -> list[str]:
    """As many numbered lines as there is room for, but at least one."""
    out: list[str] = []
    for number, line in enumerate(lines, first):
        text = f"{number:6}\t{show_line(line)}"
        room -= len(text) + 1
        if room < 0 and out:
            break
        out.append(text)
    return out


def _notes(name: str, found: FileContent, part: bytes, last: int, total: int) -> list[str]:
    """Notes on what the numbered lines do not show."""
    notes = []
    if last < total:
        notes.append(f"[{total - last:,} more lines; continue with offset={last + 1}]")
    if not found.whole:
        notes.append(
            f"[{name} has {found.stat.st_size:,} bytes; Read sees the first {MOST:,}. Use Bash, for example tail -c, for the rest]"
        )
    try:
        text = part.decode()
    except UnicodeDecodeError:
        text = part.decode("utf-8", "replace")
        notes.append(f"[{name} is not UTF-8: bytes that are not text are shown as \ufffd, and Edit refuses it]")
    if "\r\n" in text:
        notes.append("[its lines end with CRLF; Edit and its strings keep that by themselves]")
    if HIDDEN.search(text.replace("\r\n", "\n")):
        notes.append("[it holds hidden characters, shown here as \\x.. or \\u....]")
    return notes
