"""Settings that only became stricter: added rules, removed exceptions, a stricter switch, a raised limit. Pure: values in.

Settings are recognised by name, whichever tool reads them. Any other setting may be laxer, and so may a new table or file, since a tool may
read it instead of another.
"""

import json
import re
from collections.abc import Callable

from detent.evidence.changes.stricter_commands import stricter_commands, stricter_options
from detent.evidence.changes.stricter_eslint import only_severer_rules, severer
from detent.evidence.changes.stricter_limits import only_higher_limits
from detent.evidence.changes.stricter_nox import more_sessions
from detent.evidence.changes.stricter_values import (
    Value,
    enabled,
    excepted,
    excepted_by_file,
    filters,
    lowered,
    raised,
    switched_off,
    switched_on,
)

COMMANDS = (
    "envs",
    "scripts",
    "tasks",
    "plugins",
    "hatch",
    "tox",
    "testenv",
    "poe",
    "taskipy",
    "nox",
    "lint-staged",
    "husky",
)  # tables that define what runs
ENABLED = ("select", "extend-select", "extend_select", "enable", "enable_error_code")
EXCEPTED = (
    "ignore", "extend-ignore", "extend_ignore", "disable", "disable_error_code", "omit", "exclude_also", "extend-exclude", "extend_exclude", "skips",
    "exclude_lines", "exclude",
)  # fmt: skip
BY_FILE = ("per-file-ignores", "extend-per-file-ignores", "per_file_ignores")
LIMITS = ("fail_under", "fail-under", "statements", "branches", "functions", "lines")
MOST = ("max-complexity", "max_complexity", "max-args", "max-branches", "max-returns", "max-statements", "max-locals")
STRICT = re.compile(
    r"strict|strict_(?:equality|optional|bytes|concatenate)|disallow_\w+|warn_\w+|check_untyped_defs|no_implicit_\w+|extra_checks|local_partial_types"
    r"|branch|check-coverage|checkCoverage|xfail_strict|strict_(?:markers|config|xfail|parametrization_ids)"  # coverage, pytest
    r"|strict[A-Z]\w+|alwaysStrict|no(?:Implicit|Unused|Unchecked|Fallthrough|PropertyAccess)\w+|exactOptionalPropertyTypes|useUnknownInCatchVariables"
)  # mypy, coverage, pytest, TypeScript
LENIENT = re.compile(
    r"ignore_missing_imports|ignore_errors|allow_(?:untyped_\w+|redefinition\w*|any_\w+|incomplete_defs)|implicit_(?:reexport|optional)|skipLibCheck"
    r"|allow(?:UnreachableCode|UnusedLabels)"
)
OF_RULES = re.compile(r"eslint\.config\.[cm]?[jt]s|\.eslintrc\.[cm]?js")
IN_YAML = re.compile(r"\.eslintrc\.ya?ml|\.golangci\.ya?ml")
IN_SECTIONS = re.compile(r"\.coveragerc|\.?mypy\.ini|\.?pytest\.ini|\.pydocstyle")
PROGRAMS: tuple[tuple[re.Pattern[str], Callable[[str, str], bool]], ...] = (
    (OF_RULES, only_severer_rules),
    (re.compile(r"noxfile\.py"), more_sessions),
    (re.compile(r"(?:vitest|vite|jest)\.config\.[cm]?[jt]s"), only_higher_limits),
)  # settings that are code


def is_read_whole(path: str) -> bool:
    """Whether a file is compared by its whole text rather than by its judging part as JSON."""
    return any(form.fullmatch(path.rpartition("/")[2]) for form in (*(form for form, _ in PROGRAMS), IN_YAML, IN_SECTIONS))


def asks_only_more(path: str, before: str, after: str, part: Callable[[Value], Value]) -> bool:
    """Whether a settings file only became stricter. `before`, `after`: its judging part as JSON, or the whole text (see `is_read_whole`)."""
    for form, rule in PROGRAMS:
        if form.fullmatch(path.rpartition("/")[2]):
            return rule(before, after)
    try:
        return only_more(*(part(read_settings(path, text)) for text in (before, after)))
    except (ValueError, RecursionError):
        return False


def read_settings(path: str, text: str) -> Value:
    """Parse a settings file, or its judging part as JSON. Raises ValueError if it cannot be parsed."""
    name = path.rpartition("/")[2]
    return _yaml(text) if IN_YAML.fullmatch(name) else _sections(text) if IN_SECTIONS.fullmatch(name) else json.loads(text)


def only_more(before: Value, after: Value) -> bool:
    """Whether settings let nothing through that they did not let through before."""
    was, now = (
        _by_module({key: value for key, value in each.items() if value is not None}) if isinstance(each, dict) else {}
        for each in (before, after)
    )
    if not was or not _tools(now) <= _tools(was):
        return False
    return all(
        stricter_commands(key, was, now) if _tool(key) in COMMANDS else _more(key, was.get(key), now.get(key)) for key in {*was, *now}
    )


def _yaml(text: str) -> Value:
    import yaml  # few changes touch such a file

    if set("&*") & set(text):  # aliases are not followed
        return None
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as e:
        raise ValueError(str(e)) from e


def _sections(text: str) -> Value:
    import configparser

    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(text)
    except configparser.Error as e:
        raise ValueError(str(e)) from e
    return {name: dict(parser[name]) for name in parser.sections()}


def _tool(name: str) -> str:
    return re.split(r"[:\-.]", name)[0] if name not in COMMANDS else name


def _tools(settings: dict[str, Value]) -> set[str]:
    return {_tool(name) for name in settings}


def _by_module(settings: dict[str, Value]) -> dict[str, Value]:
    """The settings with mypy's `overrides` keyed by module."""
    found = dict[str, Value]()
    for key, value in settings.items():
        if key == "overrides" and isinstance(value, list) and all(isinstance(each, dict) and each.get("module") for each in value):
            for each in value:
                modules = [each["module"]] if isinstance(each["module"], str) else each["module"]
                for module in modules:
                    table = found.setdefault(f"mypy-{module}", {})
                    assert isinstance(table, dict)
                    table.update({name: setting for name, setting in each.items() if name != "module"})
        else:
            found[key] = _by_module(value) if isinstance(value, dict) else value
    return found


def _more(key: str, was: Value, now: Value) -> bool:
    """Whether a setting is at least as strict as before. None: not set."""
    if was == now:
        return True
    if key in BY_FILE:
        return excepted_by_file(was, now)
    if all(each is None or isinstance(each, dict) for each in (was, now)):
        sides = [each if isinstance(each, dict) else {} for each in (was, now)]
        rule = severer if key == "rules" else _more
        return all(rule(name, sides[0].get(name), sides[1].get(name)) for name in sorted({*sides[0], *sides[1]}))
    return next((holds(key, was, now) for named, holds in KINDS if named(key)), False)


KINDS: tuple[tuple[Callable[[str], bool], Callable[[str, Value, Value], bool]], ...] = (
    (lambda key: key == "filterwarnings", filters),
    (lambda key: key == "addopts", stricter_options),
    (lambda key: key in LIMITS, raised),
    (lambda key: key in MOST, lowered),
    (lambda key: key in EXCEPTED, excepted),
    (lambda key: STRICT.fullmatch(key) is not None, switched_on),
    (lambda key: LENIENT.fullmatch(key) is not None, switched_off),
    (lambda key: key in ENABLED, enabled),
)
