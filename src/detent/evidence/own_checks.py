"""The project's own checks, beside its tests: linters, type checkers, whatever preflight names. Pure but for running them.

Commands that failed before the work began are held against nobody until they pass once.
"""

import shlex
from collections.abc import Callable, Set
from typing import NamedTuple

from detent.errors import CannotTell, Disturbed

Ran = tuple[str | None, str]  # what is wrong, and the output
Run = Callable[[tuple[str, ...]], Ran]


class ChecksAsked(NamedTuple):
    """What is run."""

    commands: tuple[str, ...]
    red: tuple[str, ...]  # those of them that failed before the work began
    changed: Set[str]  # the files that the work changed


class OwnChecks(NamedTuple):
    """What came of it."""

    wrong: str | None = None
    output: str = ""
    passing: tuple[str, ...] = ()  # commands that failed before the work began, and pass now


def own_checks(asked: ChecksAsked, run: Run) -> OwnChecks:
    """What the checks say of a tree."""
    passing = tuple(command for command in asked.red if command in asked.commands and _passes(run, command))
    held = tuple(command for command in asked.commands if command not in asked.red)
    try:
        wrong, output = run(held)
    except Disturbed:
        raise
    except CannotTell as e:
        programs = {shlex.split(command)[0].removeprefix("./") for command in asked.commands}
        if not programs & asked.changed:
            raise
        return OwnChecks(f"preflight: {e}", passing=passing)  # a program that the change itself took away
    return OwnChecks(wrong, output if wrong else "", passing)


def _passes(run: Run, command: str) -> bool:
    """Whether a command that failed before the work began passes now."""
    try:
        return run((command,))[0] is None
    except Disturbed:
        raise
    except CannotTell:
        return False
