"""Commands that must pass at a tree besides its tests: linters, type checkers, what a criterion or preflight names. A pass on the same tree is not run again.

Owns how a command line is run, what its end means, and that a command which failed before the work began is held against nobody until it
passes once; knows no tasks, no criteria and no states.
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
from detent.storage.state import keep, kept

SHOWN = 4000  # characters of a failing command's output that are kept
NOT_THERE = (126, 127)  # what a shell says of a program that it cannot start
Ran = tuple[str | None, str]  # what is wrong, and the output
Run = Callable[[tuple[str, ...]], Ran]


class CommandEnded(NamedTuple):
    """One command and what came of it."""

    command: str
    passed: bool
    seconds: float = 0.0
    output: str = ""
    not_there: bool = False  # the shell could not start a program


def check_all(collect: Collector, tree: str, commands: tuple[str, ...], wanted: Wanted) -> tuple[CommandEnded, ...]:
    """Every command at a tree, each in a clean checkout of its own. All are run: whoever fixes it sees everything that fails."""
    return tuple(check_one(collect, tree, command, wanted) for command in dict.fromkeys(commands))


def check_one(collect: Collector, tree: str, command: str, wanted: Wanted) -> CommandEnded:
    """One command at a tree. A program that is not on PATH is CannotTell."""
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
    """The line begins with the plain name of a program, which is found on PATH or not at all; a path in the tree is the tree's own matter."""
    first = (command.split() or [""])[0]
    return bool(first) and "/" not in first and first.replace("-", "").replace("_", "").replace(".", "").isalnum()


# -- passes that are kept ------------------------------------------------------------------------------------------------------


def _file(collect: Collector, tree: str) -> Path:
    """Where the passes of a tree are kept, under the very same conditions."""
    return collect.store / f"checks-{tree}-{sha256(collect.key(tree).encode()).hexdigest()[:16]}.json"


def _known(collect: Collector, tree: str) -> dict[str, float]:
    found: dict[str, float] = json.loads(kept(_file(collect, tree)) or "{}")
    return found


def _keep(collect: Collector, tree: str, known: Mapping[str, float]) -> None:
    keep(_file(collect, tree), json.dumps(known))


# -- checks that failed before the work began ----------------------------------------------------------------------------------


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
