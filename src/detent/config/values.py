"""Checks one value of a setting, from text or TOML, against its key. Errors name the key and how to fix it."""

import json
import re
from collections.abc import Iterable
from operator import attrgetter
from typing import Literal, get_args, get_origin

from detent.config.settings import Settings, Texts, as_text, kind_of, variable
from detent.errors import DetentError
from detent.extensions import TRACKERS, names

LEAST = {
    **{f"debug.{key}": 1 for key in ("hypothesize", "instrument", "reduce_scope", "escalate")},
    **{f"limits.{key}": 0 for key in ("tokens", "usd", "minutes", "turns", "files")},
    **dict.fromkeys(("bash.timeout", "test.timeout", "review.max_rounds", "sandbox.cpus", "queue.slots", "queue.timeout", "queue.silence", "evidence.seconds"), 1),
    **dict.fromkeys(("tdd.retries", "queue.usd", "queue.tokens", "queue.hours", "notify.every"), 0),
    "agents.escalate.after": 0,
}  # fmt: skip
BELOW_THE_PROJECT = (re.compile(r"(?!/|~)(?!(?:.*/)?\.\.(?:/|\Z)).+"), "a path below the project")
FORMS = {
    "pr.plan": BELOW_THE_PROJECT,
    "test.report": BELOW_THE_PROJECT,
    "workspace.copy": BELOW_THE_PROJECT,
    "sandbox.memory": (re.compile(r"[1-9]\d*[kmg]?", re.IGNORECASE), "a size such as 512m or 8g"),
    "test.env": (re.compile(r"[A-Za-z_]\w*", re.ASCII), "names of environment variables"),
    "tracker.query": (
        re.compile(r"([\w\[\]]+=[^&=\s]+(&[\w\[\]]+=[^&=\s]+)*)?", re.ASCII),
        "parameters of the list of issues, as in a URL",
    ),
    "queue.window": (
        re.compile(r"((?!(.{5})-\2)([01]\d|2[0-3]):[0-5]\d-([01]\d|2[0-3]):[0-5]\d)?"),
        "a part of the day, from one time to another",
    ),
    "notify.webhook": (re.compile(r"(https?://[^\s/]\S*)?"), "an address that begins with https:// or http://"),
    "notify.events": (re.compile(r"person|paused|budget|over"), "some of person, paused, budget and over"),
    "tracker.branch": (
        re.compile(r"((?![-/.])(?!.*(?:\.\.|//|\.lock\Z|/\Z))(?=.*\{id\})(?:[\w./-]|\{id\}|\{title\})+)?", re.ASCII),
        "a branch name with {id}, and {title} if you like",
    ),
    "tracker.commit": (re.compile(r"(?:(?=.*\{(?:id|title)\})(?:[^{}\n]|\{id\}|\{title\})+)?"), "one line with {id} or {title}"),
    "forge.project": (re.compile(r"([\w.-]+(/[\w.-]+)+)?", re.ASCII), "a project as its forge names it"),
}
ROLE = re.compile(r"[A-Za-z][\w-]*", re.ASCII)
WORDS: dict[object, str] = {str: "a text", int: "a whole number", float: "a number", bool: "true or false", Texts: "a list of texts"}
EXAMPLES = {
    "a text": '"text"',
    "a whole number": "120",
    "a number": "2.5",
    "true or false": "true",
    "a list of texts": '["first", "second"]',
    "pr.plan": '"docs/plan.md"',
    "test.report": '"build/report.xml"',
    "workspace.copy": '["config/local.toml"]',
    "sandbox.memory": '"8g"',
    "test.env": '["CI", "DATABASE_URL"]',
    "tracker.query": '"labels=detent&milestone=3"',
    "tracker.branch": '"work/{id}-{title}"',
    "tracker.commit": '"{title} ({id})"',
    "forge.project": '"owner/name"',
    "queue.window": '"22:00-07:00"',
    "notify.webhook": '"https://example.com/hook"',
    "notify.events": '["person", "over"]',
}
BUILT_IN = ("builtin", "beads", "github", "gitlab")  # kinds of trackers
YES, NO = ("true", "1", "yes", "on"), ("false", "0", "no", "off")


