"""Loads settings from their sources, the weakest first: tdd.properties, detent.toml or [tool.detent], TDD_*, DETENT_*, flags.

Reads files through a function, because settings that decide gates come from a commit.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import msgspec

from detent.config.settings import ROWS, TABLES, Bash, Debug, Flags, Settings, kinds, variable
from detent.config.table_rows import checked_gates, checked_projects, checked_tables
from detent.config.values import ROLE, check_value, checked_text, nearest, seen, unknown
from detent.errors import DetentError
from detent.extensions import FLAGS, names
from detent.extensions import load as load_extension
from detent.kernel.model import KINDS, LEVELS, Kind

FILE, PYPROJECT, PROPERTIES = "detent.toml", "pyproject.toml", "tdd.properties"
NOT_SETTINGS = (
    *("DETENT_RUN", "DETENT_STATE", "DETENT_ROLE"),  # set by Detent for agents
    *("DETENT_CHECK_CACHE", "DETENT_CHECK_SECRET"),  # for CI, see docs/ci.md
    "DETENT_TEST_WITHOUT",  # for Detent's own tests, see storage/machine.py
)
TDD_NAMES = {"TDD_MODEL": "agents.model", "TDD_MAX_RETRIES": "tdd.retries"}
PROPERTY_NAMES = ("bash.timeout", "test.command")

Read = Callable[[str], str | None]


class Layer(NamedTuple):
    """The checked values of one source, by dotted name."""

    source: str
    values: dict[str, Any]


def load(read: Read, env: Mapping[str, str], flags: Mapping[str, str] | None = None) -> Settings:
    """Load the settings. `read` gives the text of a project file, or None; `flags`: dotted name -> text."""
    layers = (_properties(read), _toml(read), _tdd(env), *_variables(env), *_flags(flags or {}))
    values = {name: value for layer in layers for name, value in layer.values.items()}
    sources = {name: layer.source for layer in layers for name in layer.values}
    values.setdefault("test.timeout", values.get("bash.timeout", Bash().timeout))
    settings = _build(values)
    _check_order(settings.debug, sources)
    _check_report(settings, sources)
    _check_reviewer(settings, sources)
    _check_escalation(settings, sources)
    return settings


def _build(values: Mapping[str, Any]) -> Settings:
    nested: dict[str, Any] = {ROWS: values.get(ROWS, ())}
    for name, value in values.items():
        if name == ROWS:
            continue
        section, _, key = name.partition(".")
        if section in TABLES:
            nested[section] = value
        elif key.startswith("escalate."):
            nested.setdefault("agents", {}).setdefault("escalate", {})[key.removeprefix("escalate.")] = value
        elif section == "agents" and name not in kinds():
            nested.setdefault("agents", {}).setdefault("roles", {})[key] = value
        elif section == "flags" and key not in Flags.__struct_fields__:
            nested.setdefault("flags", {}).setdefault("levels", {})[key] = value
        else:
            nested.setdefault(section, {})[key] = value
    return msgspec.convert(nested, Settings)


# The sources, from the weakest to the strongest.


def _properties(read: Read) -> Layer:
    """tdd.properties, in the format of Java's properties."""
    values = {}
    for line, name, value in _java_lines((read(PROPERTIES) or "").removeprefix("\ufeff")):
        if name not in PROPERTY_NAMES:
            raise unknown(f"{PROPERTIES}, line {line}: there is no key {name}", name, PROPERTY_NAMES)
        values[name] = checked_text(name, value, PROPERTIES)
    return Layer(PROPERTIES, values)


def _java_lines(text: str) -> Iterator[tuple[int, str, str]]:
    joined = re.sub(r"(?<!\\)((?:\\\\)*)\\\r?\n[ \t\f]*", r"\1", text)
    for number, line in enumerate(joined.splitlines(), 1):
        found = re.match(r"\s*([^#!\s=:][^\s=:]*)\s*[=:\s]\s*(.*?)\s*$", f"{line} ")
        if found:
            yield number, found[1], re.sub(r"\\(.)", r"\1", found[2])


