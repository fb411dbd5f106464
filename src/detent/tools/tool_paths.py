"""Text for the model, with hidden characters escaped and bounded length; and validation of the paths it gives."""

import os
import re

from detent.errors import ToolError

MOST = 30_000  # characters per answer
WIDTH = 2_000  # characters per line
HEAD = 2 * MOST // 3

# Control characters except tab and line feed; soft hyphen, direction marks, zero-width, separators, tags; lone surrogates.
HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)


def visible(text: str) -> str:
    """The text with every hidden or control character escaped (ESC as \\x1b). The result is always valid Unicode."""
    return HIDDEN.sub(_written, text)


def one_line(name: str) -> str:
    """A file name with line breaks and tabs escaped as well, so that it cannot fake further lines."""
    return visible(name).replace("\n", "\\x0a").replace("\t", "\\x09")


def _written(found: re.Match[str]) -> str:
    code = ord(found[0])
    if 0xDC80 <= code <= 0xDCFF:  # a byte that is not UTF-8
        code -= 0xDC00
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def shorten(line: str, width: int = WIDTH) -> str:
    """A line cut to a width, saying so."""
    return line if len(line) <= width else f"{line[:width]} [… {len(line) - width:,} more characters in this line]"


def cut_middle(text: str, rest: str) -> str:
    """Head and tail of a long text, with a note between them that says how to see the rest."""
    if len(text) <= MOST:
        return text
    return f"{text[:HEAD]}\n[… {len(text) - MOST:,} characters left out here. {rest}]\n{text[HEAD - MOST :]}"


CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
DRIVE = re.compile(r"[A-Za-z]:[\\/]|\\\\")
OURS = ".git"  # no business of any tool


def relative(roots: tuple[str, ...], text: str) -> str:
    """The normalised path below the workspace, without `.`, `..` or empty parts; empty for the workspace itself."""
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
