"""Settings: `detent.toml`, or `[tool.detent]` in `pyproject.toml`, and the environment, as one frozen value.

The structs below are the whole list of keys; what is read is checked against them, value by value, naming where it stands and the
way out. A later source wins: tdd.properties, detent.toml, TDD_*, DETENT_*, flags. Reads through a function that is handed in, because
what decides gates is read from the base commit of a run. Knows nothing of what the settings are for.
"""

import difflib
import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

import msgspec

from detent.errors import DetentError
from detent.kernel.model import Value

FILE, PYPROJECT, PROPERTIES = "detent.toml", "pyproject.toml", "tdd.properties"
NOT_SETTINGS = ("DETENT_RUN", "DETENT_STATE", "DETENT_ROLE")  # what Detent tells the agents it starts
TDD_NAMES = {"TDD_MODEL": "agents.model", "TDD_MAX_RETRIES": "tdd.retries"}
PROPERTY_NAMES = ("bash.timeout", "test.command")

Texts = tuple[str, ...]
Read = Callable[[str], str | None]


class Project(Value, frozen=True):
    name: str = ""
    tech_stack: Texts = ()


class Test(Value, frozen=True):
    __test__ = False
    command: str = ""
    files: Texts = ()
    timeout: int = 120  # unset: bash.timeout
    env: Texts = ()


class Bash(Value, frozen=True):
    timeout: int = 120


class Preflight(Value, frozen=True):
    commands: Texts | None = None  # unset: the full test command, lint and type check where the project configures them


class Pr(Value, frozen=True):
    plan: str = "docs/Plan_Doc/Active_Plan.md"


class Tdd(Value, frozen=True):
    retries: int = 3


class Git(Value, frozen=True):
    main: str = ""
    branching: bool = True
    checkpoint: Literal["auto", "agent"] = "auto"
    squash: Literal["agent", "auto"] = "agent"
    merge: Literal["auto", "branch", "pull-request"] = "auto"
    pr_command: str = ""
    remote: str = "origin"


class Debug(Value, frozen=True):
    hypothesize: int = 1
    instrument: int = 3
    reduce_scope: int = 6
    escalate: int = 10


class Review(Value, frozen=True):
    agent: str = ""
    block_at: Literal["CRITICAL", "MAJOR", "MINOR", "SUGGESTION", "INFO"] = "MINOR"
    max_rounds: int = 5
    require_independent: bool = False


class Agents(Value, frozen=True):
    model: str = "claude-opus-4-5-20251101"
    roles: dict[str, str] = {}  # every other key of the section, in lower case

    def of(self, role: str) -> str:
        """The agent that is configured for a role; empty if none is."""
        return self.roles.get(role.lower(), "")


class Evidence(Value, frozen=True):
    mutation: Literal["off", "warn", "require"] = "warn"
    clean: bool = False


class Limits(Value, frozen=True):
    tokens: int = 0
    usd: float = 0.0
    minutes: int = 0
    turns: int = 0
    files: int = 0


class Sandbox(Value, frozen=True):
    level: Literal["", "none", "bubblewrap", "container"] = ""
    cpus: int = 4
    memory: str = "8g"
    network: bool = False
    mounts: Texts = ()
    image: str = ""


class Workspace(Value, frozen=True):
    setup: str = ""
    copy: Texts = ()


class Queue(Value, frozen=True):
    url: str = ""
    slots: int = 3
    timeout: int = 21600
    silence: int = 21600
    strategy: Literal["plain", "tdd", "pr"] = "plain"


class Tracker(Value, frozen=True):
    kind: Literal["builtin", "beads"] = "builtin"


class Decisions(Value, frozen=True):
    require: Literal["", "terminal"] = ""


class Settings(Value, frozen=True):
    """Every setting, checked."""

    project: Project = Project()
    test: Test = Test()
    bash: Bash = Bash()
    preflight: Preflight = Preflight()
    pr: Pr = Pr()
    tdd: Tdd = Tdd()
    git: Git = Git()
    debug: Debug = Debug()
    review: Review = Review()
    agents: Agents = Agents()
    evidence: Evidence = Evidence()
    limits: Limits = Limits()
    sandbox: Sandbox = Sandbox()
    workspace: Workspace = Workspace()
    queue: Queue = Queue()
    tracker: Tracker = Tracker()
    decisions: Decisions = Decisions()

    def flat(self) -> dict[str, str]:
        """Dotted names to text: booleans as true and false, lists as JSON, unset as empty."""
        pairs = {name: getattr(getattr(self, name.partition(".")[0]), name.partition(".")[2]) for name in kinds()}
        return {name: _text(value) for name, value in pairs.items()} | {
            f"agents.{role}": agent for role, agent in self.agents.roles.items()
        }