def _toml(read: Read) -> Layer:
    own, shared = read(FILE), read(PYPROJECT) or ""
    table = _tool_table(shared) if "detent" in shared else None
    if own is not None and table is not None:
        raise DetentError(f"both {FILE} and [tool.detent] in {PYPROJECT} exist", f"move everything into {FILE} and remove the other")
    if own is not None:
        return Layer(FILE, dict(_tables(_parsed(FILE, own), FILE)))
    where = f"{PYPROJECT} [tool.detent]"
    return Layer(where, dict(_tables(table, where)) if table is not None else {})


def _tool_table(text: str) -> Any:
    """[tool.detent], or None. An invalid pyproject.toml is an error only if it mentions tool.detent."""
    import tomllib

    try:
        tool = tomllib.loads(text).get("tool")
    except (tomllib.TOMLDecodeError, RecursionError):
        if "tool.detent" not in text:
            return None
        tool = _parsed(PYPROJECT, text).get("tool")
    return tool.get("detent") if isinstance(tool, dict) else None


def _parsed(file: str, text: str) -> dict[str, Any]:
    import tomllib  # imported late: only a new run reads TOML

    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except (tomllib.TOMLDecodeError, RecursionError) as e:
        place = re.search(r"\(at (line \d+, column \d+|end of document)\)", str(e))
        what = str(e).partition(" (at ")[0]
        raise DetentError(f"{file}, {place[1] if place else 'somewhere'}: not TOML: {what}", "fix that line; text needs quotes") from e


def _tables(table: Any, where: str) -> Iterator[tuple[str, Any]]:
    """Every value of a parsed file, checked, by dotted name."""
    if not isinstance(table, dict):
        raise DetentError(f"{where}: expected sections, found {seen(table)}", "write sections such as [test]")
    for section, keys in table.items():
        if not isinstance(keys, dict) and section not in Settings.__struct_fields__:
            homes = [f"[{name.partition('.')[0]}]" for name in kinds() if name.endswith(f".{section}")]
            otherwise = f"did you mean [[{ROWS}]]?" if nearest(section, [ROWS]) else "put every key in a section such as [test]"
            hint = f"write it under {' or '.join(homes)}" if homes else otherwise
            raise DetentError(f"{where}: {section} is outside of a section", hint)
        if section not in Settings.__struct_fields__:
            raise unknown(f"{where}: there is no section [{section}]", section, Settings.__struct_fields__, "[{}]")
        if section == ROWS:
            yield ROWS, checked_gates(keys, where)
            continue
        if not isinstance(keys, dict):
            raise DetentError(f"{where}: {section} is a section, not {seen(keys)}", f"write [{section}], and its keys below it")
        if section in TABLES:
            yield section, checked_tables(section, keys, where)
            continue
        for key, raw in _rows(section, keys, where):
            if (section, key) == ("test", "project"):
                yield "test.project", checked_projects(raw, where)
                continue
            name = _known(section, key, where)
            yield name, check_value(name, raw, where)


def _rows(section: str, keys: dict[str, Any], where: str) -> Iterator[tuple[str, Any]]:
    """The keys of a section; those of [agents.escalate] become keys of [agents]."""
    for key, raw in keys.items():
        if (section, key) != ("agents", "escalate"):
            yield key, raw
        elif isinstance(raw, dict):
            yield from ((f"escalate.{each}", value) for each, value in raw.items())
        else:
            raise DetentError(
                f"{where}: agents.escalate is {seen(raw)}; expected a table", "write [agents.escalate], and below it after and to"
            )


def _known(section: str, key: str, where: str) -> str:
    """The dotted name of a key; an error if it does not exist. Under [agents] any key is a role."""
    if f"{section}.{key}" in kinds():
        return f"{section}.{key}"
    if section == "agents" and ROLE.fullmatch(key):
        return f"agents.{key.lower()}"
    if section == "flags" and is_kind(key):
        return f"flags.{key}"
    more = [f"flags.{kind}" for kind in kind_names()] if section == "flags" else []
    keys = [name.partition(".")[2] for name in dict.fromkeys((*kinds(), "test.project", *more)) if name.startswith(f"{section}.")]
    elsewhere = [f"[{name.partition('.')[0]}] {key}" for name in kinds() if name.endswith(f".{key}")]
    if elsewhere:
        raise DetentError(f"{where}: [{section}] has no key {key}", f"did you mean {' or '.join(elsewhere)}?")
    raise unknown(f"{where}: [{section}] has no key {key}", key, keys)


