"""How often the suite really runs, counted by a trace that the tests themselves leave outside the repository."""

from pathlib import Path

import pytest

from tests.project import GREEN, RED, START, Project

TRACE = "import os\n\n\ndef test_trace():\n    with open(os.environ['HOME'] + '/trace', 'a') as file:\n        file.write('x')\n"


def test_a_cycle_of_red_green_and_refactor_runs_the_suite_at_most_four_times(tmp_path: Path) -> None:
    project = Project(tmp_path / "p", {**START, "tests/test_trace.py": TRACE})
    project.env["HOME"] = str(tmp_path)
    project.reddened("RED", "GREEN", "REFACTOR")
    assert project.green()["status"] == "SUCCESS"
    project.write({"calc.py": f'"""Sums."""\n{GREEN}'})
    assert project.submit(test_command="pytest", expectation="PASS")["status"] == "SUCCESS"
    assert len((tmp_path / "trace").read_text()) <= 4


@pytest.mark.slow
def test_a_tree_that_passed_is_not_run_again_and_one_that_failed_is_once_a_person_said_something(tmp_path: Path) -> None:
    project = Project(tmp_path / "p", {**START, "tests/test_trace.py": TRACE})
    project.env["HOME"] = str(tmp_path)
    project.reddened("RED", "GREEN", "REFACTOR")

    def runs() -> int:
        return len((tmp_path / "trace").read_text())

    before, wrong = runs(), "def add(a, b):\n    return 0\n"
    assert project.green(wrong)["status"] == "FAILURE"
    assert project.green(wrong)["status"] == "REFUSED"
    assert runs() == before + 1, "the answer is known, and nothing is run for it"
    assert project.run("steer", "the machine was short of memory").code == 0
    assert project.green(wrong)["status"] == "FAILURE"
    assert runs() == before + 2, "a failure is never taken from memory once it is judged again"
    assert project.green()["status"] == "SUCCESS"
    before = runs()
    assert project.submit(test_command="pytest", expectation="PASS")["status"] == "SUCCESS"
    assert runs() == before


def test_a_refused_call_runs_nothing(tmp_path: Path) -> None:
    project = Project(tmp_path / "p", {**START, "tests/test_trace.py": TRACE})
    project.env["HOME"] = str(tmp_path)
    project.planned()
    assert (tmp_path / "trace").read_text() == "x", "once, when the run began"
    project.write({"tests/test_add.py": RED})
    assert project.submit(test_command="true", expectation="FAIL")["status"] == "REFUSED"
    assert (tmp_path / "trace").read_text() == "x"
