"""Write: create or replace a whole file."""

from typing import Annotated

from msgspec import Meta, Struct

from detent.errors import ToolError
from detent.tools.beneath import FileStamp
from detent.tools.tool_paths import relative
from detent.tools.tool_values import ToolResult, ToolRoom

DESCRIPTION = """Writes a whole file of the workspace: creates it, with the folders it needs, or replaces what is there. Its permissions are kept.
To change a part of a file use Edit. Which files may be written depends on the state of the work; a refusal names them."""


class WriteArguments(Struct, frozen=True, forbid_unknown_fields=True):
    file_path: Annotated[str, Meta(description="The file: absolute below the workspace, or relative to it.")]
    content: Annotated[str, Meta(description="The whole content of the file.")]


def write(room: ToolRoom, args: WriteArguments) -> ToolResult:
    path = target(room, args.file_path)
    data = encoded(args.content, "content")
    put(room, path, data)
    lines = data.count(b"\n") + (not data.endswith(b"\n") and data != b"")
    return ToolResult(f"{path} was written: {lines:,} lines, {len(data):,} bytes.")


def target(room: ToolRoom, file_path: str) -> str:
    """The path of a file that may be written now; ToolError before anything is touched."""
    path = relative(room.files.roots, file_path)
    if not path or file_path.endswith(("/", "/.")):
        raise ToolError(f"{file_path} names a folder. Give the path of a file.")
    if why := room.may_write(path):
        raise ToolError(why)
    return path


def encoded(text: str, name: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as e:
        raise ToolError(f"{name} is not valid text at character {e.start + 1}: half a surrogate pair. Nothing was written.") from e


def put(room: ToolRoom, path: str, data: bytes, expected: FileStamp | None = None) -> None:
    room.seen[path] = room.files.replace(path, data, expected)
