"""The source document's cases: given, when, then, for every transition it names, by the published files and the command line."""

import inspect
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cases import WRONG, pass_all, project
from tests.project import GREEN, PLAN, RED, Project

TITLE = "feat: add numbers"


def left_by_hand(p: Project, status: str, *tasks: tuple[str, tuple[tuple[str, str], ...]], counter: int | None = None) -> Project:
    """State files as the document gives them, completed to the schema, in a repository that has no journal yet."""
    plan = {"masterPlanPath": PLAN, "prTitle": TITLE, "summary": "s", "verificationPlan": "v"}
    listed = [
        {
            "taskName": name,
            "status": "DONE" if all(s == "DONE" for _, s in steps) else "TODO",
            "tdd_steps": [{"type": t, "description": f"{t} of {name}", "status": s} for t, s in steps],
        }
        for name, steps in tasks
    ]
    state = {"status": status, **({} if counter is None else {"debug_attempt_counter": counter})}
    p.write({"ACTIVE_PR.json": json.dumps({**plan, "tasks": listed}), "ORCHESTRATION_STATE.json": json.dumps(state)})
    return p


def steps_of(p: Project) -> list[str]:
    return [step["status"] for task in p.plan["tasks"] for step in task["tdd_steps"]]


# -- initialization ------------------------------------------------------------------------------------------------------------


def test_with_no_state_the_first_task_is_to_initialize_with_the_whole_schema(tmp_path: Path) -> None:
    p = project(tmp_path / "p")
    task = p.task()
    assert task["state"] == "INITIALIZING"
    assert p.state["status"] == "INITIALIZING"
    for word in (
        "masterPlanPath",
        "prTitle",
        "summary",
        "verificationPlan",
        "taskName",
        "tdd_steps",
        "RED | GREEN | REFACTOR",
        "TODO | DONE",
        PLAN,
    ):
        assert word in task["briefing"], word
    assert task["writes"] == ["ACTIVE_PR.json"]
    assert not (p.root / "ACTIVE_PR.json").exists(), "reading the plan and turning it into steps is the agent's work"


def test_a_plan_that_is_submitted_starts_the_work(tmp_path: Path) -> None:
    p = project(tmp_path / "p", "[git]\nbranching = false\n")
    p.task()
    p.write_plan("RED", "GREEN")
    verdict = p.submit()
    assert (verdict["status"], verdict["exit"]) == ("SUCCESS", 0)
    assert p.state["status"] == "EXECUTING_TDD"


def test_a_plan_that_is_submitted_starts_the_work_on_a_branch(tmp_path: Path) -> None:
    p = project(tmp_path / "p")
    p.task()
    p.write_plan("RED", "GREEN")
    assert p.submit()["state"] == "CREATING_BRANCH"
    assert p.task()["state"] == "EXECUTING_TDD"
    assert p.state["current_pr_branch"] == "feat/add-numbers"


# -- the cycle -----------------------------------------------------------------------------------------------------------------


def test_the_next_step_is_the_first_that_is_to_do(tmp_path: Path) -> None:
    p = left_by_hand(project(tmp_path / "p"), "EXECUTING_TDD", ("the core", (("RED", "TODO"),)))
    task = p.task()
    assert task["state"] == "EXECUTING_TDD"
    assert task["step"]["description"] == "RED of the core"
    assert "RED of the core" in task["briefing"]
    assert task["goal"].endswith("RED of the core")


def test_a_green_step_that_passes_is_done(tmp_path: Path) -> None:
    p = left_by_hand(
        project(tmp_path / "p", files={"tests/test_add.py": RED}), "EXECUTING_TDD", ("the core", (("RED", "DONE"), ("GREEN", "TODO")))
    )
    assert p.task()["step"]["type"] == "GREEN"
    verdict = p.green()
    assert (verdict["status"], verdict["exit"]) == ("SUCCESS", 0)
    assert steps_of(p) == ["DONE", "DONE"]
    assert p.plan["tasks"][0]["status"] == "DONE"
    assert p.state["status"] == "EXECUTING_TDD"
    assert p.state["last_completed_step"] == "GREEN: GREEN of the core"


