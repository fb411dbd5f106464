"""Entries in a JSON file of somebody else: added beside what is there, and taken out again. Order and unknown keys stay.

Pure: text in, text out. None as text means that there is no file.
"""

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from detent.errors import DetentError

Json = dict[str, Any]  # of any shape: the file is not ours


class JsonEntry(NamedTuple):
    """One value and where it stands. As an item of a list it is told from others by `ours`."""

    keys: tuple[str, ...]
    value: Json
    item: bool = False


def merged(name: str, text: str | None, entries: tuple[JsonEntry, ...], ours: Callable[[Json], bool]) -> str:
    """The text with every entry in it; the text itself if they are there already. A value that a person set is kept."""
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
        else:
            holder.setdefault(entry.keys[-1], entry.value)
    return text if text is not None and json.dumps(root) == before else _written(root, text)


def without(name: str, text: str, entries: tuple[JsonEntry, ...], ours: Callable[[Json], bool]) -> str | None:
    """The text without our entries and without the containers that they leave empty; None if nothing is left."""
    root = _parsed(name, text)
    before = json.dumps(root)
    for entry in entries:
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
    return _written(root, text) if root else None


def _taken_out(holder: Json, entry: JsonEntry, ours: Callable[[Json], bool]) -> bool:
    """Whether there was something of ours to take out."""
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
        raise DetentError(
            f"{name} is not plain JSON: {e}", "mend it, or add the entries by hand; they are in docs/clients of Detent"
        ) from e
    if not isinstance(root, dict):
        raise _odd(name, ())
    return root


def _once(pairs: list[tuple[str, Any]]) -> Json:
    names = [key for key, _ in pairs]
    if len(set(names)) < len(names):
        raise ValueError("a key stands there twice")
    return dict(pairs)


def _descend(name: str, holder: Json, keys: tuple[str, ...]) -> Json:
    for key in keys:
        holder = holder.setdefault(key, {})
        if not isinstance(holder, dict):
            raise _odd(name, keys)
    return holder


def _odd(name: str, keys: tuple[str, ...]) -> DetentError:
    where = ".".join(keys) or "its outermost value"
    return DetentError(f"{name}: {where} is not of the form that the client's documentation gives", "mend it first; nothing was changed")


def _written(root: Json, like: str | None) -> str:
    """JSON in the indentation and with the end that the text had."""
    indent = re.search(r"^([ \t]+)\"", like or "", re.MULTILINE)
    end = "" if like and not like.endswith("\n") else "\n"
    text = json.dumps(root, indent=indent[1] if indent else 2, ensure_ascii=False) + end
    return text.replace("\n", "\r\n") if like and "\r\n" in like else text
