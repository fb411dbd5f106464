"""Command lines of `python -m unittest`: whose call it is, which words select tests, and which options an agent may not use.

An agent's command is never run. The machine takes its selectors and makes its own call.
"""

import re
from collections.abc import Sequence

from detent.evidence.runners.adapter import Command, Parsed, after_first, parsed, path_fault
from detent.evidence.runners.python.pytest_command import ENVIRONMENTS, without_environment

PYTHON = re.compile(r"(?:.*/)?python(?:3(?:\.\d+)?)?")
AGENTS_PYTHON = re.compile(r"(?:\.?venv/bin/)?python(?:3(?:\.\d+)?)?")
SHOWN = ("-v", "--verbose", "-q", "--quiet", "-f", "--failfast", "-b", "--buffer", "-c", "--catch", "--locals")
VALUES = {"-k": "-k", "-p": "-p", "--pattern": "-p", "-s": "-s", "--start-directory": "-s", "-t": "-t", "--top-level-directory": "-t"}
NOT_OURS = ("-h", "--help")
CALL = "`python -m unittest` with test files, folders, names of modules or tests, -k, or `discover` with -s or -p"


def adopt(words: tuple[str, ...]) -> Command | None:
    """A configured command that calls unittest, also through an environment tool; else None."""
    end = program_end(words)
    if not end or set(words[end:]) & set(NOT_OURS):
        return None
    return Command(words, "unittest", "configured")


def program_end(words: Sequence[str]) -> int:
    """The number of words that call unittest; 0 if they do not certainly call it."""
    for at in range(len(words) - 2):
        if PYTHON.fullmatch(words[at]) and words[at + 1] == "-m" and words[at + 2] == "unittest" and _leads(words[:at]):
            return at + 3
    return 0


def _leads(words: Sequence[str]) -> bool:
    return not words or words[0] == "env" or tuple(words[:2]) in {(name, "run") for name in ENVIRONMENTS}


def parse(command: str, base: Command) -> Parsed:
    """The selectors of an agent's command, or the fault that refuses it."""
    return parsed(command, lambda words: _after_program((words[0].removeprefix("./"), *words[1:]), base), _options, CALL)


def _after_program(words: tuple[str, ...], base: Command) -> tuple[str, ...] | None:
    if words[: len(base.argv)] == base.argv:
        return words[len(base.argv) :]
    words = without_environment(words)
    own = base.argv[: program_end(base.argv)]
    return after_first(words, own, (words[0], "-m", "unittest") if words and AGENTS_PYTHON.fullmatch(words[0]) else own)


def _options(words: tuple[str, ...]) -> Parsed:
    left = list(words[1:] if words[:1] == ("discover",) else words)
    paths: list[str] = []
    chosen: list[str] = []
    while left:
        name, equals, value = left.pop(0).partition("=") if left[0].startswith("--") else (left.pop(0), "", "")
        if name in VALUES and not equals:
            value = left.pop(0) if left and not left[0].startswith("-") else ""
        if fault := _fault(name, value):
            return Parsed(fault=fault)
        if not name.startswith("-"):
            paths.append(as_path(name))
        elif VALUES.get(name) == "-s":
            paths.append(value.removeprefix("./").rstrip("/") or ".")
        elif VALUES.get(name) in ("-k", "-p"):
            chosen.append(f"{VALUES[name]}={value}")
    return Parsed((*paths, *chosen))


def _fault(name: str, value: str) -> str:
    if not name.startswith("-"):
        return path_fault(name)
    if name in VALUES:
        wrong = path_fault(value) if VALUES[name] in ("-s", "-t") and value else ""
        return wrong or ("" if value.strip() else f"the option {name} has no value")
    return "" if name in SHOWN and not value else f"the option {name} can change the result"


def as_path(word: str) -> str:
    """A dotted name as a path, with classes and tests after `::`; class names start with a capital."""
    if "/" in word or "::" in word or word.endswith(".py") or word in ("", "."):
        return word.removeprefix("./").rstrip("/")
    parts = word.split(".")
    at = next((i for i, part in enumerate(parts) if part[:1].isupper()), len(parts))
    is_file = at < len(parts) or (parts[at - 1].startswith("test") and parts[at - 1] not in ("test", "tests"))
    return "::".join(["/".join(parts[:at]) + (".py" if is_file else ""), *parts[at:]])
