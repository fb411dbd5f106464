"""The rows of [[gate]]: commands of a project's own that judge the work. Which steps there are, `app` knows."""

import re
from typing import Any, Literal

from detent.config.settings import Texts
from detent.config.table_rows import Rows, checked_rows
from detent.config.values import seen
from detent.errors import DetentError

KEYS: dict[str, object] = {"name": str, "command": str, "at": Texts, "as": Literal["fail", "flag"], "says": str, "timeout": int}
NEEDED = {"name": 'name = "licences"', "command": 'command = "reuse lint"'}
GATES = Rows("gate", KEYS, "name", "give one of them another name", f"for example: [[gate]], and below it {' and '.join(NEEDED.values())}")
NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,59}", re.ASCII)


def checked_gates(raw: object, where: str) -> tuple[dict[str, Any], ...]:
    """Every row, or the error that names what is wrong with one."""
    return checked_rows(raw, where, GATES, _row)


def _row(row: dict[str, Any], at: str) -> dict[str, Any]:
    for key, example in NEEDED.items():
        if not row.get(key, "").strip():
            raise DetentError(f"{at} has no {key}" if key not in row else f"{at}: {key} is empty", f"for example: {example}")
    if not NAME.fullmatch(name := row["name"]):
        raise DetentError(f"{at}: name is {seen(name)}; expected letters, digits, '.', '_' and '-'", f"for example: {NEEDED['name']}")
    if row.get("at") == []:
        raise DetentError(f"{at}: at is an empty list, so nothing would run it", "name steps, or leave it out: wherever work is proved")
    return row
