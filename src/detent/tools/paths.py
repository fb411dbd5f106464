"""Paths as a model writes them: made relative to the workspace, or refused by name. Touches no file."""

import os
import re

from detent.errors import ToolError

CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
DRIVE = re.compile(r"[A-Za-z]:[\\/]|\\\\")
OURS = ".git"  # never the business of a tool


def relative(roots: tuple[str, ...], text: str) -> str:
    """The path below the workspace with no `.`, `..` or double slash left; empty for the workspace itself."""
    if not text:
        raise ToolError("The path is empty. Give one below the workspace, such as src/main.py.")
    if found := CONTROL.search(text):
        raise ToolError(f"The path holds the control character {found[0]!r}. Names with control characters are not opened.")
    if text.startswith("~") or DRIVE.match(text):
        raise ToolError(f"{text} is not a path in the workspace. Give one relative to it (a name that begins with ~ as ./~name).")
    parts = [p for p in _below(roots, text).split("/") if p not in ("", ".")]
    if ".." in parts:
        raise ToolError(f"{text} has '..' in it. Give the path relative to the workspace, without '..'.")
    if any(p.casefold() == OURS for p in parts):
        raise ToolError(f"{text} is in .git, which tools neither read nor write.")
    try:
        os.fsencode(text)
    except UnicodeEncodeError as e:
        raise ToolError(f"The path is not valid text at character {e.start + 1}.") from e
    return "/".join(parts)


def _below(roots: tuple[str, ...], text: str) -> str:
    if not text.startswith("/"):
        return text
    for root in roots:
        if text == root or text.startswith(root.rstrip("/") + "/"):
            return text[len(root) :]
    raise ToolError(f"{text} is outside the workspace {roots[0]}. Only what is below it can be reached.")
