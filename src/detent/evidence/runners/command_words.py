"""A command line into words, as a shell would split it, without ever being a shell. What only a shell could do is a fault."""

import re
import shlex
from collections.abc import Callable

from detent.evidence.runners.adapter import Parsed

Words = tuple[str, ...]
LONGEST = 10_000
MEANING = {
    ";": "`;` chains commands",
    "&": "`&` chains commands",
    "|": "`|` chains commands",
    "<": "`<` redirects",
    ">": "`>` redirects",
    "`": "a backtick runs another command",
    "$": "`$` is expanded by a shell",
    "(": "`(` starts a subshell (quote a test id that has it)",
    ")": "`)` ends a subshell (quote a test id that has it)",
    "*": "`*` is expanded by a shell (name the files or folders)",
    "?": "`?` is expanded by a shell (name the files or folders)",
}
IN_DOUBLE_QUOTES = "$`"
ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")


def split(command: str, globs: bool = False) -> tuple[tuple[str, ...], str]:
    """The words of a command line, or what is wrong with it. `globs`: patterns of file names are words like others."""
    if len(command) > LONGEST:
        return (), f"the command has {len(command)} characters"
    if any((ord(c) < 32 and c != "\t") or ord(c) == 127 for c in command.strip()):
        return (), "a line break or control character ends the command"
    if fault := _shell_fault(command, "*?" if globs else ""):
        return (), fault
    try:
        words = tuple(shlex.split(command))
    except ValueError as e:
        return (), f"the command cannot be split into words ({str(e)[:1].lower()}{str(e)[1:]})"
    if not words:
        return (), "the command is empty"
    if ASSIGNMENT.match(words[0]):
        return (), f"`{words[0]}` sets an environment variable"
    return words, ""


def parsed(command: str, after: Callable[[Words], Words | str | None], options: Callable[[Words], Parsed], allowed: str) -> Parsed:
    """The selectors of an agent's command, or the one sentence that refuses it. The machine never runs it: it makes its own call.

    `after`: the words after the call of the runner, None if it is another program, a text if that is wrong with it; `options`: what they select.
    """
    words, fault = split(command)
    rest = fault or after(words)
    if rest is None:
        rest = f"`{words[0]}` is not a call of the project's test runner"
    found = Parsed(fault=rest) if isinstance(rest, str) else options(rest)
    return (
        Parsed(found.selectors)
        if not found.fault
        else Parsed(fault=f"{found.fault}; use one call of the project's own test runner: {allowed}")
    )


def after_first(words: Words, *calls: Words) -> Words | None:
    """The words after the first of these calls that they begin with."""
    return next((words[len(call) :] for call in calls if call and words[: len(call)] == call), None)


def _shell_fault(command: str, plain: str) -> str:
    """The first character that means something to a shell where it stands."""
    quote, escaped = "", False
    for c in command:
        if escaped:
            escaped = False
        elif c == "\\" and quote != "'":
            escaped = True
        elif quote:
            if c == quote:
                quote = ""
            elif quote == '"' and c in IN_DOUBLE_QUOTES:
                return MEANING[c]
        elif c in "'\"":
            quote = c
        elif c in MEANING and c not in plain:
            return MEANING[c]
    return ""


def path_fault(selector: str) -> str:
    """What is wrong with a path or node id: it must stay below the project and be nothing but a path."""
    path = selector.partition("::")[0]
    if not path:
        return f"`{selector}` does not name a file"
    if path.startswith(("/", "~", "@")) or re.match(r"[A-Za-z]:[\\/]", path):
        return f"`{path}` is not a path inside the project"
    if ".." in path.split("/"):
        return f"`{path}` leaves the project"
    return ""


def below(path: str, scope: str) -> bool:
    """Whether a file is a path that a command names, or lies below it."""
    plain = scope.removeprefix("./").rstrip("/")
    return plain in ("", ".", path) or path.startswith(f"{plain}/")
