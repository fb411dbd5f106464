"""Adds and removes entries in a foreign JSON file, keeping order and unknown keys.

Pure: text in, text out; None stands for no file.
"""

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from detent.errors import DetentError

Json = dict[str, Any]  # of any shape, since the file is not ours


class JsonEntry(NamedTuple):
    """A value and its keys. An item of a list is recognised by `ours`."""

    keys: tuple[str, ...]
    value: Any
    item: bool = False
    form: bool = False  # a format marker of the file, removed with the last other entry


def json_with(name: str, text: str | None, entries: tuple[JsonEntry, ...], ours: Callable[[Json], bool]) -> str:
    """The text with every entry added; unchanged if it has them all. Keeps values that a person set, and replaces our older ones."""
    root = _parsed(name, text)
    before = json.dumps(root)
    for entry in entries:
        holder = _descend(name, root, entry.keys[:-1])
        if entry.item:
            items = holder.setdefault(entry.keys[-1], [])
            if not isinstance(items, list):
                raise _odd(name, entry.keys)
            mine = [i for i, item in enumerate(items) if isinstance(item, dict) and ours(item)]
            if mine:
                items[mine[0]] = entry.value
            else:
                items.append(entry.value)
        elif entry.keys[-1] not in holder or _is_older(holder[entry.keys[-1]], entry.value):
            holder[entry.keys[-1]] = entry.value
    return text if text is not None and json.dumps(root) == before else _written(root, text)


def _is_older(was: Any, value: Any) -> bool:
    """Whether a server entry is ours, with an older way of calling detent."""
    if not isinstance(was, dict) or not isinstance(value, dict) or _rest(was) != _rest(value):
        return False
    *before, last = _called(was) or [""]
    names = [word.rpartition("/")[2] for word in before]
    return last == "mcp" and (names[:1] == ["uvx"] or names[-1:] == ["detent"])


def _rest(server: Json) -> Json:
    return {name: each for name, each in server.items() if name not in ("command", "args")}


def _called(server: Json) -> list[str]:
    command, args = server.get("command"), server.get("args", [])
    return [str(word) for word in (*(command if isinstance(command, list) else [command]), *(args if isinstance(args, list) else []))]


def json_without(name: str, text: str, entries: tuple[JsonEntry, ...], ours: Callable[[Json], bool]) -> str | None:
    """The text without our entries and the containers that become empty; None if nothing is left."""
    root = _parsed(name, text)
    before = json.dumps(root)
    for entry in entries:
        if entry.form:
            continue
        way = [root]
        for key in entry.keys[:-1]:
            inner = way[-1].get(key)
            way.append(inner if isinstance(inner, dict) else {})
        if _taken_out(way[-1], entry, ours):
            for holder, key in reversed(list(zip(way, entry.keys, strict=True))):
                if holder.get(key) in ({}, []):
                    del holder[key]
    if json.dumps(root) == before:
        return text
    left = {key for key in root if (key,) not in [entry.keys for entry in entries if entry.form]}
    return _written(root, text) if left else None


def _taken_out(holder: Json, entry: JsonEntry, ours: Callable[[Json], bool]) -> bool:
    """Remove our entry from its container; whether there was one."""
    last = entry.keys[-1]
    was = holder.get(last)
    if entry.item and isinstance(was, list):
        holder[last] = [item for item in was if not (isinstance(item, dict) and ours(item))]
    elif was == entry.value:
        holder[last] = {}
    return bool(holder.get(last) != was)


def _parsed(name: str, text: str | None) -> Json:
    try:
        root = json.loads(text, object_pairs_hook=_once) if text and text.strip() else {}
    except (ValueError, RecursionError) as e:
        raise DetentError(f"{name} is not plain JSON: {e}", "fix it, or add the entries by hand; they are in docs/clients of Detent") from e
    if not isinstance(root, dict):
        raise _odd(name, ())
    return root


def _once(pairs: list[tuple[str, Any]]) -> Json:
    names = [key for key, _ in pairs]
    if len(set(names)) < len(names):
        raise ValueError("a key appears twice")
    return dict(pairs)


def _descend(name: str, holder: Json, keys: tuple[str, ...]) -> Json:
    for key in keys:
        holder = holder.setdefault(key, {})
        if not isinstance(holder, dict):
            raise _odd(name, keys)
    return holder


def _odd(name: str, keys: tuple[str, ...]) -> DetentError:
    where = ".".join(keys) or "its outermost value"
    return DetentError(f"{name}: {where} is not of the form that the client's documentation gives", "fix it first; nothing was changed")


def _written(root: Json, like: str | None) -> str:
    """JSON with the indentation and line ends of `like`."""
    indent = re.search(r"^([ \t]+)\"", like or "", re.MULTILINE)
    end = "" if like and not like.endswith("\n") else "\n"
    text = json.dumps(root, indent=indent[1] if indent else 2, ensure_ascii=False) + end
    return text.replace("\n", "\r\n") if like and "\r\n" in like else text
