"""What a run of `pr` says is true: verification tasks, failures that are kept, advice that is one, attempts that are remembered, and what is over is gone."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from detent.kernel.decide import decide
from detent.kernel.model import Evidence, Found, Run, Sent, Tally
from detent.kernel.table import STAY
from detent.workflows.pr.pr_data import PrData, current
from detent.workflows.pr.pr_shown import orchestration_state
from detent.workflows.pr.pr_shown import plan as outline
from detent.workflows.pr.pr_table import PR
from tests.cases import WRONG, counts, project, runs, standing
from tests.test_briefings import PLAN, PR_DATA, a_run, shown

replace = msgspec.structs.replace


def verifying(**fields: Any) -> PrData:
    """At the RED of a verification task."""
    tasks = tuple(replace(task, verifies="t0", replaces="add money") for task in PLAN.tasks)
    return replace(PR_DATA, plan=replace(PLAN, tasks=tasks), **fields)


SUBMIT, NOTHING = Sent("submit"), Found()


def moved(run: Run[Any], on: str, sent: Sent = SUBMIT, found: Found = NOTHING) -> Run[Any]:
    row = PR.row(run.state, on)
    assert row is not None
    return decide(PR, run, sent, row, found).run


# -- a verification task -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("failed", "says"), [(0, "On the current tree it passes."), (1, "On the current tree it still fails.")])
def test_the_analysis_of_a_verification_task_says_that_it_is_one_and_what_was_seen(failed: int, says: str) -> None:
    run = a_run("pr", "EXECUTING_TDD", data=verifying())
    run = moved(run, "verify", found=Found(tree="t1", output="ran", evidence=Evidence("report", counts=Tally(3, failed))))
    text = shown("pr", "NEEDS_ANALYSIS", data=run.data, last_error=run.last_error).briefing
    assert "This is a verification task." in text and says in text
    assert "it failed, as a RED step should" not in text


def test_the_analysis_of_any_other_step_is_about_a_test_that_fails() -> None:
    text = shown("pr", "NEEDS_ANALYSIS").briefing
    assert "it failed, as a RED step should" in text and "verification" not in text


@pytest.mark.parametrize("state", ["EXECUTING_TDD", "DEBUGGING"])
def test_the_steps_of_a_verification_task_ask_for_what_is_judged(state: str) -> None:
    text = shown("pr", state, data=verifying()).briefing
    assert "where it must fail; on the current tree it may pass" in text
    assert "At least one test must fail that did not fail before" not in text
    data = verifying()
    assert data.plan is not None
    done = replace(
        data.plan.tasks[0], tdd_steps=(replace(data.plan.tasks[0].tdd_steps[0], status="DONE", proof=3), *data.plan.tasks[0].tdd_steps[1:])
    )
    assert (
        "If it already passes, change nothing and submit"
        in shown("pr", state, data=replace(data, plan=replace(data.plan, tasks=(done,)))).briefing
    )


# -- failures ----------------------------------------------------------------------------------------------------------------


def test_an_analysis_that_says_failure_keeps_what_the_machine_saw() -> None:
    run = a_run("pr", "NEEDS_ANALYSIS", last_error="E   ImportError: clac")
    after = moved(run, "failure", Sent("submit", summary="a typo", analysis_decision="FAILURE"))
    assert (after.state, after.last_error) == ("DEBUGGING", "E   ImportError: clac")
    assert after.last_reason == "you said that it failed for another reason: a typo"
    assert after.counts["debug"] == 1


@pytest.mark.parametrize(
    ("attempts", "call", "title"),
    [
        (1, "submit_work", "Hypothesize"),
        (5, "submit_work", "Use Inst"),
        (6, "request_scope_reduction", "Request Scope"),
        (9, "request_scope_reduction", "Request Scope"),
        (10, "escalate_for_external_help", "Escalate"),
        (19, "escalate_for_external_help", "Escalate"),
    ],
)  # fmt: skip
def test_title_advice_and_next_call_say_the_same(attempts: int, call: str, title: str) -> None:
    told = shown("pr", "DEBUGGING", counts={"debug": attempts})
    assert told.goal.startswith(title)
    assert told.instruction.startswith(f"call {call}")
    advice = told.briefing.partition("## What to do")[2].partition("## Ways out")[0]
    assert call == "submit_work" or call in advice
    assert "Submit another fix only if" not in advice


def test_one_failed_attempt_of_a_replanned_task_is_not_called_stuck() -> None:
    plan = replace(PLAN, tasks=tuple(replace(task, replaces="all of it") for task in PLAN.tasks))
    told = shown("pr", "DEBUGGING", data=replace(PR_DATA, plan=plan), counts={"debug": 1, "replans": 1})
    assert told.goal.startswith("Hypothesize & Fix") and "You are stuck" not in told.briefing
    assert "escalate_for_external_help" in told.allowed_actions, "it is open all the same"


FORWARD = [r for r in PR.rows if r.to.says == "SUCCESS" and PR.moves[r.on].by != ("human",) and r.to.to != STAY]
MACHINE = (
    "none-left",
    "to-merge",
    "scope-reduction",
    "flags-accepted",
    "flags-fixed",
)  # no work was judged; what is shown is about what comes next


@pytest.mark.parametrize("row", [r for r in FORWARD if r.on not in MACHINE], ids=lambda r: f"{r.at}-{r.on}")
def test_the_error_is_gone_once_it_is_over(row: Any) -> None:
    run = a_run("pr", row.at, last_error="E   old", last_reason="old", cause="")
    found = Found(tree="t1", documents={"ACTIVE_PR.json": ACTIVE, "HEAD": "c1"})
    after = decide(PR, run, Sent("submit", findings="[]"), replace(row, prove=()), found).run
    assert (after.last_error, after.last_reason) == ("", ""), row


STEP = {"type": "RED", "description": "d", "status": "TODO"}
TASKS = [{"taskName": name, "status": "TODO", "tdd_steps": [STEP]} for name in ("one", "two")]
ACTIVE = json.dumps({"masterPlanPath": "p", "prTitle": "t", "summary": "s", "verificationPlan": "v", "tasks": TASKS})


def test_earlier_attempts_stand_in_debugging_in_replanning_and_in_the_escalation() -> None:
    run = a_run("pr", "EXECUTING_TDD")
    for n, why in ((1, "test_a fails"), (2, "test_b fails")):
        run = moved(run, "red", Sent("submit", summary=f"try {n}"), Found(failed=(why,), tree=f"t{n}", output="E"))
        assert f"- try {n}: {why}" in shown("pr", "DEBUGGING", data=run.data).briefing
    assert "- try 1: test_a fails\n- try 2: test_b fails\n" in shown("pr", "HALTED", data=run.data, cause="escalation").briefing
    run = replace(run, counts={"debug": 6})
    run = moved(run, "scope-reduction", Sent("scope-reduction"), Found(tree="abcdef0123456789"))
    text = shown("pr", "REPLANNING", data=run.data).briefing
    assert "- try 1: test_a fails" in text
    assert "kept as the tree abcdef012345: `git restore --source=abcdef012345 -- FILE` restores a file" in text


def test_attempts_are_forgotten_once_the_step_is_done() -> None:
    run = moved(a_run("pr", "EXECUTING_TDD"), "red", Sent("submit", summary="x"), Found(failed=("f",), tree="t1"))
    assert run.data.attempts == ("x: f",)
    run = moved(replace(run, state="NEEDS_ANALYSIS"), "success", Sent("submit"), Found(tree="t2"))
    assert run.data.attempts == () and run.data.failed_try == ""


# -- people ------------------------------------------------------------------------------------------------------------------


def test_what_waits_for_a_person_tells_the_agent_to_stop_and_offers_it_nothing_that_only_people_do() -> None:
    for state in ("HALTED", "MERGING_BRANCH"):
        told = shown("pr", state)
        assert told.allowed_actions == ("get_task",)
        assert told.instruction.startswith("Agents stop here and tell their user. A person continues it with: detent resume")


def test_guidance_of_a_person_stands_first() -> None:
    text = shown("pr", "DEBUGGING", guidance="mind the sign", steers=("use cents",)).briefing
    assert text.splitlines()[2] == "## Guidance from a person"
    assert text.index("use cents") < text.index("You are the software engineer")


def test_steps_that_were_adopted_are_unproven_wherever_they_are_shown() -> None:
    plan = replace(
        PLAN,
        tasks=(
            replace(
                PLAN.tasks[0], tdd_steps=tuple(replace(s, status="DONE") for s in PLAN.tasks[0].tdd_steps[:1]) + PLAN.tasks[0].tdd_steps[1:]
            ),
        ),
    )
    run = a_run("pr", "EXECUTING_TDD", data=replace(PR_DATA, plan=plan))
    assert [(s.status, s.text.endswith(" (unproven)")) for s in outline(run)[0].steps] == [("done", True), ("now", False), ("open", False)]
    assert "- RED (DONE, unproven): " in shown("pr", "CODE_REVIEW", data=run.data).briefing
    assert json.loads(orchestration_state(run))["last_completed_step"].startswith("RED (unproven): ")
    assert current(run.data) is not None


# -- from the command line ---------------------------------------------------------------------------------------------------


def test_the_same_tree_handed_in_again_is_answered_from_memory_and_counts_nothing(tmp_path: Path) -> None:
    p = project(tmp_path / "p").reddened()
    first = p.green(WRONG)
    assert first["status"] == "FAILURE"
    before = standing(p)
    again = p.green(WRONG)
    assert again["status"] == "REFUSED"
    assert "the same tree and command already failed" in again["reasons"][0] and first["reasons"][0].splitlines()[0] in again["reasons"][0]
    assert standing(p) == before
    assert p.green("def add(a, b):\n    return 7\n")["status"] == "FAILURE"
    assert counts(p)["debug"] == 2
    assert runs(p) > before["runs"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "text", ["nonsense", *(pytest.param(text, marks=pytest.mark.slow) for text in ("", "[{}]", '{"findings": [], "approved": true}'))]
)
def test_findings_that_cannot_be_read_are_refused_and_looking_counts_nothing(tmp_path: Path, text: str) -> None:
    p = project(tmp_path / "p", "[git]\nbranching = false\n").reviewing()
    before = standing(p)
    (tmp_path / "review.json").write_text(text)
    if text:
        verdict = p.submit(findings=str(tmp_path / "review.json"))
        assert (verdict["status"], verdict["state"]) == ("REFUSED", "CODE_REVIEW")
        assert "the review" in verdict["reasons"][0]
    p.write({"FINDINGS.json": text})
    for _ in range(4):
        task = p.task()
        assert task["state"] == "CODE_REVIEW" and "FINDINGS.json: the review" in task["last_error"]
    assert standing(p) == before
    assert (p.root / "FINDINGS.json").read_text() == text
    p.write({"FINDINGS.json": "[]"})
    assert p.task()["state"] == "AWAITING_FINALIZATION"
    assert not (p.root / "FINDINGS.json").exists()


def test_a_resume_deletes_nothing_that_the_agent_has_begun(tmp_path: Path) -> None:
    p = project(tmp_path / "p")
    p.task()
    assert p.submit(no_pr_left=True)["state"] == "HALTED"
    p.write_plan()
    (p.root / "notes.txt").write_text("not committed\n")
    before = {f.name: f.read_bytes() for f in p.root.iterdir() if f.is_file() and f.name != "ORCHESTRATION_STATE.json"}
    assert "ACTIVE_PR.json" in before
    assert p.run("resume").code == 0
    assert {name: (p.root / name).read_bytes() for name in before} == before
    assert p.submit()["state"] == "CREATING_BRANCH"
