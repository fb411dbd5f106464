"""Importing items from a file: a markdown list, CSV, JSON or JSON Lines.

Everything is read and checked before anything is filed; an error names its line or row.
"""

import csv
import hashlib
import json
import re
from collections.abc import Callable, Iterator, Sequence
from graphlib import CycleError, TopologicalSorter
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import msgspec

from detent.errors import DetentError
from detent.tracker.tracker_protocol import Item, NewItem, Tracker

SORTS = ("task", "bug", "feature", "epic", "chore")
MOST = 2000  # items per file
LONGEST_TITLE = 300
FIELDS = ("id", "title", "description", "priority", "type", "labels", "depends_on")
LISTS = ("labels", "depends_on")
ENTRY = re.compile(r"(?:[-*+]|\d+[.)])\s+(?:\[(?P<box>[ xX])\]\s+)?(?P<title>\S.*)")
FENCE = re.compile(r"(```|~~~)")
GRADE = re.compile(r"\s*[(\[]P([0-4])[)\]]", re.IGNORECASE)
LABEL = re.compile(r"\s+#([A-Za-z][\w:.-]*)\Z")
NEEDS = re.compile(r"(?:needs|depends on|blocked by)\s*:\s*(.+)", re.IGNORECASE)


class ListedItem(NamedTuple):
    """An item as written in a file. `needs` are names from this file, or ids of the tracker."""

    at: str  # its place in the file, for people
    name: str  # the name by which other entries may refer to it, besides its title
    new: NewItem
    needs: tuple[str, ...] = ()


def read_listed(name: str, text: str) -> list[ListedItem]:
    """The items of a file, ordered so that each comes after those it needs."""
    kind = name.lower().rpartition(".")[2] if "." in name else ""
    if kind not in READERS:
        raise DetentError(f"{name} is not a list that Detent can read", f"it must end in {', '.join(f'.{each}' for each in READERS)}")
    found = list(READERS[kind](name, text.removeprefix("\ufeff")))
    if not found:
        raise DetentError(f"{name} has no items", HINTS[kind])
    if len(found) > MOST:
        raise DetentError(f"{name} has {len(found)} items; at most {MOST} are filed at once", "split the file")
    return _ordered(found)


# -- the formats ---------------------------------------------------------------------------------------------------------------


def _markdown(name: str, text: str) -> Iterator[ListedItem]:
    """The entries of the outermost list; indented lines below are the description. Ticked entries are done and skipped."""
    lines = text.splitlines()
    shut = [n % 2 for n in accumulate(FENCE.match(line) is not None for line in lines)]  # 1: inside a code block
    starts = [n for n, line in enumerate(lines) if ENTRY.match(line) and not shut[n]]
    for start, end in pairwise([*starts, len(lines)]):
        entry, at = ENTRY.match(lines[start]), f"{name}, line {start + 1}"
        assert entry is not None, "that is what was looked for"
        if (entry["box"] or " ") == " ":
            yield _of_markdown(at, entry["title"].strip(), _below(lines[start + 1 : end]))


def _below(lines: Sequence[str]) -> list[str]:
    """The indented lines below an entry, dedented."""
    kept = []
    for line in lines:
        if line.strip() and not line[0].isspace():
            break
        kept.append(line)
    margin = min((len(line) - len(line.lstrip()) for line in kept if line.strip()), default=0)
    return [line[margin:].rstrip() for line in kept]


def _of_markdown(at: str, title: str, below: list[str]) -> ListedItem:
    labels: list[str] = []
    grade = GRADE.search(title)
    title = GRADE.sub("", title, 1)
    while found := LABEL.search(title):
        labels.insert(0, found[1])
        title = title[: found.start()]
    needs = next((line for line in below if NEEDS.fullmatch(line.strip("-*+ "))), "")
    match = NEEDS.fullmatch(needs.strip("-*+ "))
    row: dict[str, Any] = {
        "title": title,
        "description": "\n".join(line for line in below if line != needs or not needs).strip("\n"),
        "labels": labels,
    }
    row |= {"priority": int(grade[1])} if grade else {}
    return _listed(at, {**row, "depends_on": match[1] if match else ()})


def _csv(name: str, text: str) -> Iterator[ListedItem]:
    rows = csv.DictReader(text.splitlines(keepends=True), restkey="(too many)", strict=True)
    try:
        for row in rows:
            at = f"{name}, line {rows.line_num}"
            if row.pop("(too many)", None) is not None:
                raise DetentError(f"{at} has more columns than the first line names", "put a text with commas in quotes")
            yield _listed(at, {key.strip().lower(): value for key, value in row.items() if key and (value or "").strip()})
    except csv.Error as e:
        raise DetentError(f"{name} is not CSV after line {rows.line_num}: {e}", "check its quotes") from e


def _json(name: str, text: str) -> Iterator[ListedItem]:
    value = _value(name, text)
    rows = value.get("items") if isinstance(value, dict) else value
    if not isinstance(rows, list):
        raise DetentError(f"{name} is not a list of items", HINTS["json"])
    for n, row in enumerate(rows, 1):
        yield _listed(f"{name}, item {n}", row)


def _jsonl(name: str, text: str) -> Iterator[ListedItem]:
    for n, line in enumerate(text.splitlines(), 1):
        if line.strip():
            yield _listed(f"{name}, line {n}", _value(f"{name}, line {n}", line))


