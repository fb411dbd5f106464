"""Tests must be able to fail: those changed in a refactoring, and those that pass at once."""

import time
from pathlib import Path
from typing import Any

import pytest

from detent.errors import CannotTell
from detent.evidence.changes.changes import ReferenceTrees
from detent.evidence.look import PROBE_SECONDS
from detent.evidence.probes.context import ONE_RUN, SLOWER, ProbeContext
from detent.evidence.probes.mutant_kills import FEWEST, new_tests_kill_mutant
from detent.evidence.report import TestReport
from detent.evidence.source.diff import Changed
from tests.project import GREEN, RED, Project
from tests.repos import git_at, make_repo


@pytest.fixture
def refactoring(tmp_path: Path) -> Project:
    project = Project(tmp_path / "p").reddened("RED", "GREEN", "REFACTOR")
    assert project.green()["status"] == "SUCCESS"
    return project


TIDIER = "import calc\n\n\ndef test_add():\n    total = calc.add(1, 2)\n    assert total == 3\n"


@pytest.mark.slow
def test_a_refactoring_may_change_a_test_that_can_still_fail(refactoring: Project) -> None:
    refactoring.write({"tests/test_add.py": TIDIER})
    assert refactoring.submit(test_command="pytest", expectation="PASS")["status"] == "SUCCESS"


@pytest.mark.parametrize(
    "weak",
    [
        pytest.param("def test_add():\n    assert True\n", marks=pytest.mark.slow),
        pytest.param("def test_add():\n    pass\n", marks=pytest.mark.slow),
        "def test_add():\n    try:\n        from calc import add\n    except ImportError:\n        return\n    assert add(1, 2)\n",
    ],
    ids=["asserts nothing real", "asserts nothing", "looks away"],
)
def test_a_refactoring_that_weakens_a_test_fails(refactoring: Project, weak: str) -> None:
    refactoring.write({"tests/test_add.py": weak})
    verdict = refactoring.submit(test_command="pytest", expectation="PASS")
    assert (verdict["status"], verdict["state"], verdict["exit"]) == ("FAILURE", "DEBUGGING", 1)
    said = verdict["reasons"][0]  # by small changes to the code; where they take too long, by the tree before it
    assert "test_add is weakened: it was changed, and no longer fails for code" in said or "no longer fails on the tree before" in said


@pytest.mark.slow
def test_a_refactoring_that_loses_a_test_fails(refactoring: Project) -> None:
    refactoring.write({"tests/test_add.py": "def test_other():\n    assert True\n"})
    verdict = refactoring.submit(test_command="pytest", expectation="PASS")
    assert (
        verdict["status"] == "FAILURE"
        and "test_add is gone; tests must not be removed. Restore it: git restore --source=" in verdict["reasons"][0]
    )


@pytest.fixture
def satisfied(tmp_path: Path) -> Project:
    """At a RED step whose code is there already, its first try failed."""
    project = Project(tmp_path / "p", {**_start(), "calc.py": GREEN}).planned("RED", "GREEN")
    verdict = project.red()
    assert verdict["status"] == "FAILURE" and "passes already" in verdict["reasons"][0]
    return project


def _start() -> dict[str, str]:
    from tests.project import START

    return dict(START)


@pytest.mark.slow
def test_a_step_that_is_satisfied_already_is_closed_if_its_test_can_fail(satisfied: Project) -> None:
    verdict = satisfied.submit(test_command="pytest tests/test_add.py", expectation="FAIL", reply="ALREADY_SATISFIED")
    assert (verdict["status"], verdict["state"]) == ("SUCCESS", "EXECUTING_TDD")
    assert satisfied.plan["tasks"][0]["tdd_steps"][0]["status"] == "DONE"
    assert satisfied.git("show", "HEAD:tests/test_add.py").strip() == RED.strip()


@pytest.mark.slow
def test_a_test_that_no_mutation_makes_fail_closes_nothing(satisfied: Project) -> None:
    satisfied.write({"tests/test_add.py": "import calc\n\n\ndef test_add():\n    assert calc\n"})
    verdict = satisfied.submit(test_command="pytest tests/test_add.py", expectation="FAIL", reply="ALREADY_SATISFIED")
    assert (verdict["status"], verdict["state"]) == ("FAILURE", "DEBUGGING")
    assert "no small change to the code that the entry is about makes the test fail" in verdict["reasons"][0]


class Slow:
    """A collector whose runs take all the time they are given."""

    def __init__(self, wall: float = 0.0, takes: float = 0.0) -> None:
        self.given: list[float] = []
        self.wall, self.takes = wall, takes

    def known(self, tree: str) -> TestReport:
        return TestReport(wall=self.wall)

    def probe(self, tree: str, wanted: object, selectors: object, overlay: object, seconds: float) -> TestReport:
        self.given.append(seconds)
        time.sleep(self.takes)
        return TestReport(late=True, complete=False, fault="the tests did not end")


def slowly(tmp_path: Path, slow: Slow, seconds: float = PROBE_SECONDS) -> ProbeContext:
    code = GREEN + "\n\n" + "\n\n".join(f"def f{n}(a):\n    return a + {n}\n" for n in range(20))
    git = git_at(make_repo(tmp_path / "r", {"calc.py": code, "tests/test_add.py": RED}))
    changed, reference = (Changed("tests/test_add.py", "added", "test"),), ReferenceTrees(git.tree("HEAD"), (), "")
    collect: Any = slow  # it has what a probe asks for, and no more
    return ProbeContext(
        git, collect, lambda: True, lambda path: "production", git.tree("HEAD"), reference, changed, seconds, clock=time.monotonic
    )


def test_no_mutant_may_take_longer_than_a_probe_and_one_that_never_ends_kills_nothing(tmp_path: Path) -> None:
    slow = Slow()
    assert new_tests_kill_mutant(slowly(tmp_path, slow)) is False
    assert slow.given and max(slow.given) <= ONE_RUN


def test_on_a_slow_machine_a_mutant_gets_more_time_and_a_few_are_tried_however_long_they_take(tmp_path: Path) -> None:
    slow = Slow(wall=2 * ONE_RUN)
    assert new_tests_kill_mutant(slowly(tmp_path, slow, 1000.0)) is False
    assert max(slow.given) == SLOWER * 2 * ONE_RUN
    hurried = Slow(takes=0.06)
    with pytest.raises(CannotTell, match="no mutation of the code made the test fail"):
        new_tests_kill_mutant(slowly(tmp_path / "other", hurried, 0.3))
    assert len(hurried.given) == FEWEST


@pytest.mark.slow
def test_the_first_try_is_always_a_test(tmp_path: Path) -> None:
    project = Project(tmp_path / "p", {**_start(), "calc.py": GREEN}).planned("RED", "GREEN")
    project.write({"tests/test_add.py": RED})
    verdict = project.submit(test_command="pytest", expectation="FAIL", reply="ALREADY_SATISFIED")
    assert verdict["status"] == "REFUSED"