LEAST = {
    **{f"debug.{key}": 1 for key in ("hypothesize", "instrument", "reduce_scope", "escalate")},
    **{f"limits.{key}": 0 for key in ("tokens", "usd", "minutes", "turns", "files")},
    **dict.fromkeys(("bash.timeout", "test.timeout", "review.max_rounds", "sandbox.cpus", "queue.slots", "queue.timeout", "queue.silence"), 1),
    "tdd.retries": 0,
}  # fmt: skip
BELOW_THE_PROJECT = (re.compile(r"(?!/|~)(?!(?:.*/)?\.\.(?:/|\Z)).+"), "a path below the project")
FORMS = {
    "pr.plan": BELOW_THE_PROJECT,
    "workspace.copy": BELOW_THE_PROJECT,
    "sandbox.memory": (re.compile(r"[1-9]\d*[kmg]?", re.IGNORECASE), "a size such as 512m or 8g"),
    "test.env": (re.compile(r"[A-Za-z_]\w*", re.ASCII), "names of environment variables"),
}
ROLE = re.compile(r"[A-Za-z][\w-]*", re.ASCII)
WORDS: dict[Any, str] = {str: "a text", int: "a whole number", float: "a number", bool: "true or false", Texts: "a list of texts"}
YES, NO = ("true", "1", "yes", "on"), ("false", "0", "no", "off")


@cache
def kinds() -> dict[str, Any]:
    """Every key by its dotted name, with the type of its value: str, int, float, bool, Texts or a Literal."""
    sections = {section: kind for section, kind in get_type_hints(Settings).items()}
    found = {f"{section}.{key}": kind for section, of in sections.items() for key, kind in get_type_hints(of).items()}
    del found["agents.roles"]
    return {name: Texts if kind == Texts | None else kind for name, kind in found.items()}


def variable(name: str) -> str:
    """The environment variable of a key."""
    return "DETENT_" + name.replace(".", "_").replace("-", "_").upper()


class Layer(NamedTuple):
    """Values of one source, checked, by dotted name."""

    source: str
    values: dict[str, Any]


def load(read: Read, env: Mapping[str, str], flags: Mapping[str, str] | None = None) -> Settings:
    """The settings. `read` gives the text of a file of the project, or None; flags are dotted names to text."""
    layers = (_properties(read), _toml(read), _tdd(env), *_variables(env), *_flags(flags or {}))
    values = {name: value for layer in layers for name, value in layer.values.items()}
    sources = {name: layer.source for layer in layers for name in layer.values}
    values.setdefault("test.timeout", values.get("bash.timeout", Bash().timeout))
    settings = _build(values)
    _check_order(settings.debug, sources)
    return settings


def project_root(env: Mapping[str, str]) -> str | None:
    """The folder that TDD_PROJECT_ROOT names, if it is set; the flag -C goes before it."""
    return env.get("TDD_PROJECT_ROOT") or None


def _build(values: Mapping[str, Any]) -> Settings:
    nested: dict[str, dict[str, Any]] = {}
    for name, value in values.items():
        section, _, key = name.partition(".")
        if section == "agents" and key != "model":
            nested.setdefault("agents", {}).setdefault("roles", {})[key] = value
        else:
            nested.setdefault(section, {})[key] = value
    return msgspec.convert(nested, Settings)


# The sources, from the weakest to the strongest.


def _properties(read: Read) -> Layer:
    """tdd.properties, in the format of Java's properties."""
    values = {}
    for line, name, value in _java_lines((read(PROPERTIES) or "").removeprefix("\ufeff")):
        if name not in PROPERTY_NAMES:
            raise _unknown(f"{PROPERTIES}, line {line}: there is no key {name}", name, PROPERTY_NAMES)
        values[name] = _checked(name, value, PROPERTIES, is_text=True)
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
        raise DetentError(f"both {FILE} and [tool.detent] in {PYPROJECT} are there", f"move everything into {FILE}, and remove the other")
    if own is not None:
        return Layer(FILE, dict(_tables(_parsed(FILE, own), FILE)))
    where = f"{PYPROJECT} [tool.detent]"
    return Layer(where, dict(_tables(table, where)) if table is not None else {})


