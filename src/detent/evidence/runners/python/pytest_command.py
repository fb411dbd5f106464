"""Command lines of pytest: which calls are recognised, which words select tests, and which options an agent may not use.

Options that only change the display are dropped; every option that is not listed is refused.
"""

import re
import shlex
from collections.abc import Sequence

from detent.evidence.runners.adapter import Command, Parsed, after_first, parsed, path_fault

PYTHON = re.compile(r"(?:\.?venv/bin/)?python(?:3(?:\.\d+)?)?")
PYTEST = re.compile(r"(?:\.?venv/bin/)?(?:pytest|py\.test)")
ENVIRONMENTS = ("uv", "poetry", "pdm", "pipenv")  # `uv run pytest` and the like
ENVIRONMENT_FLAGS = ("--frozen", "--locked", "--no-sync", "--offline", "--quiet", "-q", "--")
THROUGH = (*ENVIRONMENTS, "hatch", "rye", "pixi", "conda", "env", "timeout", "nice", "xvfb-run")  # in configured commands only
VALUE_IS_A_PACKAGE = ("--with", "--extra", "--group", "--only-group", "--package")

FLAGS = "qvxsl"  # -q -v -x -s -l, alone or combined
FLAGS_LONG = ("--quiet", "--verbose", "--exitfirst", "--showlocals", "--no-header", "--no-summary", "--disable-warnings")
VALUES_LONG = ("--tb", "--maxfail", "--color", "--capture", "--durations", "--verbosity", "--show-capture")
SELECTING = {"-k": "-k", "-m": "-m", "--keyword": "-k", "--markexpr": "-m"}
TAKE_A_VALUE = ("-k", "-m", "-p", "-c", "-o", "-n", "-W", "-r", "-w")  # in configured commands only
SHOWN = "-q, -v, -x, -s, -l, -r, --tb and --maxfail are taken and change nothing"


def parse(command: str, base: Command) -> Parsed:
    """The selectors of an agent's command, or the fault that refuses it."""
    call = shlex.join(without_paths(base))
    allowed = f"`{call}` with test files, folders, node ids, -k or -m ({SHOWN})"
    return parsed(command, lambda words: _after_program(_plain(words), base), _options, allowed)


def adopt(words: tuple[str, ...]) -> Command | None:
    """A configured command that calls pytest, also through an environment tool (`uv run --extra test pytest`); else None."""
    if not (end := program_end(words)):
        return None
    return Command(words, "pytest", "configured", tuple(words[at] for at in paths_at(words, end)))


def program_end(words: Sequence[str]) -> int:
    """The number of words that call pytest, before its own options; 0 if they do not certainly call it."""
    if words[0] == "tox":
        return words.index("--") + 1 if "--" in words else 0
    for at, word in enumerate(words):
        before = words[at - 1] if at else ""
        if word == "pytest" and before == "-m":
            return at + 1
        if word.rpartition("/")[2] in ("pytest", "py.test") and before not in VALUE_IS_A_PACKAGE and (at == 0 or words[0] in THROUGH):
            return at + 1
    return 0


def paths_at(words: Sequence[str], start: int) -> list[int]:
    """The indexes of words that are paths, not options or their values; if unsure, a value."""
    found, value_next = [], False
    for at in range(start, len(words)):
        word = words[at]
        if word.startswith("-"):
            known_flag = word in FLAGS_LONG or word.startswith("--strict") or set(word[1:]) <= set(FLAGS)
            value_next = word in TAKE_A_VALUE or (word.startswith("--") and "=" not in word and not known_flag)
        elif value_next:
            value_next = False
        else:
            found.append(at)
    return found


def without_paths(base: Command) -> list[str]:
    """The project's call without the paths it names."""
    dropped = set(paths_at(base.argv, program_end(base.argv))) if base.paths else set()
    return [word for at, word in enumerate(base.argv) if at not in dropped]


def _plain(words: tuple[str, ...]) -> tuple[str, ...]:
    return (words[0].removeprefix("./"), *words[1:])


def _after_program(words: tuple[str, ...], base: Command) -> tuple[str, ...] | None:
    """The words after the call of the runner: the project's own call, or any plain call of pytest."""
    own = _plain(base.argv)
    shorter = _plain(tuple(without_paths(base)))
    bare = shorter[:-1] if shorter[-1:] == ("--",) else shorter
    rest = after_first(words, own, shorter, bare)
    return rest if rest is not None else _after_pytest(without_environment(words))


def without_environment(words: tuple[str, ...]) -> tuple[str, ...]:
    """A command without a leading `uv run` and the like."""
    if len(words) < 3 or words[0] not in ENVIRONMENTS or words[1] != "run":
        return words
    left = words[2:]
    while left and left[0] in ENVIRONMENT_FLAGS:
        left = left[1:]
    return left


def _after_pytest(words: tuple[str, ...]) -> tuple[str, ...] | None:
    if words and PYTEST.fullmatch(words[0]):
        return words[1:]
    if len(words) > 2 and PYTHON.fullmatch(words[0]) and words[1:3] == ("-m", "pytest"):
        return words[3:]
    return None


def _options(words: tuple[str, ...]) -> Parsed:
    """The selectors among pytest's options; the last -k and the last -m count, as in pytest."""
    paths: list[str] = []
    chosen: dict[str, str] = {}
    left = list(words)
    while left:
        word = left.pop(0)
        if not word.startswith("-"):
            if fault := path_fault(word):
                return Parsed(fault=fault)
            paths.append(word.removeprefix("./"))
            continue
        option, value, fault = _long(word, left) if word.startswith("--") else _short(word, left)
        if fault:
            return Parsed(fault=fault)
        if option:
            chosen[option] = value
    return Parsed((*paths, *(part for pair in chosen.items() for part in pair)))


Option = tuple[str, str, str]  # the selecting option, its value, the fault


def _long(word: str, left: list[str]) -> Option:
    name, equals, value = word.partition("=")
    if word in FLAGS_LONG:
        return "", "", ""
    if name not in VALUES_LONG and name not in SELECTING:
        return "", "", f"the option {name} can change the result"
    if not equals:
        value, fault = _value(name, left)
        if fault:
            return "", "", fault
    return SELECTING.get(name, ""), value, _expression_fault(name, value)


def _short(word: str, left: list[str]) -> Option:
    """Combined short options: flags first, then at most one option with its value, attached or in the next word."""
    letters = word[1:]
    rest = letters.lstrip(FLAGS)
    if not rest:
        return ("", "", "") if letters else ("", "", "`-` is not a selector")
    name, value = f"-{rest[0]}", rest[1:].removeprefix("=")
    if name not in (*SELECTING, "-r"):
        return "", "", f"the option {name} can change the result"
    if not value:
        value, fault = _value(name, left)
        if fault:
            return "", "", fault
    return SELECTING.get(name, ""), value, _expression_fault(name, value)


def _value(name: str, left: list[str]) -> tuple[str, str]:
    if not left or left[0].startswith("-"):
        return "", f"the option {name} has no value"
    return left.pop(0), ""


def _expression_fault(name: str, value: str) -> str:
    """The fault of an expression that is empty or looks like an option."""
    return f"the option {name} has no value" if name in SELECTING and (not value.strip() or value.startswith("-")) else ""
