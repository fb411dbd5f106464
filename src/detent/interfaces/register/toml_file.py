"""A block of our own at the end of a TOML file of somebody else: comments, order and everything else stay as they are. Pure: text in, text out."""

import tomllib

from detent.errors import DetentError

BEGIN, END = "# >>> written by `detent init`", "# <<< detent"


def block(lines: str) -> str:
    return f"{BEGIN}\n{lines}{END}\n"


def toml_with(name: str, text: str | None, lines: str, keys: tuple[str, ...]) -> str:
    """The text with our lines at its end; the text itself if what they set is set there already."""
    old = _parsed(name, text or "")
    if _has(old, keys):
        return text or ""
    gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
    new = f"{text or ''}{gap}{block(lines)}"
    try:
        sound = _has(tomllib.loads(new), keys)
    except tomllib.TOMLDecodeError:
        sound = False
    if not sound:
        raise DetentError(f"{name} is written in a way that Detent cannot safely add to; nothing was changed", f"add by hand:\n{lines}")
    return new


def toml_without(text: str) -> str | None:
    """The text without our block, and without the blank line before it; None if nothing is left. A block that was changed stays."""
    start = text.find(BEGIN)
    end = text.find(f"{END}\n", start)
    if start < 0 or end < 0:
        return text
    before, after = text[:start], text[end + len(END) + 1 :]
    return (before.removesuffix("\n") if before.endswith("\n\n") else before) + after or None


def _parsed(name: str, text: str) -> dict[str, object]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as e:
        raise DetentError(f"{name} is not TOML: {e}", "fix it first; nothing was changed") from e


def _has(root: object, keys: tuple[str, ...]) -> bool:
    for key in keys:
        if not isinstance(root, dict) or key not in root:
            return False
        root = root[key]
    return True
