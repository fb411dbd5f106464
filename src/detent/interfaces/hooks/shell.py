"""Guesses from a shell command's text what it does: its simple commands, their programs, and the files they write.

Without a real shell, `${P}test` or a script written earlier escape it: this nudges an honest agent, it does not stop a dishonest
one. Knows no run and no rule.
"""

import re

from detent.interfaces.hooks.words import EACH, IN_PLACE, LAST

Simple = tuple[list[str], list[str]]  # the words of a simple command, and the targets of its redirections

TOKEN = re.compile(
    r"""(?P<space>[ \t\r]+)|(?P<single>'[^']*')|(?P<double>"(?:\\.|[^"\\])*")|\\(?P<escaped>.)|(?P<into>\d*>>?\|?(?!&)|&>>?)|(?P<dup>\d*>&\d*-?)"""
    r"""|(?P<outof>\d*<+-?)|(?P<end>\n|;|&|\||\(|\)|`|\$\()|(?P<plain>[^\s'"\\;&|()<>`$]+|.)""",
    re.DOTALL,
)
HERE = re.compile(
    r"^(?P<line>[^\n]*)<<-?[ \t]*(?P<quote>['\"]?)(?P<word>\w+)(?P=quote)(?P<rest>[^\n]*)\n(?P<body>.*?)^[ \t]*(?P=word)[ \t]*$",
    re.DOTALL | re.MULTILINE,
)
INNER = re.compile(r"\$\(|`")
SHELL = ("sh", "bash", "dash", "zsh", "ksh")
BEFORE = (
    "env", "time", "nice", "nohup", "exec", "command", "builtin", "sudo", "timeout", "stdbuf", "xargs", "setsid", "watch", "npx", "bunx", "uvx",
    "if", "then", "else", "elif", "while", "until", "do", "!", "{",
)  # fmt: skip
THROUGH = {
    "uv": ("run", "tool"), "pipx": ("run",), "poetry": ("run",), "pdm": ("run",), "pipenv": ("run",), "hatch": ("run",), "rye": ("run",), "pixi": ("run",),
    "bundle": ("exec",), "pnpm": ("exec", "dlx"), "npm": ("exec",), "coverage": ("run",),
}  # fmt: skip
WITH_VALUE = ("--from", "--spec", "--with", "--python")  # options of uvx and pipx that take a value
SKIPPED = re.compile(r"-.*|\d+(?:\.\d+)?[smhd]?|[A-Za-z_]\w*=.*", re.DOTALL)
PYTHON = re.compile(r"(?:python|pypy)[\d.]*")
DEEPEST, MOST_HERE, LONGEST = 4, 20, 200_000  # bounds on the time for any text


def simple_commands(text: str, depth: int = 0) -> list[Simple]:
    """Every simple command of a text, including those passed to another shell."""
    bodies: list[str] = []
    text = text[:LONGEST]
    if 0 < text.count("<<") <= MOST_HERE:
        text = HERE.sub(lambda here: _without_body(here, bodies), text)
    found = [each for part in (text, *bodies) for each in _split(part)]
    if depth < DEEPEST:
        for words, _ in list(found):
            found += [each for given in _given(words) for each in simple_commands(given, depth + 1)]
    return found


def _without_body(here: "re.Match[str]", bodies: list[str]) -> str:
    """The text of a here-document without its body, which is data unless a shell reads it."""
    if any(called_program(words)[:1] in ([name] for name in SHELL) for words, _ in _split(here["line"])):
        bodies.append(here["body"])
    return f"{here['line']}{here['rest']}\n"


def _split(text: str) -> list[Simple]:
    done: list[Simple] = []
    words: list[str] = []
    into: list[str] = []
    word, open_, goes = "", False, ""  # the current word, whether there is one, and what the next one is for

    def close() -> None:
        nonlocal word, open_, goes
        if open_:
            if not goes:
                words.append(word)
            elif goes == "into":
                into.append(word)
            word, open_, goes = "", False, ""

    for token in TOKEN.finditer(text):
        kind, raw = token.lastgroup, token[0]
        if kind in ("space", "end", "into", "outof", "dup"):
            close()
        if kind in ("into", "outof"):
            goes = kind
        elif kind == "end":
            if words or into:
                done.append((words[:], into[:]))
            words.clear()
            into.clear()
            goes = ""
        elif kind in ("single", "double", "escaped", "plain"):
            word, open_ = word + _text(kind, raw), True
    close()
    return [*done, (words[:], into[:])] if words or into else done


def _text(kind: str, raw: str) -> str:
    if kind == "plain":
        return raw
    return raw[1:-1] if kind == "single" else re.sub(r"\\(.)", r"\1", raw[1:-1], flags=re.DOTALL) if kind == "double" else raw[1:]


def _given(words: list[str]) -> list[str]:
    """The texts that a simple command passes to another shell: `bash -c TEXT`, `eval TEXT`, and quoted $( )."""
    call = called_program(words)
    texts = [piece for word in words for piece in INNER.split(word)[1:]]
    if call and call[0] in SHELL:
        at = next((i for i, word in enumerate(call) if re.fullmatch(r"-\w*c\w*", word)), len(call))
        texts += call[at + 1 : at + 2]
    if call[:1] == ["eval"]:
        texts.append(" ".join(call[1:]))
    return texts


def called_program(words: list[str]) -> list[str]:
    """The words from the real program on: without assignments, `env`, `timeout 9`, `uv run`, `python -m`, or the program's folder."""
    while words:
        name = words[0].rpartition("/")[2]
        if re.fullmatch(r"[A-Za-z_]\w*\+?=.*", words[0], re.DOTALL):
            words = words[1:]
        elif name in BEFORE:
            words = _rest(words[1:])
        elif name in THROUGH and words[1:] and words[1] in THROUGH[name]:
            words = _rest(words[3 if words[1:3] == ["tool", "run"] else 2 :])
        elif PYTHON.fullmatch(name) and (module := _module(words)):
            words = module
        else:
            return [name, *words[1:]]
    return []


def _module(words: list[str]) -> list[str]:
    """The words from the module on, of `python -m MODULE`."""
    at = words.index("-m") if "-m" in words[:-1] else 0
    options = all(w.startswith("-") or words[i] in ("-W", "-X") for i, w in enumerate(words[1:at]))
    return words[at + 1 :] if at and options else []


def _rest(words: list[str]) -> list[str]:
    """The words after leading options, numbers and assignments."""
    at = 0
    while at < len(words) and SKIPPED.fullmatch(words[at]):
        at += 2 if words[at] in WITH_VALUE else 1
    if "-m" in words[:at]:
        at = words.index("-m") + 1  # `coverage run -m pytest`
    return words[at:]


def written(simple: Simple) -> list[str]:
    """The files that a simple command writes, moves or removes, as far as it names them."""
    words, into = simple
    call = called_program(words)
    plain = [word for word in call[1:] if not word.startswith("-")]
    name = call[0] if call else ""
    if name in EACH:
        return [*into, *plain]
    if name in LAST:
        return [*into, *plain[-1:]]
    if name in IN_PLACE and (name[0] == "c" or any(re.match(r"-\w*i|--in-place", w) for w in call[1:])):
        return [*into, *plain[1:]]
    if name == "dd":
        return [*into, *(word[3:] for word in plain if word.startswith("of="))]
    return into