def _value(at: str, text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as e:
        where = f" (line {e.lineno})" if isinstance(e, json.JSONDecodeError) and "\n" in text else ""
        raise DetentError(f"{at} is not JSON: {getattr(e, 'msg', 'it is nested too deep')}{where}", "check its commas and quotes") from e


READERS: dict[str, Callable[[str, str], Iterator[ListedItem]]] = {
    "md": _markdown, "markdown": _markdown, "txt": _markdown, "csv": _csv, "json": _json, "jsonl": _jsonl, "ndjson": _jsonl,
}  # fmt: skip
AN_ITEM = '{"title": "Round prices", "priority": 1}'
HINTS = {
    **dict.fromkeys(("md", "markdown", "txt"), "write each item as an entry of a list: - Round prices (P1) #money"),
    "csv": f"the first line names the columns: {','.join(FIELDS)}",
    **dict.fromkeys(("json", "jsonl", "ndjson"), f"write items such as {AN_ITEM}"),
}


# -- one item ------------------------------------------------------------------------------------------------------------------


def _listed(at: str, row: Any) -> ListedItem:
    """One checked row, of any format."""
    if not isinstance(row, dict):
        raise DetentError(f"{at} is not an item", f"write items such as {AN_ITEM}")
    for key in row:
        if key not in FIELDS:
            raise DetentError(f"{at} has a field '{str(key)[:40]}', which items do not have", f"they have {', '.join(FIELDS)}")
    lists = {key: _words(at, key, row.get(key)) for key in LISTS}
    texts = {key: _text(at, key, row.get(key)) for key in ("id", "title", "description", "type")}
    title, sort = " ".join(texts["title"].split()), texts["type"].strip().lower() or "task"
    if not title or len(title) > LONGEST_TITLE:
        fault = f"a title of {len(title)} characters" if title else "no title"
        raise DetentError(f"{at} has {fault}", f"say in a line of at most {LONGEST_TITLE} characters what is to be done")
    if sort not in SORTS:
        raise DetentError(f"{at} has the type '{sort[:40]}'", f"take one of {', '.join(SORTS)}")
    key = hashlib.sha256(f"{title}\n{texts['description']}".encode("utf-8", "replace")).hexdigest()[:12]
    new = NewItem(title, texts["description"], _priority(at, row.get("priority")), sort, lists["labels"], key=f"plan:{key}")
    return ListedItem(at, texts["id"].strip(), new, lists["depends_on"])


def _text(at: str, key: str, value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, int) and not isinstance(value, bool) and key == "id":
        return str(value)
    if not isinstance(value, str):
        raise DetentError(f"{at}: {key} is not text", f"write it in quotes, as in {AN_ITEM}")
    return value


def _words(at: str, key: str, value: object) -> tuple[str, ...]:
    """A list of words, or one string separated by commas or semicolons."""
    found = re.split(r"[,;]", value) if isinstance(value, str) else [] if value is None else value
    if not isinstance(found, list | tuple) or not all(isinstance(word, str | int) and not isinstance(word, bool) for word in found):
        raise DetentError(f"{at}: {key} is not a list of words", f'for example: "{key}": ["first", "second"]')
    return tuple(dict.fromkeys(word for each in found if (word := str(each).strip())))


def _priority(at: str, value: object) -> int:
    if value is None:
        return 2
    given = value.strip().upper().removeprefix("P") if isinstance(value, str) else value
    if isinstance(given, bool) or str(given) not in ("0", "1", "2", "3", "4"):
        raise DetentError(f"{at}: the priority is {str(value)[:40]!r}", "it is a number from 0, the most urgent, to 4")
    return int(given)  # type: ignore[call-overload,no-any-return]  # one of the five


# -- dependencies among entries ------------------------------------------------------------------------------------------------


def _ordered(found: list[ListedItem]) -> list[ListedItem]:
    """The items, each after those it needs; DetentError for a duplicate name or a cycle."""
    names: dict[str, ListedItem] = {}
    for each in found:
        for name in dict.fromkeys(filter(None, (each.name, each.new.title))):
            if name in names:
                raise DetentError(
                    f"{each.at} has the name '{name[:80]}' that {names[name].at} has", "give one of them another, or take it out"
                )
            names[name] = each
    numbers = {each.at: n for n, each in enumerate(found)}
    graph = {n: {numbers[names[need].at] for need in each.needs if need in names} for n, each in enumerate(found)}
    return [found[n] for n in _sorted(graph, [each.at for each in found])]


def _sorted(graph: dict[int, set[int]], places: Sequence[str]) -> Iterator[int]:
    """The order of the file, as far as dependencies allow."""
    sorter = TopologicalSorter(graph)
    try:
        sorter.prepare()
    except CycleError as e:
        raise DetentError(f"that is a cycle: {' → '.join(places[n] for n in e.args[1][::-1])}", "items cannot wait for each other") from e
    while sorter.is_active():
        ready = sorted(sorter.get_ready())
        sorter.done(*ready)
        yield from ready


def file_listed(tracker: Tracker, found: Sequence[ListedItem], labels: Sequence[str]) -> list[Item]:
    """File items in order. Each is filed once, so repeating an import that was cut off files the rest."""
    names = {name for each in found for name in (each.name, each.new.title)}
    if outside := tuple(dict.fromkeys(need for each in found for need in each.needs if need not in names)):
        tracker.items(*outside)  # before anything is filed: UnknownItem if one does not exist
    ids: dict[str, str] = {}
    items = []
    for each in found:
        needs = tuple(dict.fromkeys(ids.get(need, need) for need in each.needs))
        more = tuple(dict.fromkeys((*each.new.labels, *labels)))
        item = tracker.add(msgspec.structs.replace(each.new, depends_on=needs, labels=more))
        ids |= {name: item.id for name in (each.name, each.new.title) if name}
        items.append(item)
    return items
