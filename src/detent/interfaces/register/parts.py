"""The kinds of files that a registration changes: JSON entries, a file of our own, a TOML block. Each gives the text with and without ours.

In TOML ours is a block at the end, so that comments and order are kept.
"""

import tomllib
from typing import Any, NamedTuple, Protocol

from detent.errors import DetentError
from detent.interfaces.register.json_file import JsonEntry, json_with, json_without


class ClientFile(Protocol):
    """A file of the project that a client reads, with our part added or taken out."""

    @property
    def path(self) -> str: ...
    def added(self, text: str | None) -> str: ...
    def taken(self, text: str) -> str | None: ...


class JsonPart(NamedTuple):
    """Entries in a JSON file. Items of lists are ours if they call this client's hook."""

    path: str
    client: str
    entries: tuple[JsonEntry, ...]

    def added(self, text: str | None) -> str:
        return json_with(self.path, text, self.entries, self._ours)

    def taken(self, text: str) -> str | None:
        return json_without(self.path, text, self.entries, self._ours)

    def _ours(self, item: dict[str, Any]) -> bool:
        hooks = item.get("hooks")
        asked = [item, *(hook for hook in hooks if isinstance(hook, dict))] if isinstance(hooks, list) else [item]
        calls = [str(hook.get("command", hook.get("bash", ""))) for hook in asked]
        return any("detent" in call and call.endswith(f" hook {self.client}") for call in calls)


class OwnFile(NamedTuple):
    """A file that is ours alone; a foreign one of that name is never changed."""

    path: str
    text: str

    def added(self, text: str | None) -> str:
        if text is not None and not self._ours(text):
            raise DetentError(f"{self.path} is there already, and `detent init` did not write it", "move it away; nothing was changed")
        return self.text

    def taken(self, text: str) -> str | None:
        return None if self._ours(text) else text

    def _ours(self, text: str) -> bool:
        return text.partition("\n")[0] == self.text.partition("\n")[0]


class TomlPart(NamedTuple):
    """A block at the end of a TOML file that sets `keys`."""

    path: str
    lines: str
    keys: tuple[str, ...]

    def added(self, text: str | None) -> str:
        return toml_with(self.path, text, self.lines, self.keys)

    def taken(self, text: str) -> str | None:
        return toml_without(text)


BEGIN, END = "# >>> written by `detent init`", "# <<< detent"


def block(lines: str) -> str:
    return f"{BEGIN}\n{lines}{END}\n"


def toml_with(name: str, text: str | None, lines: str, keys: tuple[str, ...]) -> str:
    """The text with our block at its end; unchanged if the keys are set already."""
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
    """The text without our block and the blank line before it; None if nothing is left. Unchanged if a marker line is gone."""
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
