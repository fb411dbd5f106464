"""Tests that are run once more before they are held against a change: those that fail by chance, and those that a warning ended. In real runs."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from detent.errors import Disturbed
from detent.evidence.changes.changes import Changes
from detent.evidence.outcomes.flaky import failing_before, only_warned, passing_again
from detent.evidence.report import TestReport
from detent.evidence.runners import Command
from detent.evidence.running.collect import Collector
from detent.evidence.running.suite import Suite
from tests.repos import git_at, make_repo, sh, write

PYTEST = Command((sys.executable, "-m", "pytest", "-p", "no:cacheprovider"), "pytest")
NOT_THERE = Command(("/nowhere/python", "-m", "pytest"), "pytest")
FILE = "tests/test_calc.py"
TEST = f"{FILE}::test_calc"
COMMAND = "(the command)"  # the one test of a command of which only the exit code is read
Asked = Callable[[Changes, Collector, Callable[[], bool]], frozenset[str]]


def by_chance(changes: Changes, collector: Collector, wanted: Callable[[], bool]) -> frozenset[str]:
    return passing_again(collector, changes, frozenset({TEST, COMMAND}), wanted)


def by_a_warning(changes: Changes, collector: Collector, wanted: Callable[[], bool]) -> frozenset[str]:
    seen = TestReport({TEST: "failed"}, {TEST: FILE}, kinds={TEST: "DeprecationWarning"})
    return only_warned(collector, changes.tree, {}, seen, frozenset({TEST}), wanted)


def shell(script: str) -> Command:
    return Command(("sh", "-c", script), "")


def changed(folder: Path, command: Command, tests: str = "def test_calc():\n    pass\n") -> tuple[Changes, Collector]:
    """A repository with these tests and a change of its code."""
    root = make_repo(folder / "p", {"calc.py": "ONE = 1\n", FILE: tests, "conftest.py": ""})
    write(root, {"calc.py": "ONE = 2\n"})
    sh(root, "git", "commit", "-q", "-a", "-m", "after")
    git = git_at(root)
    collector = Collector(git, Suite(command, 60, os.environ["PATH"]), "r", os.environ)
    return Changes(git, collector, git.tree("HEAD~1"), git.tree("HEAD")), collector


@pytest.mark.parametrize(
    ("asked", "command", "cleared"),
    [
        (by_chance, shell("true"), {COMMAND}),
        (by_chance, shell("false"), set()),
        (by_chance, shell("/nowhere/tests"), set()),
        (by_chance, NOT_THERE, set()),
        (by_a_warning, NOT_THERE, set()),
    ],
    ids=["it passes", "it fails again", "it cannot be run", "nor can pytest", "nor where a warning ended it"],
)
def test_a_test_that_failed_is_cleared_by_a_run_in_which_it_passes_and_by_nothing_else(
    tmp_path: Path, asked: Asked, command: Command, cleared: set[str]
) -> None:
    assert asked(*changed(tmp_path, command), lambda: True) == cleared


@pytest.mark.parametrize(("asked", "command"), [(by_chance, shell("sleep 600")), (by_a_warning, PYTEST)])
def test_where_the_run_moved_on_meanwhile_nothing_is_said_of_the_test(tmp_path: Path, asked: Asked, command: Command) -> None:
    hangs = "import time\n\n\ndef test_calc():\n    time.sleep(600)\n"
    with pytest.raises(Disturbed, match="the run changed state while its tests ran"):
        asked(*changed(tmp_path, command, hangs), lambda: False)


def test_a_test_that_fails_in_one_of_three_runs_without_the_change_was_flaky_before(tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    changes, collector = changed(tmp_path, shell(f"printf x >> {ran}; grep -q 'ONE = 2' calc.py || test $(cat {ran}) != xx"))
    assert failing_before(collector, changes, {COMMAND: FILE, f"{FILE}::test_steady": FILE}, lambda: True) == {COMMAND}
    assert ran.read_text() == "xxx"
    assert failing_before(collector, changes, {}, lambda: True) == set()
    assert ran.read_text() == "xxx", "where there is no such test, nothing is run"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tests", "cleared"), [("def test_calc():\n    pass\n", {FILE}), ("1 / 0\n", set()), ("def test_calc():\n    assert 0\n", set())]
)
def test_a_file_that_failed_as_a_whole_is_run_again_too(tmp_path: Path, tests: str, cleared: set[str]) -> None:
    changes, collector = changed(tmp_path, PYTEST, tests)
    assert passing_again(collector, changes, frozenset({FILE}), lambda: True) == cleared
