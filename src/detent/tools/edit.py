"""Edit: replace one exact text in a file, or say why not."""

from typing import Annotated

from msgspec import Meta, Struct

from detent.errors import ToolError
from detent.tools.beneath import MOST, FileContent
from detent.tools.miss import occurrences, why_missed
from detent.tools.tool_values import ToolResult, ToolRoom
from detent.tools.write import encoded, put, target

DESCRIPTION = """Replaces old_string with new_string in a file of the workspace. old_string must occur exactly, including white space, and only once;
with replace_all every place is replaced.
Leave out the line numbers that Read shows. CRLF line endings are kept. Which files may be written depends on the state of the work."""


class EditArguments(Struct, frozen=True, forbid_unknown_fields=True):
    file_path: Annotated[str, Meta(description="The file: absolute below the workspace, or relative to it.")]
    old_string: Annotated[
        str, Meta(description="The text to replace, exactly as it is in the file, with enough around it to be found once.")
    ]
    new_string: Annotated[str, Meta(description="The text to put in its place.")]
    replace_all: Annotated[bool, Meta(description="Replace every place where old_string is found.")] = False


def edit(room: ToolRoom, args: EditArguments) -> ToolResult:
    if not args.old_string:
        raise ToolError("old_string is empty. Give the text to replace; a new file is made with Write.")
    if args.old_string == args.new_string:
        raise ToolError("old_string and new_string are the same, so there is nothing to change.")
    path = target(room, args.file_path)
    found = room.files.read(path)
    text = _text(path, found)
    old, new = _with_its_line_ends(text, args.old_string, args.new_string)
    times = text.count(old)
    if times == 0:
        raise ToolError(f"old_string is not in {path}. {_changed(room, path, found)}{why_missed(text, args.old_string)}")
    if times > 1 and not args.replace_all:
        raise ToolError(f"old_string is in {path} {occurrences(text, old, times)} Give more of the text around it, or set replace_all.")
    if len(text) + times * (len(new) - len(old)) > MOST:
        raise ToolError(f"{path} would become larger than {MOST:,} characters. Nothing was changed.")
    put(room, path, encoded(text.replace(old, new), "new_string"), found.stamp)
    line = text.count("\n", 0, text.index(old)) + 1
    return ToolResult(
        f"{path} was changed in {times} places, first in line {line}." if times > 1 else f"{path} was changed in line {line}."
    )


def _text(path: str, found: FileContent) -> str:
    if not found.whole:
        raise ToolError(f"{path} has {found.stat.st_size:,} bytes, which is too much for Edit. Change it with Bash.")
    try:
        text = found.data.decode()
    except UnicodeDecodeError as e:
        raise ToolError(f"{path} is not UTF-8 (byte {e.start}), so Edit would damage it. Nothing was changed.") from e
    if "\0" in text:
        raise ToolError(f"{path} is a binary file, so Edit would damage it. Nothing was changed.")
    return text


def _with_its_line_ends(text: str, old: str, new: str) -> tuple[str, str]:
    """Models write plain line feeds. In a CRLF file both strings get CRLF; in a mixed one, only if they are not found otherwise."""
    pairs = text.count("\r\n")
    if not pairs or (pairs < text.count("\n") and old in text):
        return old, new
    return _crlf(old), _crlf(new)


def _crlf(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", "\r\n")


def _changed(room: ToolRoom, path: str, found: FileContent) -> str:
    known = room.seen.get(path)
    return "The file changed since you last read or wrote it: Read it again. " if known and known != found.stamp else ""
