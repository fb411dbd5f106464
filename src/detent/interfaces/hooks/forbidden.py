"""Recognises shell commands that an agent may not run: test runners, since the machine runs the tests, and commands for people. words.py has the tables."""

from detent.interfaces.hooks.shell import called_program
from detent.interfaces.hooks.words import ALWAYS, ANY, FIRST, OURS, PEOPLE, SCRIPTS

ASKING = ("--version", "--help", "-h")
READS_CONFIG = ("--get", "--get-all", "--get-regexp", "--get-urlmatch", "--list", "-l", "get", "list")
OUR_REFS = ("refs/detent", "refs/notes")


def runs_tests(words: list[str], project: list[str]) -> bool:
    """Whether a simple command runs tests: the project's test command, or any known test runner."""
    call = called_program(words)
    if not call or any(word in ASKING for word in call):
        return False
    if project and (words[: len(project)] == project or (project[:2] == ["sh", "-c"] and " ".join(words).startswith(project[2].strip()))):
        return True
    name, plain = call[0], [word for word in call[1:] if not word.startswith(("-", "+"))]
    script = name in SCRIPTS and plain[:1] in (["run"], ["run-script"]) and plain[1:2] and plain[1].startswith("test")
    return (
        bool(script) or name in ALWAYS or (bool(plain) and plain[0] in FIRST.get(name, ())) or any(w in ANY.get(name, ()) for w in call[1:])
    )


def for_people(words: list[str]) -> str:
    """The name of the command if only people may run it; else empty."""
    call = called_program(words)
    if call and call[0] in OURS:
        return _detent(_after_options(call[1:]))
    if call[:1] == ["git"]:
        return _git(_after_options(call[1:]))
    return ""


def _after_options(words: list[str]) -> list[str]:
    """The words after the options that precede a subcommand; `-C DIR` and `-c KEY=VALUE` are two words each."""
    while words and words[0].startswith("-"):
        words = words[2:] if words[0] in ("-C", "-c", "--git-dir", "--work-tree") else words[1:]
    return words


def _detent(words: list[str]) -> str:
    name = words[0] if words else ""
    return f"`detent {name}`" if name in PEOPLE else "`detent doctor --accept`" if name == "doctor" and "--accept" in words else ""


def _git(words: list[str]) -> str:
    name, rest = (words[0], words[1:]) if words else ("", [])
    if name == "notes" and _after_notes(rest) not in ("", "show", "list", "get-ref"):
        return "`git notes`"
    if name == "update-ref" and ("--stdin" in rest or any(word.startswith(OUR_REFS) for word in rest)):
        return "`git update-ref` on Detent's own refs"
    writes = not any(word in READS_CONFIG for word in rest) and len([word for word in rest if not word.startswith("-")]) > 1
    return (
        "`git config`"
        if name == "config" and (writes or any(word.startswith(("--unset", "--remove", "--rename", "-e", "--edit")) for word in rest))
        else ""
    )


def _after_notes(words: list[str]) -> str:
    plain = [word for i, word in enumerate(words) if not word.startswith("-") and (i == 0 or words[i - 1] != "--ref")]
    return plain[0] if plain else ""
