"""Values of settings that only became stricter: lists of rules and of exceptions, limits, switches. Pure. None: not set."""

import re

Value = object
ABSENT_IS_EMPTY = ("extend-select", "extend_select", "enable", "enable_error_code")
WITH_DEFAULTS = ("exclude_lines", "exclude")  # if unset, the tool uses its own default exceptions
OFF, ON = ("false", "no", "off", "0"), ("true", "yes", "on", "1")


def words(value: Value) -> list[str] | None:
    if isinstance(value, str):
        return [word for word in re.split(r"[\s,]+", value) if word]
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else None


def enabled(key: str, was: Value, now: Value) -> bool:
    old, new = words(was), words(now)
    if was is None and key in ABSENT_IS_EMPTY:
        old = []
    return old is not None and new is not None and set(old) <= set(new)


def excepted(key: str, was: Value, now: Value) -> bool:
    old, new = words(was), words(now)
    if new is None and now is None and key not in WITH_DEFAULTS:
        new = []
    if old is None or new is None or (isinstance(was, str) and set("|()^$\\[") & set(was)):  # a regular expression is not a list of words
        return False
    return set(new) <= set(old) and not any(word.startswith("!") for word in old)


def excepted_by_file(was: Value, now: Value) -> bool:
    """Whether no file got further exceptions."""
    if not isinstance(was, dict) or not isinstance(now or {}, dict):
        return False
    return all(excepted("ignore", was.get(name), codes) for name, codes in (now.items() if isinstance(now, dict) else ()))


def raised(key: str, was: Value, now: Value) -> bool:
    old, new = _number(was, 0.0), _number(now, None)
    return old is not None and new is not None and 0 <= old <= new <= 100


def lowered(key: str, was: Value, now: Value) -> bool:
    old, new = _number(was, None), _number(now, None)
    return old is not None and new is not None and 0 <= new <= old


def _number(value: Value, absent: float | None) -> float | None:
    if value is None:
        return absent
    try:
        return float(value) if isinstance(value, int | float | str) and not isinstance(value, bool) else None
    except ValueError:
        return None


def _switch(value: Value) -> int | None:
    """A switch as a number: 0 off, 1 not set, 2 on; None if it is something else."""
    text = str(value).strip().lower()
    return 1 if value is None else 0 if text in OFF else 2 if text in ON else None


def switched_on(key: str, was: Value, now: Value) -> bool:
    old, new = _switch(was), _switch(now)
    return old is not None and new is not None and old <= new


def switched_off(key: str, was: Value, now: Value) -> bool:
    return switched_on(key, now, was)


def filters(key: str, was: Value, now: Value) -> bool:
    """Whether pytest's warning filters only gained ones that raise or lost ones that do not, in the same order."""
    old, new = (_lines(each) for each in (was, now))
    if old is None or new is None:
        return False
    added = [line for line in new if line not in old]
    removed = [line for line in old if line not in new]
    kept = [line for line in old if line in new] == [line for line in new if line in old]
    return kept and all(line.startswith("error") for line in added) and not any(line.startswith("error") for line in removed)


def _lines(value: Value) -> list[str] | None:
    if value is None:
        return []
    if isinstance(value, str):
        return [line.strip() for line in value.splitlines() if line.strip()]
    return [str(each) for each in value] if isinstance(value, list) else None
