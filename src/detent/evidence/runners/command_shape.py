"""Command lines of runners with few options: which words select tests, and which an agent may not use. One shape per runner.

An agent's command is never run. The machine takes its selectors and makes its own call, so options that only change the display
are dropped, and every option that is not listed is refused.
"""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from detent.evidence.runners.adapter import Command, Files, Parsed, after_first, parsed, path_fault
from detent.evidence.runners.wrapper import RunOrder


class CommandShape(NamedTuple):
    """How a runner is called."""

    programs: tuple[tuple[str, ...], ...]
    selecting: Mapping[str, str]  # options that select by name, with the spelling that the machine uses
    shown_flags: frozenset[str]
    shown_values: frozenset[str]
    allowed: str  # what an agent may use, in words
    location: str = r"(?!)"  # what may follow a file: a line, an id
    narrow: bool = False  # a configured command may contain paths
    either: str = ""  # an option that selects by name and cannot be combined with paths


def program_end(words: Sequence[str], shape: CommandShape) -> int:
    """The number of words that call the runner; 0 if they do not."""
    return next((len(call) for call in shape.programs if tuple(words[: len(call)]) == call), 0)


def adopt(shape: CommandShape, runner: str, words: tuple[str, ...]) -> Command | None:
    """A configured command that runs all the runner's tests, or those of the paths it names; else None."""
    end = program_end(words, shape)
    found = _options(words[end:], shape)
    chosen = [each for each in found.selectors if not shape.narrow or each.startswith("-")]
    return Command(words, runner, "configured", found.kept) if end and not found.fault and not chosen else None


def parse(shape: CommandShape, command: str, base: Command) -> Parsed:
    """The selectors of an agent's command, or the fault that refuses it."""

    def options(words: tuple[str, ...]) -> Parsed:
        found = _options(words, shape)
        is_mixed = shape.either and len({each.startswith("-") for each in found.selectors}) > 1
        return Parsed(fault=f"the command has both {shape.either} and files; use one of them") if is_mixed else found

    return parsed(command, lambda words: after_first(words, base.argv, *shape.programs), options, f"`{base.text}`, or {shape.allowed}")


def order(base: Command, selectors: tuple[str, ...], files: Files | None) -> RunOrder:
    """What a wrapper must run: paths, and names as the runner spells them."""
    names = [each.partition("=")[2] for each in selectors if each.startswith("-")]
    return RunOrder([base.argv[0]], [], [each for each in selectors if not each.startswith("-")], names)


def _options(words: tuple[str, ...], shape: CommandShape) -> Parsed:
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
            return Parsed(fault=f"the option {name} can change the result")
    return Parsed((*paths, *chosen), kept=tuple(written))


def _path(word: str, shape: CommandShape, paths: list[str], chosen: list[str]) -> str:
    """Add a path, with or without a location, to the selectors; returns what is wrong with it."""
    if "::" in word:
        return f"`{word}` is Detent's own test id, which the runner does not know; name the file"
    found = re.fullmatch(rf"(.+?)({shape.location})", word)
    if found:
        chosen.append(f"--location={word.removeprefix('./')}")
    else:
        paths.append(word.removeprefix("./").rstrip("/") or ".")
    return path_fault(found[1] if found else word)
