"""Settings that only became stricter: added rules, removed exceptions, a stricter switch, a raised limit. Pure: values in.

Settings are recognised by name, whichever tool reads them. Any other setting may be laxer, and so may a new table or file, since a tool may
read it instead of another.
"""

import json
import re
from collections.abc import Callable, Mapping
from difflib import SequenceMatcher

Value = object
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
ABSENT_IS_EMPTY = ("extend-select", "extend_select", "enable", "enable_error_code")
EXCEPTED = (
    "ignore", "extend-ignore", "extend_ignore", "disable", "disable_error_code", "omit", "exclude_also", "extend-exclude", "extend_exclude", "skips",
    "exclude_lines", "exclude",
)  # fmt: skip
WITH_DEFAULTS = ("exclude_lines", "exclude")  # if unset, the tool uses its own default exceptions
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
OFF, ON = ("false", "no", "off", "0"), ("true", "yes", "on", "1")
SEVERITIES: Mapping[str, int] = {"off": 0, "0": 0, "allow": 0, "warn": 1, "1": 1, "error": 2, "2": 2, "deny": 2}
RULE = re.compile(r"(?:@?[\w-]+/)*[a-z][\w-]*")
RAISES = re.compile(r"--strict(?:-markers|-config)?|-Werror(?:::?[\w.:]+)?")
ERROR = re.compile(r"error(?:::?[\w.:]+)?")
LEAST = re.compile(r"--cov-fail-under=(\d+(?:\.\d+)?)")
RULE_LINE = re.compile(r"""\s*["']?((?:@?[a-z][\w-]*/)*[a-z][a-z0-9-]*)["']?:\s*["'](off|warn|error)["'],?""")
OF_RULES = re.compile(r"eslint\.config\.[cm]?[jt]s|\.eslintrc\.[cm]?js")
IN_YAML = re.compile(r"\.eslintrc\.ya?ml|\.golangci\.ya?ml")
IN_SECTIONS = re.compile(r"\.coveragerc|\.?mypy\.ini|\.?pytest\.ini|\.pydocstyle")


def is_read_whole(path: str) -> bool:
    """Whether a file is compared by its whole text rather than by its judging part as JSON."""
    return any(form.fullmatch(path.rpartition("/")[2]) for form in (OF_RULES, IN_YAML, IN_SECTIONS))


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
    return all(was.get(key) == now.get(key) if _tool(key) in COMMANDS else _more(key, was.get(key), now.get(key)) for key in {*was, *now})


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
                    table.update({name: said for name, said in each.items() if name != "module"})
        else:
            found[key] = _by_module(value) if isinstance(value, dict) else value
    return found


def _more(key: str, was: Value, now: Value) -> bool:
    """Whether a setting is at least as strict as before. None: not set."""
    if was == now:
        return True
    if key in BY_FILE:
        return _less_by_file(was, now)
    if all(each is None or isinstance(each, dict) for each in (was, now)):
        sides = [each if isinstance(each, dict) else {} for each in (was, now)]
        rule = _severer if key == "rules" else _more
        return all(rule(name, sides[0].get(name), sides[1].get(name)) for name in sorted({*sides[0], *sides[1]}))
    return next((holds(key, was, now) for named, holds in KINDS if named(key)), False)


def _words(value: Value) -> list[str] | None:
    if isinstance(value, str):
        return [word for word in re.split(r"[\s,]+", value) if word]
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else None


def _enabled(key: str, was: Value, now: Value) -> bool:
    old, new = _words(was), _words(now)
    if was is None and key in ABSENT_IS_EMPTY:
        old = []
    return old is not None and new is not None and set(old) <= set(new)


def _excepted(key: str, was: Value, now: Value) -> bool:
    old, new = _words(was), _words(now)
    if new is None and now is None and key not in WITH_DEFAULTS:
        new = []
    if old is None or new is None or (isinstance(was, str) and set("|()^$\\[") & set(was)):  # a regular expression is not a list of words
        return False
    return set(new) <= set(old) and not any(word.startswith("!") for word in old)


def _less_by_file(was: Value, now: Value) -> bool:
    """Whether no file got further exceptions."""
    if not isinstance(was, dict) or not isinstance(now or {}, dict):
        return False
    return all(_excepted("ignore", was.get(name), codes) for name, codes in (now.items() if isinstance(now, dict) else ()))


def _raised(key: str, was: Value, now: Value) -> bool:
    old, new = _number(was, 0.0), _number(now, None)
    return old is not None and new is not None and 0 <= old <= new <= 100


def _lowered(key: str, was: Value, now: Value) -> bool:
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
    said = str(value).strip().lower()
    return 1 if value is None else 0 if said in OFF else 2 if said in ON else None


def _stricter(key: str, was: Value, now: Value) -> bool:
    old, new = _switch(was), _switch(now)
    return old is not None and new is not None and old <= new


