"""Going back: a new run from an earlier event or commit; nothing is lost, and no attempt is bought."""

from pathlib import Path

import pytest

from tests.project import GREEN, RED, Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "p")


def history(project: Project) -> list[dict[str, object]]:
    events = project.run("history", "-n", "1000", "--json").json["events"]
    assert isinstance(events, list)
    return events


def seq_of(project: Project, on: str) -> str:
    return str(next(e["seq"] for e in history(project) if e["on"] == on and e["status"] in ("SUCCESS", "NEEDS_ANALYSIS")))


@pytest.mark.slow
def test_after_a_green_step_one_can_go_back_to_before_it(project: Project) -> None:
    project.reddened("RED", "GREEN", "REFACTOR")
    old = project.task()["run"]
    assert project.green()["status"] == "SUCCESS"
    went = project.run("rollback", seq_of(project, "success"), "--json")
    assert went.code == 0, went
    assert went.json["run"] != old
    assert (went.json["state"], went.json["step"]["type"]) == ("EXECUTING_TDD", "GREEN")
    assert (project.root / "calc.py").read_text() == ""
    assert (project.root / "tests/test_add.py").read_text() == RED
    assert project.git("log", "--format=%s", "feat/add-numbers").splitlines() == ["start"]
    assert project.green()["status"] == "SUCCESS"


@pytest.mark.slow
def test_what_stood_there_before_stays_reachable(project: Project) -> None:
    project.reddened("RED", "GREEN", "REFACTOR")
    project.green()
    tip = project.git("rev-parse", "HEAD")
    project.write({"unsaved.py": "precious = 1\n"})
    project.run("rollback", seq_of(project, "success"))
    assert not (project.root / "unsaved.py").exists()
    refs = project.git("for-each-ref", "--format=%(objectname)", "refs/detent/").split()
    assert tip in refs
    assert any("unsaved.py" in project.git("ls-tree", "-r", "--name-only", ref) for ref in refs)


@pytest.mark.slow
def test_a_commit_names_the_point_to_go_back_to(project: Project) -> None:
    project.reddened("RED", "GREEN", "REFACTOR")
    project.green()
    commit = project.git("rev-parse", "HEAD")
    project.write({"calc.py": GREEN + "\n\nx = 1\n"})
    assert project.submit(test_command="pytest", expectation="PASS")["status"] == "SUCCESS"
    went = project.run("rollback", commit[:12], "--json").json
    assert (went["state"], went["step"]["type"]) == ("EXECUTING_TDD", "REFACTOR")
    assert (project.root / "calc.py").read_text() == GREEN
    assert project.git("rev-parse", "HEAD") == commit


@pytest.mark.slow
def test_going_back_resets_no_counter_and_ends_the_old_run(project: Project) -> None:
    project.debugging(3)
    old = project.task()["run"]
    project.run("rollback", seq_of(project, "success"))
    assert project.state["debug_attempt_counter"] == 3
    shown = project.run("show", old, "--json").json
    assert shown["state"] == "ABORTED"


@pytest.mark.parametrize("to", ["999", *(pytest.param(to, marks=pytest.mark.slow) for to in ("abcdef1234567", "0"))])
def test_a_point_that_is_not_there_is_told_and_changes_nothing(project: Project, to: str) -> None:
    project.reddened()
    before = project.task()
    ran = project.run("rollback", to)
    assert ran.code == 2 and "detent history" in ran.err
    assert project.task()["run"] == before["run"]
