"""The tables of rows, [[gate]] and [[test.project]]: known keys, types, a time of a second or more, no name twice, and what else each asks for.

Which steps a gate may name, `app` knows.
"""

import re
from collections.abc import Callable, Mapping
from pathlib import PurePosixPath
from typing import Any, Literal, NamedTuple, get_args, get_origin

from detent.config.settings import Texts
from detent.config.values import BELOW_THE_PROJECT, EXAMPLES, WORDS, chosen, fits, seen, unknown
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


# -- [[gate]]: commands of a project's own that judge the work ------------------------------------------------------------------

GATE_KEYS: dict[str, object] = {"name": str, "command": str, "at": Texts, "as": Literal["fail", "flag"], "says": str, "timeout": int}
GATE_NEEDS = {"name": 'name = "licences"', "command": 'command = "reuse lint"'}
GATES = Rows(
    "gate", GATE_KEYS, "name", "give one of them another name", f"for example: [[gate]], and below it {' and '.join(GATE_NEEDS.values())}"
)
GATE_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,59}", re.ASCII)


def checked_gates(raw: object, where: str) -> tuple[dict[str, Any], ...]:
    """Every row, or the error that names what is wrong with one."""
    return checked_rows(raw, where, GATES, _gate)


def _gate(row: dict[str, Any], at: str) -> dict[str, Any]:
    for key, example in GATE_NEEDS.items():
        if not row.get(key, "").strip():
            raise DetentError(f"{at} has no {key}" if key not in row else f"{at}: {key} is empty", f"for example: {example}")
    if not GATE_NAME.fullmatch(name := row["name"]):
        raise DetentError(f"{at}: name is {seen(name)}; expected letters, digits, '.', '_' and '-'", f"for example: {GATE_NEEDS['name']}")
    if row.get("at") == []:
        raise DetentError(f"{at}: at is an empty list, so nothing would run it", "name steps, or leave it out: wherever work is proved")
    return row


# -- [[test.project]]: folders of a repository that are tested by themselves -------------------------------------------------------

PROJECT_HINT = 'for example: [[test.project]], and below it path = "packages/api"'
PROJECTS = Rows(
    "test.project",
    {"path": str, "command": str, "report": str, "files": Texts, "timeout": int},
    "path",
    "keep only one of the two",
    PROJECT_HINT,
)


def checked_projects(raw: object, where: str) -> tuple[dict[str, Any], ...]:
    """Every row, or the error that names what is wrong with one."""
    return checked_rows(raw, where, PROJECTS, _project)


def _project(row: dict[str, Any], at: str) -> dict[str, Any]:
    if "report" in row:
        _path(row["report"], at, "report")
        if not row.get("command"):
            raise DetentError(f"{at} has a report and no command", "name the command that writes it")
    return {**row, "path": _path(row.get("path"), at)}


def _path(path: object, at: str, key: str = "path") -> str:
    """A folder of the repository, without a word too many; empty for all of it."""
    if path is None:
        raise DetentError(f"{at} has no path", PROJECT_HINT)
    form, expected = BELOW_THE_PROJECT
    if not isinstance(path, str) or not form.fullmatch(path) or "\\" in path:
        raise DetentError(
            f"{at}: {key} is {seen(path)}; expected {expected}",
            f'{PROJECT_HINT}; "." is all of it' if key == "path" else 'for example: report = "build/report.xml"',
        )
    plain = PurePosixPath(path).as_posix()
    return "" if plain == "." else plain
