"""Edits the text of detent.toml: which keys it sets, and adding keys without changing what a person wrote."""

import json
import re
import tomllib
from hashlib import sha256

from detent.config.sources import PYPROJECT
from detent.git.place import Place
from detent.interfaces.register.files import read_text

HEADER = "# Written by `detent init` ({}). Change what you like; the keys are in docs/configuration.md of Detent.\n"
HEADER_LINE = re.compile(r"# Written by `detent init` \(([0-9a-f]{16})\)\.[^\n]*\n")
Found = dict[str, str | list[str]]


def set_names(text: str, place: Place) -> set[str]:
    table = tomllib.loads(text) if text else own_table(place) or {}
    return {f"{section}.{key}" for section, keys in table.items() for key in keys}


def own_table(place: Place) -> dict[str, dict[str, object]] | None:
    try:
        tool = tomllib.loads(read_text(place.root / PYPROJECT) or "").get("tool", {})
    except tomllib.TOMLDecodeError:
        return None
    own: dict[str, dict[str, object]] | None = tool.get("detent")
    return own


def merged(old: str, missing: Found) -> str | None:
    """The text with the missing keys added, each in its section; None if the result would not parse to exactly that."""
    body = HEADER_LINE.sub("", old, count=1) if (ours := not old or is_ours(old)) else old
    for name, value in missing.items():
        section, _, key = name.partition(".")
        line = f"{key} = {toml_text(value)}\n"
        header = re.search(rf"^[ \t]*\[[ \t]*{section}[ \t]*\][ \t]*(?:#[^\n]*)?(?:\r?\n|\Z)", body, re.MULTILINE)
        if header:
            start = body[: header.end()]
            body = start + ("" if start.endswith("\n") else "\n") + line + body[header.end() :]
        else:
            body = body + ("" if not body or body.endswith("\n") else "\n") + f"\n[{section}]\n{line}"
    new = _headed(body) if ours else body
    return new if _says_the_same(old, missing, new) else None


def _says_the_same(old: str, missing: Found, new: str) -> bool:
    wanted = tomllib.loads(old)
    for name, value in missing.items():
        section, _, key = name.partition(".")
        wanted.setdefault(section, {})[key] = value
    try:
        return tomllib.loads(new) == wanted
    except tomllib.TOMLDecodeError:
        return False


def _headed(body: str) -> str:
    return HEADER.format(_print_of(body)) + body


def _print_of(body: str) -> str:
    return sha256(body.encode()).hexdigest()[:16]


def is_ours(text: str) -> bool:
    """Whether a text is exactly what init wrote."""
    header = HEADER_LINE.match(text)
    return header is not None and _headed(text[header.end() :]) == text


def toml_text(value: str | list[str]) -> str:
    return json.dumps(value, ensure_ascii=False)
