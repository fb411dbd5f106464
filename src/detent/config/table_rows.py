"""What all tables of rows have in common, [[test.project]] and [[gate]]: known keys, types, a time of a second or more, and no name twice."""

from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple, get_args, get_origin

from detent.config.values import EXAMPLES, WORDS, chosen, fits, seen, unknown
from detent.errors import DetentError


class Rows(NamedTuple):
    """A table of rows: what it is called, its keys with their types, and which of them tells one row from another."""

    name: str
    keys: Mapping[str, object]
    own: str  # the key that no two rows share
    twice: str  # what helps where two do
    hint: str  # a row as an example


def checked_rows(raw: object, where: str, rows: Rows, more: Callable[[dict[str, Any], str], dict[str, Any]]) -> tuple[dict[str, Any], ...]:
    """Every row, or the error that names what is wrong with one; `more`: what else must hold of a row."""
    if not isinstance(raw, list) or not all(isinstance(row, dict) for row in raw):
        raise DetentError(f"{where}: {rows.name} is {seen(raw)}; expected rows, each under [[{rows.name}]]", rows.hint)
    found = []
    for n, row in enumerate(raw, 1):
        _check_keys(row, rows.keys, at := f"{where}: [[{rows.name}]] {n}")
        found.append(more(row, at))
        if (own := found[-1][rows.own]) in [each[rows.own] for each in found[:-1]]:
            raise DetentError(f"{at} has the {rows.own} of another one, {own or '.'}", rows.twice)
    return tuple(found)


def _check_keys(row: Mapping[str, object], keys: Mapping[str, object], at: str) -> None:
    for key, value in row.items():
        if key not in keys:
            raise unknown(f"{at} has no key {key}", key, keys)
        kind = keys[key]
        if get_origin(kind) is Literal:
            chosen(f"{at}: {key}", value, get_args(kind))
        elif not fits(kind, value):
            raise DetentError(f"{at}: {key} is {seen(value)}; expected {WORDS[kind]}", f"for example: {EXAMPLES[WORDS[kind]]}")
    timeout = row.get("timeout", 1)
    if isinstance(timeout, int) and timeout < 1:
        raise DetentError(f"{at}: timeout is {timeout}; it must be at least 1", "leave it out for that of [test]")
