"""Answering an agent's permission requests, by the kind of the call and the files it names. Pure; opens no file.

This steers the agent, like a hook; it protects nothing. It trusts what the agent says about the call and lets shells run. The sandbox
contains the program, and whatever it wrote is judged at submit.
"""

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from detent.agents.acp.messages import AcpToolCall, Permission, PermissionOption, decode

MayWrite = Callable[[str], str | None]
FREE = ("read", "search", "think", "execute")
CLOSED = {"fetch": "nothing but the model can be reached from here", "switch_mode": "the mode of this session stays as it is"}
FILE_FIELDS = (
    "file_path",
    "filePath",
    "filepath",
    "path",
    "absolute_path",
    "abs_path",
    "fileName",
    "filename",
    "target_file",
    "notebook_path",
)
TEXT_FIELDS = ("content", "after", "new_string", "newString", "new_str", "file_text", "newText", "new_text", "patch", "diff", "input")
PATCHED = re.compile(r"^\*\*\* (?:Add File|Update File|Delete File|Move to): (.+?)\s*$", re.MULTILINE)
ALLOW, REJECT = ("allow_once", "allow_always"), ("reject_once", "reject_always")


def why_not(call: AcpToolCall, workspace: Path, may_write: MayWrite | None) -> str:
    """Why a call is refused; empty if it is allowed."""
    kind = call.kind or "other"
    if kind in FREE or (kind == "other" and not writes(call)):
        return ""
    if kind in CLOSED:
        return f"{call.title or kind}: {CLOSED[kind]}."
    paths = list(dict.fromkeys(files_of(call)))
    if not paths:
        return f"{call.title or kind}: it does not say which file is changed."
    return next(filter(None, (_file(path, workspace, may_write) for path in paths)), "")


def _file(path: str, workspace: Path, may_write: MayWrite | None) -> str:
    """Why one file may not be written. A symlink is judged by its own path and by its target."""
    root, full = os.path.realpath(workspace), os.path.normpath(os.path.join(workspace, path))
    for name in dict.fromkeys((_below(full, str(workspace)) or _below(full, root), _below(os.path.realpath(full), root))):
        if not name:
            return f"{path} is outside of the workspace."
        if why := may_write(name) if may_write else f"{path} may not be written: nothing may be in this turn.":
            return why
    return ""


def _below(path: str, root: str) -> str:
    return path.removeprefix(f"{root}/") if path.startswith(f"{root}/") else ""


def files_of(call: AcpToolCall) -> Iterator[str]:
    """Every file that a call names, in any of the places that agents use."""
    yield from (place.path for place in call.locations or () if place.path)
    yield from (piece.path for piece in call.content or () if piece.path)
    fields = fields_of(call)
    yield from (value for name in FILE_FIELDS if isinstance(value := fields.get(name), str) and value)
    yield from (found for value in fields.values() if isinstance(value, str) for found in PATCHED.findall(value))


def fields_of(call: AcpToolCall) -> dict[str, object]:
    """The arguments of a call; a plain string becomes {"input": …}."""
    text = decode(call.raw_input, str, "")
    return {"input": text} if text else decode(call.raw_input, dict[str, object], {})


def writes(call: AcpToolCall) -> bool:
    """Whether a call without a kind changes files: it carries new text or a patch."""
    return bool(call.content and any(piece.path for piece in call.content)) or any(name in TEXT_FIELDS for name in fields_of(call))


def chosen(asked: Permission, allowed: bool) -> dict[str, object]:
    """The option to answer with, chosen by its kind; the order and names of the options are the agent's to choose."""
    found = (option for kind in (ALLOW if allowed else REJECT) for option in asked.options if option.kind == kind)
    option: PermissionOption | None = next(found, None)
    return {"outcome": {"outcome": "selected", "optionId": option.option_id} if option else {"outcome": "cancelled"}}
