"""Command lines that cannot fail: they prove nothing, so no criterion or check may rely on one. Parses them; runs nothing."""

import re
import shlex

NEVER_FAIL = ("true", ":", "echo", "printf", "sleep", "pwd", "date", "whoami", "hostname", "clear", "yes")
WRAPPERS = ("sudo", "env", "time", "nice", "nohup", "command", "exec", "builtin")
SHELLS = ("sh", "bash", "zsh", "dash", "ksh")


def cannot_fail(command: str) -> str | None:
    """Why a command line can never fail; None if it can. An unparsable line counts as one that cannot."""
    try:
        lexer = shlex.shlex(command.replace("\n", ";"), posix=True, punctuation_chars=True)
        lexer.commenters = ""
        words = list(lexer)
    except ValueError as e:
        return f"it cannot be read ({e})"
    words = words[: next((i for i, w in enumerate(words) if w.startswith("#")), len(words))]
    while words and words[-1] in (";", "(", ")"):
        words.pop()
    if not words:
        return "it says nothing"
    if words[-1] == "&":
        return "it is put into the background"
    return _list_cannot_fail(words)


def _list_cannot_fail(words: list[str]) -> str | None:
    """The last part of a list decides; `a && b` fails if either can, `a || b` only if both can, a pipe by its last command."""
    parts = _split(_split(words, (";", "&"))[-1], ("&&", "||"), keep=True)
    verdict = _call_cannot_fail(_split(parts[0], ("|", "|&"))[-1])
    for joint, part in zip(parts[1::2], parts[2::2], strict=False):
        other = _call_cannot_fail(_split(part, ("|", "|&"))[-1])
        verdict = (verdict and other) if joint == ["&&"] else (verdict or other)
    return verdict


def _split(words: list[str], at: tuple[str, ...], keep: bool = False) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    for word in words:
        if word in at:
            parts += [[word], []] if keep else [[]]
        else:
            parts[-1].append(word)
    return [p for p in parts if p] or [[]]


def _call_cannot_fail(words: list[str]) -> str | None:
    """Why one simple command cannot fail."""
    words = [w for w in words if w not in ("(", ")")]
    while words and (re.match(r"\w+=", words[0]) or words[0].rpartition("/")[2] in WRAPPERS):
        words = words[1:]
    if not words:
        return "it says nothing"
    program, args = words[0].rpartition("/")[2], words[1:]
    if program in NEVER_FAIL:
        return f"'{program}' always succeeds"
    if program in ("exit", "return") and args[:1] in ([], ["0"]):
        return f"'{program} 0' always succeeds"
    if help_asked := [a for a in args if a in ("--help", "--version")] or (args if args in (["-h"], ["-V"], ["help"], ["version"]) else []):
        return f"'{help_asked[0]}' only prints"
    if "-c" in args[:-1]:
        body = args[args.index("-c") + 1]
        if program in SHELLS:
            return cannot_fail(body)
        if program.startswith("python") and body.strip() in ("", "pass"):
            return "it does nothing"
    return None