def test_a_green_step_is_done_only_with_its_preflight(tmp_path: Path) -> None:
    p = project(tmp_path / "p", "[preflight]\ncommands = ['test ! -e todo']\n").reddened()
    p.write({"todo": ""})
    assert p.green()["status"] == "FAILURE"
    assert steps_of(p) == ["DONE", "TODO"]
    (p.root / "todo").unlink()
    pass_all(p)
    assert steps_of(p) == ["DONE", "DONE"]


def test_a_red_step_that_fails_waits_for_its_analysis(tmp_path: Path) -> None:
    p = left_by_hand(project(tmp_path / "p"), "EXECUTING_TDD", ("the core", (("RED", "TODO"), ("GREEN", "TODO"))))
    p.task()
    verdict = p.red()
    assert (verdict["status"], verdict["state"], verdict["exit"]) == ("NEEDS_ANALYSIS", "NEEDS_ANALYSIS", 0)
    assert steps_of(p) == ["TODO", "TODO"]
    task = p.task()
    assert task["state"] == p.state["status"] == "NEEDS_ANALYSIS"
    assert "analysis_decision" in task["instruction"]
    assert "cannot import name 'add'" in task["briefing"]


def test_an_analysis_that_says_success_marks_the_step_and_goes_on(tmp_path: Path) -> None:
    p = project(tmp_path / "p").planned()
    assert p.red()["state"] == "NEEDS_ANALYSIS"
    verdict = p.submit(analysis_decision="SUCCESS")
    assert (verdict["status"], verdict["exit"]) == ("SUCCESS", 0)
    assert steps_of(p) == ["DONE", "TODO"]
    assert p.state["status"] == "EXECUTING_TDD"


# -- debugging -----------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_green_step_that_fails_is_debugged_with_counter_and_log(tmp_path: Path) -> None:
    p = left_by_hand(
        project(tmp_path / "p", files={"tests/test_add.py": RED}), "EXECUTING_TDD", ("the core", (("RED", "DONE"), ("GREEN", "TODO")))
    )
    p.task()
    verdict = p.green(WRONG)
    assert (verdict["status"], verdict["exit"]) == ("FAILURE", 1)
    assert (p.state["status"], p.state["debug_attempt_counter"]) == ("DEBUGGING", 1)
    assert "assert 0 == 3" in (p.root / "error.log").read_text()
    assert steps_of(p) == ["DONE", "TODO"]


def test_debugging_shows_the_log_and_the_first_advice(tmp_path: Path) -> None:
    p = left_by_hand(project(tmp_path / "p"), "DEBUGGING", ("the core", (("RED", "DONE"), ("GREEN", "TODO"))), counter=1)
    p.write({"error.log": "E   assert 0 == 3\n"})
    task = p.task()
    assert task["state"] == "DEBUGGING"
    assert task["goal"].startswith("Hypothesize & Fix")
    assert "E   assert 0 == 3" in task["briefing"]
    assert p.state["debug_attempt_counter"] == 1


# -- review, finalization ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_findings_become_tasks_and_the_work_goes_on(tmp_path: Path) -> None:
    p = project(tmp_path / "p").reviewing()
    p.write({"FINDINGS.json": json.dumps([{"taskName": f"Address feedback {x}", "status": "TODO"} for x in "AB"])})
    verdict = p.submit(findings="FINDINGS.json")
    assert (verdict["status"], verdict["exit"]) == ("SUCCESS", 0)
    assert p.state["status"] == "EXECUTING_TDD"
    names = [task["taskName"] for task in p.plan["tasks"]]
    assert names[0] == "add"
    assert [n.rpartition(": ")[2] for n in names[1:]] == ["Address feedback A", "Address feedback B"]
    assert [task["status"] for task in p.plan["tasks"]] == ["DONE", "IN_PROGRESS", "TODO"]


def test_when_every_task_is_done_a_review_is_asked_for(tmp_path: Path) -> None:
    p = project(tmp_path / "p").reddened()
    pass_all(p)
    assert p.state["status"] == "EXECUTING_TDD"
    task = p.task()
    assert task["state"] == p.state["status"] == "CODE_REVIEW"
    assert task["goal"].startswith("REQUEST_REVIEW")


def test_when_every_task_is_done_by_hand_a_review_is_asked_for_too(tmp_path: Path) -> None:
    p = left_by_hand(project(tmp_path / "p"), "EXECUTING_TDD", ("the core", (("RED", "DONE"), ("GREEN", "DONE"))))
    task = p.task()
    assert task["state"] == "CODE_REVIEW"
    assert task["goal"].startswith("REQUEST_REVIEW")
    assert len(p.run("status", "--json").json["unproven"]) == 2