def check_value(name: str, raw: object, where: str) -> object:
    """A TOML value, checked for the type and range of its key."""
    at = where if where in (variable(name), "TDD_MODEL", "TDD_MAX_RETRIES") else f"{where}: {name}"
    kind = kind_of(name)
    if name == "tracker.kind":
        return chosen(at, raw, BUILT_IN if raw in BUILT_IN else (*BUILT_IN, *names(TRACKERS, BUILT_IN)))
    if get_origin(kind) is Literal:
        return chosen(at, raw, get_args(kind))
    if not fits(kind, raw):
        raise DetentError(f"{at} is {seen(raw)}; expected {WORDS[kind]}", f"for example: {EXAMPLES.get(name) or EXAMPLES[WORDS[kind]]}")
    if isinstance(raw, int | float) and raw < LEAST.get(name, raw):
        raise DetentError(f"{at} is {raw}; it must be at least {LEAST[name]}", f"leave it out for the default, {_default(name)}")
    if name in FORMS:
        _check_form(at, name, [str(each) for each in (raw if isinstance(raw, list) else [raw])])
    return tuple(raw) if isinstance(raw, list) else raw


def checked_text(name: str, text: str, where: str) -> object:
    """A value written as text, as in the environment, parsed and checked."""
    value = _from_text(kind_of(name), text)
    return check_value(name, value, where)


def chosen(at: str, raw: object, choices: tuple[str, ...]) -> str:
    """The value if it is one of the choices, else an error that lists them."""
    shown = ", ".join(f'"{c}"' for c in choices if c)
    for choice in choices:
        if raw == choice:
            return choice
    near = nearest(str(raw).lower(), [c.lower() for c in choices])
    meant = next((c for c in choices if near and c.lower() == near), "")
    raise DetentError(f"{at} is {seen(raw)}; expected one of {shown}", f'did you mean "{meant}"?' if meant else "take one of these")


def _check_form(at: str, name: str, texts: list[str]) -> None:
    form, expected = FORMS[name]
    for text in texts:
        if not form.fullmatch(text):
            raise DetentError(f"{at} has {seen(text)}; expected {expected}", f"for example: {EXAMPLES[name]}")


def fits(kind: object, value: object) -> bool:
    """Whether a TOML value has the type of a key."""
    if kind == Texts:
        return isinstance(value, list) and all(isinstance(v, str) and v.strip() for v in value)
    if isinstance(value, bool):
        return kind is bool
    if kind is float:
        return isinstance(value, int | float) and abs(value) < 1e300
    return isinstance(value, int) if kind is int else isinstance(value, str) and kind is str


def _from_text(kind: object, text: str) -> object:
    """A text parsed as a type; the text itself if it cannot be parsed."""
    if kind is bool:
        return True if text.lower() in YES else False if text.lower() in NO else text
    if kind is int:
        return int(text) if re.fullmatch(r"\s*[+-]?\d{1,18}\s*", text) else text
    if kind is float:
        return float(text) if re.fullmatch(r"\s*[+-]?\d{1,18}(\.\d*)?\s*", text) else text
    if kind != Texts:
        return text
    try:
        listed: object = json.loads(text) if text.lstrip().startswith("[") else [text] if text.strip() else []
    except (ValueError, RecursionError):
        return text
    return listed


def seen(raw: object) -> str:
    """A value as shown in an error."""
    if isinstance(raw, str):
        return f"the text {json.dumps(raw[:80], ensure_ascii=False)}"
    if isinstance(raw, bool | int | float):
        return str(raw).lower()[:40]
    return "a list" if isinstance(raw, list) else "a table" if isinstance(raw, dict) else "a date or time"


def _default(name: str) -> str:
    return as_text(attrgetter(name)(Settings()))


def nearest(name: str, names: Iterable[str]) -> str:
    """The closest name, or ""."""
    import difflib  # imported late: only for errors

    return next(iter(difflib.get_close_matches(name, list(names), 1)), "")


def unknown(sentence: str, name: str, known: Iterable[str], shown: str = "{}", otherwise: str = "") -> DetentError:
    """The error for an unknown name, with the closest known one."""
    names = list(known)
    near = nearest(name, names)
    listed = otherwise or "known: " + ", ".join(shown.format(each) for each in names)
    return DetentError(sentence, f"did you mean {shown.format(near)}?" if near else listed)
