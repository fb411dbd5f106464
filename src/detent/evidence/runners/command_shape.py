"""Commands of runners whose options are few: which words select tests, and what an agent may not say. One shape per runner.

The machine never runs an agent's command. It takes the selectors out of it and makes its own call, so options that only change
the display are taken and dropped, and every option that is not listed is refused.
"""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from detent.evidence.runners.adapter import Command
from detent.evidence.runners.command_words import path_fault, split


class Shape(NamedTuple):
    """How a runner is called."""

    programs: tuple[tuple[str, ...], ...]
    selecting: Mapping[str, str]  # options that select by name, and the one spelling the machine uses
    shown_flags: frozenset[str]
    shown_values: frozenset[str]
    allowed: str  # what an agent may say, as words
    location: str = r"(?!)"  # what may follow a file: a line, an id


class Parsed(NamedTuple):
    """What a command says."""

    selectors: tuple[str, ...] = ()
    words: tuple[str, ...] = ()  # those of the selectors that are paths, as they were written
    fault: str = ""


def program_end(words: Sequence[str], shape: Shape) -> int:
    """Where the words that call the runner end; 0 if they do not."""
    return next((len(call) for call in shape.programs if tuple(words[: len(call)]) == call), 0)


def parse(command: str | tuple[str, ...], shape: Shape, base: Command | None = None) -> Parsed:
    """The selectors of a command, or the one sentence that refuses it. Words without a base are those after the program."""
    if not isinstance(command, str):
        return _options(command, shape)
    words, fault = split(command)
    assert base is not None, "an agent's command is measured by the project's own"
    if fault:
        return Parsed(fault=_sentence(fault, base, shape))
    end = len(base.argv) if words[: len(base.argv)] == base.argv else program_end(words, shape)
    if not end:
        return Parsed(fault=_sentence(f"`{words[0]}` is not a call of the project's test runner", base, shape))
    parsed = _options(words[end:], shape)
    return Parsed(fault=_sentence(parsed.fault, base, shape)) if parsed.fault else parsed


def _sentence(fault: str, base: Command, shape: Shape) -> str:
    return f"{fault}; allowed is one call of the project's own test runner: `{base.text}`, or {shape.allowed}"


def _options(words: tuple[str, ...], shape: Shape) -> Parsed:
    paths: list[str] = []
    chosen: list[str] = []
    written: list[str] = []
    left = list(words)
    while left:
        word = left.pop(0)
        name, equals, value = word.partition("=")
        if not word.startswith("-"):
            if fault := _path(word, shape, paths, chosen):
                return Parsed(fault=fault)
            written.append(word)
        elif name in shape.selecting or name in shape.shown_values:
            value = value if equals else left.pop(0) if left and not left[0].startswith("-") else ""
            if not value.strip():
                return Parsed(fault=f"the option {name} has no value")
            chosen += [f"{shape.selecting[name]}={value}"] if name in shape.selecting else []
        elif word not in shape.shown_flags:
            return Parsed(fault=f"the option {name} can change what is judged")
    return Parsed((*paths, *chosen), tuple(written))


def _path(word: str, shape: Shape, paths: list[str], chosen: list[str]) -> str:
    """Take a path, with or without a place in it; what is wrong with it."""
    if "::" in word:
        return f"`{word}` is an id of Detent's, not of the runner; name the file"
    found = re.fullmatch(rf"(.+?)({shape.location})", word)
    if found:
        chosen.append(f"--location={word.removeprefix('./')}")
    else:
        paths.append(word.removeprefix("./").rstrip("/") or ".")
    return path_fault(found[1] if found else word)