def _tool_table(text: str) -> Any:
    """[tool.detent], or None. A pyproject.toml that is not TOML matters only if it seems to be ours."""
    try:
        tool = tomllib.loads(text).get("tool")
    except tomllib.TOMLDecodeError:
        if "tool.detent" not in text:
            return None
        tool = _parsed(PYPROJECT, text).get("tool")
    return tool.get("detent") if isinstance(tool, dict) else None


def _parsed(file: str, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except (tomllib.TOMLDecodeError, RecursionError) as e:
        place = re.search(r"\(at (line \d+, column \d+|end of document)\)", str(e))
        what = str(e).partition(" (at ")[0]
        raise DetentError(f"{file}, {place[1] if place else 'somewhere'}: not TOML: {what}", "mend that line; texts stand in quotes") from e


def _tables(table: Any, where: str) -> Iterator[tuple[str, Any]]:
    """Every value of a parsed file, checked, by dotted name."""
    if not isinstance(table, dict):
        raise DetentError(f"{where}: expected sections, found {_seen(table)}", "write sections such as [test]")
    for section, keys in table.items():
        if not isinstance(keys, dict) and section not in Settings.__struct_fields__:
            at = [name for name in kinds() if name.endswith(f".{section}")]
            hint = (
                f"write it under {' or '.join(f'[{n.partition(".")[0]}]' for n in at)}"
                if at
                else "every key stands in a section such as [test]"
            )
            raise DetentError(f"{where}: {section} stands outside of a section", hint)
        if section not in Settings.__struct_fields__:
            raise _unknown(f"{where}: there is no section [{section}]", section, Settings.__struct_fields__, "[{}]")
        if not isinstance(keys, dict):
            raise DetentError(f"{where}: {section} is a section, not {_seen(keys)}", f"write [{section}], and its keys below it")
        for key, raw in keys.items():
            name = _known(section, key, where)
            yield name, _checked(name, raw, where)


def _known(section: str, key: str, where: str) -> str:
    """The dotted name of a key that exists. Under [agents], any name is a role."""
    if f"{section}.{key}" in kinds():
        return f"{section}.{key}"
    if section == "agents" and ROLE.fullmatch(key):
        return f"agents.{key.lower()}"
    keys = [name.partition(".")[2] for name in kinds() if name.startswith(f"{section}.")]
    elsewhere = [f"[{name.partition('.')[0]}] {key}" for name in kinds() if name.endswith(f".{key}")]
    if elsewhere and not difflib.get_close_matches(key, keys, 1):
        raise DetentError(f"{where}: [{section}] has no key {key}", f"did you mean {' or '.join(elsewhere)}?")
    raise _unknown(f"{where}: [{section}] has no key {key}", key, keys)


def _tdd(env: Mapping[str, str]) -> Layer:
    return Layer("TDD_*", {name: _checked(name, env[old], old, is_text=True) for old, name in TDD_NAMES.items() if env.get(old)})


def _variables(env: Mapping[str, str]) -> Iterator[Layer]:
    names = {variable(name): name for name in kinds()}
    for key in sorted(env):
        if not key.startswith("DETENT_") or key in NOT_SETTINGS:
            continue
        role = key.removeprefix("DETENT_AGENTS_")
        name = names.get(key) or (f"agents.{role.lower()}" if role != key and ROLE.fullmatch(role) else "")
        if not name:
            raise _unknown(f"the environment variable {key} is not a setting", key, names, more="; else unset it")
        yield Layer(key, {name: _checked(name, env[key], key, is_text=True)})


def _flags(flags: Mapping[str, str]) -> Iterator[Layer]:
    for name, value in flags.items():
        yield Layer("the command line", {name: _checked(name, value, "the command line", is_text=True)})


# One value.


def _checked(name: str, raw: Any, where: str, is_text: bool = False) -> Any:
    """A value of the right type and in its range, or the error that names it."""
    kind = kinds().get(name, str)
    value = _from_text(kind, raw) if is_text else raw
    at = where if where.startswith(("DETENT_", "TDD_")) else f"{where}: {name}"
    choices = get_args(kind) if get_origin(kind) is Literal else ()
    if choices and value not in choices:
        shown = ", ".join(f'"{c}"' for c in choices)
        near = difflib.get_close_matches(str(value), choices, 1)
        raise DetentError(
            f"{at} is {_seen(raw)}; expected one of {shown}", f'did you mean "{near[0]}"?' if near else f"take one of {shown}"
        )
    if not choices and not _fits(kind, value):
        raise DetentError(f"{at} is {_seen(raw)}; expected {WORDS[kind]}", f"for example: {_example(name, kind, is_text)}")
    if name in LEAST and value < LEAST[name]:
        raise DetentError(f"{at} is {value}; it must be at least {LEAST[name]}", f"leave it out for the default, {_default(name)}")
    form = FORMS.get(name)
    for each in (value if isinstance(value, list | tuple) else (value,)) if form else ():
        if form and not form[0].fullmatch(each):
            raise DetentError(f'{at} has "{each}"; expected {form[1]}', f"for example: {_example(name, kind, is_text)}")
    return float(value) if kind is float else tuple(value) if kind == Texts else value


def _fits(kind: Any, value: Any) -> bool:
    if kind == Texts:
        return isinstance(value, list | tuple) and all(isinstance(v, str) and v.strip() for v in value)
    if kind in (int, float):
        finite = isinstance(value, int) or (kind is float and isinstance(value, float) and abs(value) < 1e300)
        return finite and not isinstance(value, bool)
    return isinstance(value, kind)


def _from_text(kind: Any, text: str) -> Any:
    """What a text of the environment stands for; the text itself where it stands for nothing."""
    if kind is bool:
        return True if text.lower() in YES else False if text.lower() in NO else text
    if kind is int:
        return int(text) if re.fullmatch(r"\s*[+-]?\d{1,18}\s*", text) else text
    if kind is float:
        return float(text) if re.fullmatch(r"\s*[+-]?\d{1,18}(\.\d*)?\s*", text) else text
    if kind != Texts:
        return text
    try:
        return json.loads(text) if text.lstrip().startswith("[") else [text] if text.strip() else []
    except ValueError:
        return text


def _seen(raw: Any) -> str:
    if isinstance(raw, str):
        return f"the text {json.dumps(raw[:80], ensure_ascii=False)}"
    if isinstance(raw, bool | int | float):
        return str(raw).lower()
    return {list: "a list", dict: "a table"}.get(type(raw), "a date or time")


def _default(name: str) -> str:
    section, _, key = name.partition(".")
    return _text(getattr(getattr(Settings(), section), key)) or '""'


def _example(name: str, kind: Any, is_text: bool) -> str:
    examples = {int: "120", float: "2.5", bool: "true", Texts: '["a", "b"]', str: '"text"'}
    forms = {
        "pr.plan": '"docs/plan.md"',
        "workspace.copy": '[".env.example"]',
        "sandbox.memory": '"8g"',
        "test.env": '["CI", "DATABASE_URL"]',
    }
    shown = forms.get(name) or examples[kind]
    return (
        f"{variable(name)}={shown.strip('"') if shown.startswith('"') else repr(shown) if kind == Texts else shown}"
        if is_text
        else f"{name.partition('.')[2]} = {shown}"
    )


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:g}"
    return json.dumps(list(value), ensure_ascii=False) if isinstance(value, tuple) else str(value)


def _unknown(sentence: str, name: str, known: Any, shown: str = "{}", more: str = "") -> DetentError:
    near = difflib.get_close_matches(name, list(known), 1)
    listed = ", ".join(shown.format(each) for each in known)
    return DetentError(sentence, (f"did you mean {shown.format(near[0])}?" if near else f"known: {listed}") + more)


def _check_order(debug: Debug, sources: Mapping[str, str]) -> None:
    """The nudges of debugging come in their order."""
    keys = Debug.__struct_fields__
    for before, after in zip(keys, keys[1:], strict=False):
        if getattr(debug, before) > getattr(debug, after):
            where = sources.get(f"debug.{before}") or sources.get(f"debug.{after}")
            said = f"debug.{before} ({getattr(debug, before)}) is more than debug.{after} ({getattr(debug, after)})"
            raise DetentError(f"{where}: {said}", f"they must rise: {', '.join(keys)}")