def _less_lenient(key: str, was: Value, now: Value) -> bool:
    return _stricter(key, now, was)


def _severer(key: str, was: Value, now: Value) -> bool:
    """Whether a JavaScript linter's rule is at least as severe as before, with the same options. A new rule counts if it is a plain error, since it
    then keeps options set elsewhere."""
    if was == now:
        return True
    if isinstance(was, dict) or isinstance(now, dict):  # groups of rules
        if any(isinstance(each, dict) and "options" in each for each in (was, now)):
            return False
        sides = [each if isinstance(each, dict) else {} for each in (was, now)]
        return all(_severer(name, sides[0].get(name), sides[1].get(name)) for name in {*sides[0], *sides[1]})
    old, new = (_severity(each) for each in (was, now))
    if RULE.fullmatch(key) is None or (old is None and was is not None):
        return False
    if now is None or new is None:
        return now is None and old is not None and old[0] == 0
    if old is None:
        return new == (2, ()) and not isinstance(now, list)
    return old[0] <= new[0] and old[1] == new[1]


def is_of_rules(path: str) -> bool:
    return OF_RULES.fullmatch(path.rpartition("/")[2]) is not None


def only_more_rules(old: list[str], new: list[str]) -> bool:
    """The same for a configuration in JavaScript with one rule per line: each changed rule became more severe, is a new error, or is no longer off."""
    for how, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if how == "equal":
            continue
        sides = [[RULE_LINE.fullmatch(line) for line in lines if line.strip()] for lines in (old[a:b], new[c:d])]
        if not all(all(side) for side in sides):
            return False
        was, now = ({found[1]: found[2] for found in side if found} for side in sides)
        if any(len(rules) != len(side) for rules, side in zip((was, now), sides, strict=True)):
            return False
        if not all(_severer(name, was.get(name), now.get(name)) for name in {*was, *now}):
            return False
    return bool(old)


def _severity(value: Value) -> tuple[int, tuple[str, ...]] | None:
    first, *rest = value if isinstance(value, list) and value else [value]
    level = SEVERITIES.get(str(first)) if isinstance(first, str | int) and not isinstance(first, bool) else None
    return None if level is None else (level, tuple(json.dumps(each, sort_keys=True) for each in rest))


def _calls(key: str, was: Value, now: Value) -> bool:
    """Whether pytest's options only gained ones that turn warnings or unknown names into failures, or a higher coverage limit."""
    old, new = _options(was), _options(now)
    if old is None or new is None:
        return False
    return old[0] == new[0] and old[1] <= new[1] and old[2] <= new[2]


def _options(value: Value) -> tuple[list[str], frozenset[str], float] | None:
    """The options without stricter ones, the stricter ones, and the coverage limit. None if they cannot be parsed."""
    words = [] if value is None else value.split() if isinstance(value, str) else value if isinstance(value, list) else None
    if words is None or any(not isinstance(word, str) or set("\"' ") & set(word) for word in words):
        return None
    left, raises, least = list[str](), set[str](), 0.0
    for word in words:
        given = left[-1] if left and left[-1].startswith("-") and "=" not in left[-1] else ""  # the word may be this option's value
        if given == "-W" and ERROR.fullmatch(word):
            left.pop()
            raises.add(f"-W{word}")
        elif not given and RAISES.fullmatch(word):
            raises.add(word)
        elif not given and (limit := LEAST.fullmatch(word)):
            least = float(limit[1])
        else:
            left.append(word)
    return left, frozenset(raises), least


def _filters(key: str, was: Value, now: Value) -> bool:
    """Whether warning filters only gained ones that raise or lost ones that do not, in the same order."""
    old, new = (_lines(each) for each in (was, now))
    if old is None or new is None:
        return False
    came = [line for line in new if line not in old]
    gone = [line for line in old if line not in new]
    kept = [line for line in old if line in new] == [line for line in new if line in old]
    return kept and all(line.startswith("error") for line in came) and not any(line.startswith("error") for line in gone)


def _lines(value: Value) -> list[str] | None:
    if value is None:
        return []
    if isinstance(value, str):
        return [line.strip() for line in value.splitlines() if line.strip()]
    return [str(each) for each in value] if isinstance(value, list) else None


KINDS: tuple[tuple[Callable[[str], bool], Callable[[str, Value, Value], bool]], ...] = (
    (lambda key: key == "filterwarnings", _filters),
    (lambda key: key == "addopts", _calls),
    (lambda key: key in LIMITS, _raised),
    (lambda key: key in MOST, _lowered),
    (lambda key: key in EXCEPTED, _excepted),
    (lambda key: STRICT.fullmatch(key) is not None, _stricter),
    (lambda key: LENIENT.fullmatch(key) is not None, _less_lenient),
    (lambda key: key in ENABLED, _enabled),
)