def test_no_findings_approve_and_the_squash_is_asked_for(tmp_path: Path) -> None:
    p = project(tmp_path / "p").reviewing()
    p.write({"FINDINGS.json": "[]"})
    task = p.task()
    assert task["state"] == p.state["status"] == "AWAITING_FINALIZATION"
    assert task["goal"].startswith("Squash")
    assert f"git reset --soft {p.git('rev-parse', 'main')}" in task["briefing"]
    assert f"git commit -m '{TITLE}'" in task["briefing"]


def test_a_findings_file_without_a_byte_approves_nothing(tmp_path: Path) -> None:
    p = project(tmp_path / "p").reviewing()
    p.write({"FINDINGS.json": ""})
    task = p.task()
    assert task["state"] == "CODE_REVIEW"
    assert "empty" in task["last_error"]


def test_a_squashed_commit_completes_the_finalization(tmp_path: Path) -> None:
    p = project(tmp_path / "p").finalizing()
    p.git("reset", "-q", "--soft", "main")
    p.git("commit", "-q", "-m", TITLE)
    head = p.git("rev-parse", "HEAD")
    verdict = p.submit(commit_hash=head)
    assert (verdict["status"], verdict["exit"]) == ("SUCCESS", 0)
    assert (p.state["status"], p.state["last_commit_hash"]) == ("FINALIZE_COMPLETE", head)


def test_the_plan_update_is_asked_for_with_path_and_hash(tmp_path: Path) -> None:
    p = project(tmp_path / "p").squashed()
    task = p.task()
    assert task["state"] == "FINALIZE_COMPLETE"
    assert PLAN in task["goal"]
    assert p.state["last_commit_hash"] in task["briefing"]
    assert task["writes"] == [PLAN]


@pytest.mark.slow
def test_a_plan_update_without_branching_begins_anew(tmp_path: Path) -> None:
    p = project(tmp_path / "p", "[git]\nbranching = false\nsquash = 'auto'\n")
    p.task()
    p.write_plan()
    p.submit()
    p.red()
    p.submit(analysis_decision="SUCCESS")
    pass_all(p)
    p.task()
    p.write({"FINDINGS.json": "[]"})
    assert p.task()["state"] == "FINALIZE_COMPLETE"
    p.mark_done()
    verdict = p.submit()
    assert (verdict["status"], verdict["exit"]) == ("SUCCESS", 0)
    assert p.state["status"] == "INITIALIZING"
    assert not (p.root / "ACTIVE_PR.json").exists()


@pytest.mark.slow
def test_a_plan_update_is_merged_and_begins_anew(tmp_path: Path) -> None:
    p = project(tmp_path / "p").squashed()
    p.mark_done()
    assert p.submit()["state"] == "PLAN_UPDATED"
    task = p.task()
    assert task["state"] == p.state["status"] == "INITIALIZING"
    assert not (p.root / "ACTIVE_PR.json").exists()
    assert (p.root / "calc.py").read_text() == GREEN
    assert p.git("symbolic-ref", "--short", "HEAD") == "main"
    assert "[DONE]" in (p.root / PLAN).read_text()


# -- how the cases are run -----------------------------------------------------------------------------------------------------


def test_each_case_has_a_folder_of_its_own_and_asks_the_program_alone() -> None:
    cases = [f for name, f in globals().items() if name.startswith("test_") and "case" not in name]
    assert len(cases) > 15
    assert all("tmp_path" in inspect.signature(f).parameters for f in cases)
    assert "detent" not in {name.partition(".")[0] for name in globals()}, "a case that reaches into the program tests how it is made"


@pytest.mark.slow
def test_the_cases_pass_from_whatever_folder_they_are_started_in(tmp_path: Path) -> None:
    case = f"{Path(__file__)}::{test_a_green_step_that_passes_is_done.__name__}"
    words = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-n",
        "0",
        "--rootdir",
        str(Path(__file__).parent.parent),
        "--basetemp",
        str(tmp_path / "its own"),  # in the place that all share it would clear away what earlier runs left
        case,
    ]
    ran = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0 and "1 passed" in ran.stdout, ran.stdout + ran.stderr
