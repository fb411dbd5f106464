"""The look at a branch for which only the test command's exit code can be read: the command counts as a single test, and the card says so.

Knows trees and one command; tests cannot be told apart here.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

from detent.evidence.changes.install_lines import install_hint_at
from detent.evidence.looks.card_trials import without_the_change
from detent.evidence.looks.no_proof import no_proof
from detent.evidence.looks.repo_look import RepoLook
from detent.evidence.outcomes.card import Card, Trial
from detent.evidence.report import TestReport
from detent.evidence.runners import Command
from detent.evidence.runners.javascript.node_package import without_chatter
from detent.evidence.running.collect import Collector
from detent.evidence.source.file_patterns import is_below_tests
from detent.kernel.model import Flag

WRAPPED = {
    "vitest": "npx vitest run",
    "jest": "npx jest",
    "mocha": "npx mocha",
    "pytest": "python3 -m pytest",
    "node --test": "node --test",
}
ONLY_EXIT_CODE = "only the exit code of the test command is read, so all tests count as one"
CAUSE = re.compile(r"Cannot find module|\bnot found\b")  # the line with the cause, which a stack trace may follow
LAST_WORDS = 6  # last lines of output that are shown
WIDEST = 200


class CommandSpan(NamedTuple):
    """The branch to look at, and what is needed for it."""

    base: str  # a tree
    tip: str  # a tree
    collector: Collector
    wanted: Callable[[], bool]
    say: Callable[[str], None]
    request: str = ""
    in_run: bool = False


def by_exit_code(span: CommandSpan, look: RepoLook, found: tuple[Flag, ...], tried: list[Trial]) -> Card:
    """The card by the command's exit codes on base and tip, and on the new tests without the change. Within a run, the steps already ran it."""
    better = better_command(span.collector.suite.base, look.changes.text("package.json")(span.base))
    sentence = (
        f"{ONLY_EXIT_CODE}; to have each test read: [test] command = {better!r} in detent.toml, or DETENT_TEST_COMMAND"
        if better
        else ONLY_EXIT_CODE
    )
    flags = (Flag("weak-evidence", sentence, level="note"), *found)
    if span.in_run:
        return Card(span.base, span.tip, flags=flags)
    span.say("2 of 2: running the test command on base and tip")
    before, tip = (span.collector.clean(tree, span.wanted) for tree in (span.base, span.tip))
    if before.bad and tip.bad and not tip.fault:
        return Card(span.base, span.tip, flags=flags, unclear=_fails_always(span, tip, better))
    if tip.bad or tip.fault:
        wrong = f"`{tip.command}` {'passed before and fails now' if not before.bad else 'fails'}{f': {tip.fault}' if tip.fault else ''}"
        return Card(span.base, span.tip, failed=(wrong,), flags=flags)
    named = [c.path for c in look.changed() if c.how != "deleted" and c.sort != "config" and is_below_tests(c.path)]
    overlay = {path: look.changes.git.read(span.tip, path) or b"" for path in named}  # without a runner, names tell which files are tests
    mixed = span.collector.clean(span.base, span.wanted, (), overlay) if overlay else before
    proved = frozenset({tip.command} if mixed.bad else ())
    tried.append(without_the_change(look, overlay, mixed, proved, ()))
    return Card(
        span.base,
        span.tip,
        proved=tuple(proved),
        kept=0 if proved or before.bad else 1,
        flags=(*flags, *no_proof(look, proved, span.request)),
    )


def _fails_always(span: CommandSpan, tip: TestReport, better: str) -> str:
    """A sentence for a command that fails with and without the change, so that nothing can be verified."""
    shown = telling_lines(tip)
    way = f"use another command: DETENT_TEST_COMMAND={better!r} detent check, or [test] command in the base's detent.toml"
    other = (
        way
        if better
        else "run it by hand; to use another command: DETENT_TEST_COMMAND='…' detent check, or [test] command in the base's detent.toml"
    )
    lacks = install_hint_at(span.collector, span.base, "\n".join(shown))  # shown below the card
    sentence = f"`{tip.command}` fails in a clean checkout, with and without the change; its last output:"
    return "\n".join([sentence, *shown, *([] if lacks else [other])])


def telling_lines(tip: TestReport) -> list[str]:
    """The last lines of a command's output, preceded by the line that names the cause."""
    lines = [line.rstrip()[:WIDEST] for line in without_chatter(_own_output(tip)).splitlines()]
    last = lines[-LAST_WORDS:]
    cause = next((line for line in lines if CAUSE.search(line)), "")
    return last if not cause or cause in last else [cause, *last]


def _own_output(tip: TestReport) -> str:
    """The command's output without the last line, which Detent added."""
    return tip.output.rpartition("\n[no adapter reads")[0] or tip.output


def better_command(command: Command | None, package: str) -> str:
    """A command whose report can be read, if the project uses a known runner behind its own; empty if there is none."""
    if command is None or command.runner:
        return ""
    words = f"{command.text} {package}"
    return next((better for name, better in WRAPPED.items() if name in words), "")
