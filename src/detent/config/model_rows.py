"""The tables of [services] and [prices]: services of models, and what models cost. Checked as strictly as any other key."""

import re
from typing import Any
from urllib.parse import urlsplit

from detent.config.settings import Endpoint, TokenPrice
from detent.config.values import EXAMPLES, WORDS, fits, seen, unknown
from detent.errors import DetentError

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
    """Every row of the section by its name, or the error that names what is wrong with one."""
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
    """An address of a service, and the name of a variable, never a key itself."""
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
