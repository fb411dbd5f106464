"""One file that a registration touches, whatever its form: the text with our entries, the text without them."""

from typing import Any, NamedTuple, Protocol

from detent.errors import DetentError
from detent.interfaces.register.json_file import JsonEntry, json_with, json_without
from detent.interfaces.register.toml_file import toml_with, toml_without


class ClientFile(Protocol):
    """A file of the project that a client reads."""

    @property
    def path(self) -> str: ...
    def added(self, text: str | None) -> str: ...
    def taken(self, text: str) -> str | None: ...


class JsonPart(NamedTuple):
    """Entries in a JSON file. Items of lists are ours if they call the hook of this client."""

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
    """A file that is ours alone. One of that name that somebody else wrote is left alone."""

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
