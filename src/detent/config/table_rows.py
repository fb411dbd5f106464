"""Checks the settings that are tables of rows: [[gate]], [[test.project]], [services] and [prices]: keys, types, timeouts, unique names,
and the rules of each. Which steps a gate may name, `app` knows.
"""

import re
from collections.abc import Callable, Mapping
from pathlib import PurePosixPath
from typing import Any, Literal, NamedTuple, get_args, get_origin
from urllib.parse import urlsplit

from detent.config.settings import Endpoint, Texts, TokenPrice
from detent.config.values import BELOW_THE_PROJECT, EXAMPLES, WORDS, chosen, fits, seen, unknown
from detent.errors import DetentError


class Rows(NamedTuple):
    """A kind of table: its name, its keys with types, and its unique key."""

    name: str
    keys: Mapping[str, object]
    own: str  # the unique key
    twice: str  # the hint for a duplicate
    hint: str  # an example row


def checked_rows(raw: object, where: str, rows: Rows, more: Callable[[dict[str, Any], str], dict[str, Any]]) -> tuple[dict[str, Any], ...]:
    """The checked rows, or an error that names what is wrong with one. `more` checks the rules of this table."""
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


# -- [[gate]]: a project's own commands that judge the work ---------------------------------------------------------------------

GATE_KEYS: dict[str, object] = {"name": str, "command": str, "at": Texts, "as": Literal["fail", "flag"], "says": str, "timeout": int}
GATE_NEEDS = {"name": 'name = "licences"', "command": 'command = "reuse lint"'}
GATES = Rows(
    "gate", GATE_KEYS, "name", "give one of them another name", f"for example: [[gate]], and below it {' and '.join(GATE_NEEDS.values())}"
)
GATE_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,59}", re.ASCII)


def checked_gates(raw: object, where: str) -> tuple[dict[str, Any], ...]:
    """The checked rows of [[gate]]."""
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
    """The checked rows of [[test.project]]."""
    return checked_rows(raw, where, PROJECTS, _project)


def _project(row: dict[str, Any], at: str) -> dict[str, Any]:
    if "report" in row:
        _path(row["report"], at, "report")
        if not row.get("command"):
            raise DetentError(f"{at} has a report and no command", "name the command that writes it")
    return {**row, "path": _path(row.get("path"), at)}


def _path(path: object, at: str, key: str = "path") -> str:
    """A normalised folder of the repository; empty for all of it."""
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


NAME = re.compile(r"[A-Za-z0-9][\w.-]*", re.ASCII)
VARIABLE = re.compile(r"[A-Za-z_]\w*", re.ASCII)
KEYS: dict[str, dict[str, type]] = {
    "services": {"url": str, "key": str, "usage": bool},
    "prices": {"input": float, "output": float, "cached": float, "written": float},
}
NEEDED = {"services": ("url",), "prices": ("input", "output")}
FIELDS = {"services": Endpoint.__struct_fields__, "prices": TokenPrice.__struct_fields__}
HINTS = {
    "services": 'for example: [services.local], and below it url = "http://127.0.0.1:8000/v1"',
    "prices": 'for example: "my-model" = { input = 0.5, output = 2.0 }, in dollars per million tokens',
}


def checked_tables(section: str, keys: dict[str, object], where: str) -> dict[str, dict[str, Any]]:
    """The checked rows of a section by name, or an error that names what is wrong with one."""
    return {name: _row(section, name, raw, f"{where}: [{section}] {name}") for name, raw in keys.items()}


def _row(section: str, name: str, raw: object, at: str) -> dict[str, Any]:
    if not name.strip() or (section == "services" and not NAME.fullmatch(name)):
        raise DetentError(f"{at!r} is not a name", HINTS[section])
    if not isinstance(raw, dict):
        raise DetentError(f"{at} is {seen(raw)}; expected a table", HINTS[section])
    for key, value in raw.items():
        if key not in KEYS[section]:
            raise unknown(f"{at} has no key {key}", key, FIELDS[section])
        kind = KEYS[section][key]
        if not fits(kind, value):
            raise DetentError(f"{at}: {key} is {seen(value)}; expected {WORDS[kind]}", f"for example: {EXAMPLES[WORDS[kind]]}")
    if missing := [key for key in NEEDED[section] if key not in raw]:
        raise DetentError(f"{at} has no {missing[0]}", HINTS[section])
    _check_service(raw, at) if section == "services" else _check_price(raw, at)
    return dict(raw)


def _check_service(row: dict[str, Any], at: str) -> None:
    """Check a service: its URL, and that `key` names a variable instead of holding the key itself."""
    address = urlsplit(row["url"])
    if address.scheme not in ("http", "https") or not address.hostname or address.username or address.query or address.fragment:
        raise DetentError(f"{at}: url is {seen(row['url'])}; expected an address that begins with https:// or http://", HINTS["services"])
    if row.get("key") and not VARIABLE.fullmatch(row["key"]):
        raise DetentError(
            f"{at}: key is not the name of an environment variable", 'name the variable that holds the key: key = "MY_API_KEY"'
        )


def _check_price(row: dict[str, float], at: str) -> None:
    for key, dollars in row.items():
        if dollars < 0:
            raise DetentError(f"{at}: {key} is {dollars:g}; it must be at least 0", HINTS["prices"])
