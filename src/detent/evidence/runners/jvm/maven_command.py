"""The shapes of Maven's `test` command: which calls are taken, which words select tests, and what an agent may not say."""

import shlex

from detent.evidence.runners.adapter import Command, Parsed
from detent.evidence.runners.command_shape import Shape
from detent.evidence.runners.command_shape import parse as parse_plain
from detent.evidence.runners.command_words import split

PROGRAMS = ("mvn", "./mvnw")
ALWAYS = frozenset(
    {"-q", "--quiet", "-B", "--batch-mode", "-e", "--errors", "-X", "--debug", "-o", "--offline", "-ntp", "--no-transfer-progress"}
)
KEPT_FLAGS = frozenset({"-am", "--also-make"})
KEPT_VALUES = frozenset({"-P", "--activate-profiles", "-pl", "--projects", "-s", "--settings", "-T", "--threads"})
NOT_KEPT = ("-Dtest", "-DskipTests", "-Dmaven.test.", "-Dsurefire.", "-DfailIf", "-Dit.test")
SHAPE = Shape(
    programs=tuple((program, "test") for program in PROGRAMS),
    selecting={"-Dtest": "-Dtest"},
    shown_flags=ALWAYS,
    shown_values=frozenset(),
    allowed="`mvn test` with -Dtest=Class#method, or with test files or folders",
    either="-Dtest",
)


def place_of_goal(words: tuple[str, ...]) -> int:
    """Where `test` stands in a call of Maven; 0 if it is none. `clean` before it changes nothing for a fresh build."""
    if not words or words[0] not in PROGRAMS or "test" not in words:
        return 0
    return words.index("test")


def kept(words: tuple[str, ...]) -> list[str] | None:
    """The options of the project's own command that the machine keeps; None if one is not understood."""
    found: list[str] = []
    left = [word for word in words[1:] if word not in ALWAYS and word not in ("clean", "test")]
    while left:
        word = left.pop(0)
        if (
            word in KEPT_FLAGS
            or (word.startswith("-D") and len(word) > 2 and not word.startswith(NOT_KEPT))
            or (word[:2] == "-P" and word[2:])
        ):
            found.append(word)
        elif word in KEPT_VALUES and left and not left[0].startswith("-"):
            found += [word, left.pop(0)]
        else:
            return None
    return found


def parse(command: str, base: Command) -> Parsed:
    """The selectors of an agent's command, whose options may stand before the goal."""
    words, fault = split(command)
    if not fault and words[: len(base.argv)] != base.argv and (at := place_of_goal(words)):
        before = [word for word in words[1:at] if word != "clean"]
        command = shlex.join([words[0], "test", *before, *words[at + 1 :]])
    return parse_plain(SHAPE, command, base)
