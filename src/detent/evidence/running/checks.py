"""Commands that must pass on a tree besides its tests: linters, type checkers, acceptance commands, preflight. A pass on the same tree is reused.

Owns how a command line is run and what its exit code means. A command that failed before the work began does not count until it passes
once. Knows no tasks, no criteria and no states.
"""

import json
import shlex
import shutil
from collections.abc import Callable, Mapping, Set
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from detent.errors import CannotTell, Disturbed
from detent.evidence.running.collect import Collector, Wanted
from detent.storage.state import read_sealed, write_sealed

SHOWN = 4000  # characters kept of a failing command's output
NOT_THERE = (126, 127)  # a shell's exit codes for a program that it cannot start
Ran = tuple[str | None, str]  # what is wrong, and the output
Run = Callable[[tuple[str, ...]], Ran]


class CommandEnded(NamedTuple):
    """The result of one command."""

    command: str
    passed: bool
    seconds: float = 0.0
    output: str = ""
    not_there: bool = False  # the shell could not start a program


def check_all(collect: Collector, tree: str, commands: tuple[str, ...], wanted: Wanted) -> tuple[CommandEnded, ...]:
    """Run every command on a tree, each in its own clean checkout, without stopping at a failure."""
    return tuple(check_one(collect, tree, command, wanted) for command in dict.fromkeys(commands))


def check_one(collect: Collector, tree: str, command: str, wanted: Wanted) -> CommandEnded:
    """Run one command on a tree. CannotTell if its program is not on PATH."""
    known = _known(collect, tree)
    if command in known:
        return CommandEnded(command, True, known[command])
    with collect.checkout(tree) as folder:
        ended = _check(collect, folder, command, wanted)
    if ended.passed:
        _keep(collect, tree, {**known, command: ended.seconds})
    return ended


def _check(collect: Collector, folder: Path, command: str, wanted: Wanted) -> CommandEnded:
    ran = collect.line(command, folder, wanted)
    if ran.exit_code in NOT_THERE and _is_a_program(command) and not shutil.which(command.split()[0], path=collect.env.get("PATH", "")):
        raise CannotTell(f"the check `{command}` could not be run: {ran.output[-500:].strip()}")
    how = (
        f"\n[it did not finish within {collect.suite.timeout:.0f} s and was stopped]" if ran.timed_out else f"\n[exit code {ran.exit_code}]"
    )
    passed, missing = ran.exit_code == 0 and not ran.timed_out, ran.exit_code in NOT_THERE and not ran.timed_out
    return CommandEnded(command, passed, round(ran.seconds, 1), ran.output[-SHOWN:].rstrip() + how, missing)


def _is_a_program(command: str) -> bool:
    """Whether the line begins with a bare program name, to be found on PATH; a path would be in the tree."""
    first = (command.split() or [""])[0]
    return bool(first) and "/" not in first and first.replace("-", "").replace("_", "").replace(".", "").isalnum()


# -- kept passes ---------------------------------------------------------------------------------------------------------------


def _file(collect: Collector, tree: str) -> Path:
    """The file with the passes of a tree under exactly these conditions."""
    return collect.store / f"checks-{tree}-{sha256(collect.key(tree).encode()).hexdigest()[:16]}.json"


def _known(collect: Collector, tree: str) -> dict[str, float]:
    found: dict[str, float] = json.loads(read_sealed(_file(collect, tree)) or "{}")
    return found


def _keep(collect: Collector, tree: str, known: Mapping[str, float]) -> None:
    write_sealed(_file(collect, tree), json.dumps(known))


# -- checks that failed before the work began ----------------------------------------------------------------------------------


class ChecksAsked(NamedTuple):
    """The checks to run, and what is known about them."""

    commands: tuple[str, ...]
    red: tuple[str, ...]  # commands that failed before the work began
    changed: Set[str]  # the files that the work changed


class OwnChecks(NamedTuple):
    """The result of the checks."""

    wrong: str | None = None
    output: str = ""
    passing: tuple[str, ...] = ()  # commands that failed before the work began and pass now


def own_checks(asked: ChecksAsked, run: Run) -> OwnChecks:
    """Run the checks. One that failed before the work began counts only once it has passed."""
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
        return OwnChecks(f"preflight: {e}", passing=passing)  # the change removed a program
    return OwnChecks(wrong, output if wrong else "", passing)


def _passes(run: Run, command: str) -> bool:
    """Whether a command that failed before the work began passes now."""
    try:
        return run((command,))[0] is None
    except Disturbed:
        raise
    except CannotTell:
        return False
