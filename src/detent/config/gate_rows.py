"""The rows of [[gate]]: commands of a project's own that judge the work. Checked as strictly as any other key; which steps there are, `app` knows."""

import re
from typing import Any, Literal, get_args, get_origin

from detent.config.settings import Texts
from detent.config.values import EXAMPLES, WORDS, chosen, fits, seen, unknown
from detent.errors import DetentError

KEYS: dict[str, object] = {"name": str, "command": str, "at": Texts, "as": Literal["fail", "flag"], "says": str, "timeout": int}
NEEDED = {"name": 'name = "licences"', "command": 'command = "reuse lint"'}
HINT = "for example: [[gate]], and below it " + " and ".join(NEEDED.values())
NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,59}", re.ASCII)


def checked_gates(raw: object, where: str) -> list[dict[str, Any]]:
    """Every row, or the error that names what is wrong with one."""
    if not isinstance(raw, list) or not all(isinstance(row, dict) for row in raw):
        raise DetentError(f"{where}: gate is {seen(raw)}; expected rows, each under [[gate]]", HINT)
    rows = [_row(row, f"{where}: [[gate]] {n}") for n, row in enumerate(raw, 1)]
    names = [row["name"] for row in rows]
    for n, name in enumerate(names):
        if name in names[:n]:
            raise DetentError(f"{where}: [[gate]] {n + 1} has the name of another one, {name}", "give one of them another name")
    return rows


def _row(row: dict[str, object], at: str) -> dict[str, Any]:
    for key, value in row.items():
        if key not in KEYS:
            raise unknown(f"{at} has no key {key}", key, KEYS)
        _check_type(f"{at}: {key}", KEYS[key], value)
    for key, example in NEEDED.items():
        if not str(row.get(key, "")).strip():
            raise DetentError(f"{at} has no {key}" if key not in row else f"{at}: {key} is empty", f"for example: {example}")
    if not NAME.fullmatch(name := str(row["name"])):
        raise DetentError(f"{at}: name is {seen(name)}; expected letters, digits, '.', '_' and '-'", f"for example: {NEEDED['name']}")
    if "at" in row and not row["at"]:
        raise DetentError(f"{at}: at is an empty list, so nothing would run it", "name steps, or leave it out: wherever work is proved")
    timeout = row.get("timeout", 1)
    if isinstance(timeout, int) and timeout < 1:
        raise DetentError(f"{at}: timeout is {timeout}; it must be at least 1", "leave it out for that of [test]")
    return dict(row)


def _check_type(at: str, kind: object, value: object) -> None:
    if get_origin(kind) is Literal:
        chosen(at, value, get_args(kind))
    elif not fits(kind, value):
        raise DetentError(f"{at} is {seen(value)}; expected {WORDS[kind]}", f"for example: {EXAMPLES[WORDS[kind]]}")