def _tdd(env: Mapping[str, str]) -> Layer:
    return Layer("TDD_*", {name: checked_text(name, env[old], old) for old, name in TDD_NAMES.items() if env.get(old)})


def _variables(env: Mapping[str, str]) -> Iterator[Layer]:
    names = {variable(name): name for name in kinds()}
    for key in sorted(env):
        if not key.startswith("DETENT_") or key in NOT_SETTINGS:
            continue
        role = key.removeprefix("DETENT_AGENTS_")
        name = names.get(key) or (f"agents.{role.lower()}" if role != key and ROLE.fullmatch(role) else _installed_flag(key))
        if not name:
            way_out = "unset it; docs/configuration.md lists the settings"
            known = [each.removeprefix("DETENT_") for each in names]
            raise unknown(f"the environment variable {key} is not a setting", key.removeprefix("DETENT_"), known, "DETENT_{}", way_out)
        yield Layer(key, {name: checked_text(name, env[key], key)})


def _installed_flag(key: str) -> str:
    """The setting of a variable, if it is the level of a kind of flag from a package; else empty."""
    known = (f"flags.{kind}" for kind in kind_names() if key == variable(f"flags.{kind}") and is_kind(kind))
    return next(known, "") if key.startswith("DETENT_FLAGS_") else ""


def _flags(flags: Mapping[str, str]) -> Iterator[Layer]:
    for name, value in flags.items():
        yield Layer("the command line", {name: checked_text(name, value, "the command line")})


def _check_reviewer(settings: Settings, sources: Mapping[str, str]) -> None:
    """Refuse answered_by = "reviewer" without a configured reviewer."""
    if settings.flags.answered_by == "reviewer" and not settings.review.agent:
        raise DetentError(
            f'{sources["flags.answered_by"]}: flags.answered_by is "reviewer", and no reviewer is configured',
            'name one: [review] agent = "…"; or let a person answer: [flags] answered_by = "person"',
        )


def _check_report(settings: Settings, sources: Mapping[str, str]) -> None:
    """Refuse test.report without test.command."""
    if settings.test.report and not settings.test.command:
        raise DetentError(
            f"{sources['test.report']}: test.report is set, and test.command is not",
            'name the command that writes it: [test] command = "…"',
        )


def _check_escalation(settings: Settings, sources: Mapping[str, str]) -> None:
    """Refuse [agents.escalate] with only one of `after` and `to`."""
    after, to = settings.agents.escalate.after, settings.agents.escalate.to
    if bool(after) != bool(to.strip()):
        is_set, missing = ("after", "to") if after else ("to", "after")
        raise DetentError(
            f"{sources[f'agents.escalate.{is_set}']}: agents.escalate.{is_set} is set, and agents.escalate.{missing} is not",
            'set both, such as: [agents.escalate], and below it after = 2 and to = "claude:opus"',
        )


def _check_order(debug: Debug, sources: Mapping[str, str]) -> None:
    """Refuse [debug] limits that do not increase."""
    keys = Debug.__struct_fields__
    for before, after in pairwise(keys):
        if getattr(debug, before) > getattr(debug, after):
            where = sources.get(f"debug.{before}") or sources.get(f"debug.{after}")
            message = f"debug.{before} ({getattr(debug, before)}) is more than debug.{after} ({getattr(debug, after)})"
            raise DetentError(f"{where}: {message}", f"they must increase: {', '.join(keys)}")


def is_kind(name: str) -> bool:
    """Whether a kind of flag exists."""
    return name in KINDS or load_extension(FLAGS, name, _wrong) is not None


def kind_names() -> tuple[str, ...]:
    """Every kind of flag, the built-in ones first."""
    return (*KINDS, *names(FLAGS, KINDS))


def _wrong(value: object) -> str:
    if not isinstance(value, Kind):
        return f"it is a {type(value).__name__}, not a Kind"
    return "" if value.level in LEVELS else f"its level is '{value.level}'; it must be one of {', '.join(LEVELS)}"
