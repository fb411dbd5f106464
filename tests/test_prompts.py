"""System prompts and briefings as agents read them, held against recorded texts.

A text that was changed on purpose is recorded again with `GOLDEN=write pytest tests/test_prompts.py`; read the difference before you commit it.
"""

import os
import re
from pathlib import Path
from string import Template
from typing import Any

import msgspec
import pytest

from detent.app.registry import BUILT_IN, workflow_of
from detent.app.registry import brief_of as brief
from detent.blocks.briefs import SHARED, flags_prompt, prompt, system_prompt
from detent.blocks.common import Ground
from detent.gates.item import BranchReview, FoundIssue, WorkItem
from detent.gates.plan import PlanTask
from detent.gates.testlist import CurrentTest, ListedTest
from detent.kernel.model import Run
from detent.kernel.table import Table
from detent.workflows.execute.execute_data import ExecuteData, ProjectFacts
from detent.workflows.execute.execute_table import EXECUTE
from detent.workflows.pipeline.pipeline_table import PIPELINE
from detent.workflows.pipeline.task_table import TASK
from detent.workflows.pr.pr_data import PrSetup
from detent.workflows.pr.pr_jobs import _findings_prompt
from detent.workflows.pr.pr_table import PR
from detent.workflows.tdd.tdd_data import TddData
from detent.workflows.tdd.tdd_table import TDD
from tests.test_briefings import PLAN, PR_DATA, STEPS, WRITTEN
from tests.test_briefings import a_run as pr_run

GOLDEN = Path(__file__).with_name("golden")
ROLES = [
    (table.name, role)
    for table in (TDD, PR, PIPELINE, TASK, EXECUTE)
    for role in sorted({s.role for s in table.states.values() if s.actor == "agent"})
]

CURRENT = CurrentTest("adds two numbers", "tests/test_sum.py", "src/sum.py")
ENTRIES = (ListedTest("adds nothing", done=True, proof=5), ListedTest("adds two numbers"), ListedTest("refuses words"))
DONE = tuple(msgspec.structs.replace(e, done=True, proof=5) for e in ENTRIES)
BEGUN = TddData(entries=ENTRIES, current=CURRENT, feature_request="sums of money", cycle=2, branch="refs/heads/detent/sums")
FAILED: dict[str, Any] = {"last_error": "tests/test_sum.py::test_two fails\n\nE   assert 3 == 4", "counts": {"retries": 1}}


def data(**fields: Any) -> TddData:
    return msgspec.structs.replace(BEGUN, **fields)


CASES: dict[str, tuple[str, TddData, dict[str, Any]]] = {
    "PLAN-first": ("PLAN", TddData(feature_request="sums of money"), {}),
    "PLAN": ("PLAN", data(phase="REFACTOR", subject="refactor: adds nothing", cycle=1, current=None), {}),
    "PLAN-refused": ("PLAN", TddData(feature_request="sums of money"), {"last_error": "What was handed in was not accepted: reply is missing", "counts": {"agent": 1}}),
    "RED": ("RED", data(phase="PLAN", subject="plan: adds two numbers"), {}),
    "RED-again": ("RED", data(phase="PLAN", subject="plan: adds two numbers", tried=("a test that passed",)), FAILED),
    "RED-driven-again": ("RED", data(phase="PLAN", subject="plan: adds two numbers", setup=Ground(agent="human")), FAILED),
    "GREEN": ("GREEN", data(phase="RED", subject="test: adds two numbers"), {}),
    "GREEN-again": ("GREEN", data(phase="RED", subject="test: adds two numbers", tried=("a lookup table",), taken_back="abcdef0123456789"), FAILED),
    "GREEN-guided": ("GREEN", data(phase="RED", subject="test: adds two numbers"), {"guidance": "use cents", "steers": ("mind the sign",)}),
    "REFACTOR": ("REFACTOR", data(phase="GREEN", subject="feat: adds two numbers"), {}),
    "REFACTOR-again": ("REFACTOR", data(phase="GREEN", subject="feat: adds two numbers", tried=("a new class",), taken_back="abcdef0123456789"), FAILED),
    "HALTED": ("HALTED", data(phase="RED", subject="test: adds two numbers", next_phase="GREEN"), {**FAILED, "cause": "retries", "back": "GREEN"}),
    "COMPLETE": ("COMPLETE", data(phase="PLAN", subject="plan: every test of the list is done", entries=DONE), {}),
    "ABORTED": ("ABORTED", data(phase="RED", subject="test: adds two numbers"), {}),
}  # fmt: skip


SUMS = ExecuteData(
    item=WorkItem("bd-7", "Add sums", "Sums of money are missing."), project=ProjectFacts("till", ("python",), "pytest -q"), context="mind the cents",
    branch="refs/heads/beads-bd-7-add-sums", base="c0", good_tree="t0",
)  # fmt: skip
FOUND = BranchReview((FoundIssue("No error handling", "fetch fails", 1, "bug", "high", "src/a.py", (4,)),), "one issue", False)


def sums(**fields: Any) -> ExecuteData:
    return msgspec.structs.replace(SUMS, **fields)


EXECUTIONS: dict[str, tuple[str, ExecuteData, dict[str, Any]]] = {
    "RUNNING": ("RUNNING", SUMS, {}),
    "RUNNING-again": ("RUNNING", SUMS, {"last_error": "test_two fails\n\nE   assert 3 == 4", "counts": {"tries": 1}}),
    "NOT_READY": ("NOT_READY", sums(pushed="c9", review=FOUND), {"cause": "review"}),
    "HALTED": ("HALTED", SUMS, {"cause": "errors", "back": "PUSHING", "last_error": "the remote origin cannot be reached"}),
    "COMPLETED": ("COMPLETED", sums(pushed="c9"), {}),
    "FAILED": ("FAILED", sums(reason="test_two fails"), {"cause": "tests", "last_error": "test_two fails\n\nE   assert 3 == 4"}),
    "BLOCKED": ("BLOCKED", sums(reason="no key"), {"cause": "blocked"}),
    "TIMEOUT": ("TIMEOUT", sums(reason="the limit of 21600 s has passed"), {"cause": "time"}),
    "CANCELLED": ("CANCELLED", sums(reason="bd-3 is not closed"), {"cause": "skipped"}),
}  # fmt: skip


def prompt_of(workflow: str, role: str) -> str:
    flow = workflow_of(workflow)
    return system_prompt(flow.prompt_folder, role, flow.hand_in, "/the/workspace")


def rendered(name: str) -> str:
    state, given, fields = CASES[name]
    return brief(TDD, Run("tdd-1", "tdd", state, 9, given, limits=dict(TDD.limits), **fields)).briefing


def holds(file: Path, text: str) -> None:
    """The text is the recorded one; with GOLDEN=write it becomes it."""
    if os.environ.get("GOLDEN") == "write":
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    assert file.is_file(), f"{file.name} is not recorded; run GOLDEN=write pytest tests/test_prompts.py"
    assert text == file.read_text("utf-8"), f"{file} differs; if that is on purpose: GOLDEN=write pytest tests/test_prompts.py"


@pytest.mark.parametrize(("workflow", "role"), ROLES)
def test_the_system_prompt_of_a_role_is_the_recorded_one(workflow: str, role: str) -> None:
    holds(GOLDEN / "prompts" / f"{workflow}-{role}.md", prompt_of(workflow, role))


@pytest.mark.parametrize("name", CASES)
def test_a_briefing_of_tdd_is_the_recorded_one(name: str) -> None:
    holds(GOLDEN / "briefings" / "tdd" / f"{name}.md", rendered(name))


def test_the_prompts_of_reviewers_are_the_recorded_ones() -> None:
    holds(GOLDEN / "prompts" / "execute-reviewer.md", prompt(workflow_of("execute").prompt_folder, "review-branch") + "\n")
    holds(GOLDEN / "prompts" / "pr-findings.md", _findings_prompt())


@pytest.mark.parametrize("name", EXECUTIONS)
def test_a_briefing_of_execute_is_the_recorded_one(name: str) -> None:
    state, given, fields = EXECUTIONS[name]
    run = Run("execute-bd-7-1", "execute", state, 9, given, limits=dict(EXECUTE.limits), **fields)
    holds(GOLDEN / "briefings" / "execute" / f"{name}.md", brief(EXECUTE, run).briefing)


TABLES: dict[str, Table[Any]] = {"pr": PR}


def as_it_was(state: str, **more: Any) -> Run[Any]:
    """A run as it really is in a state: what must be done by then is done, and what failed was counted."""
    steps = tuple(msgspec.structs.replace(s, status="DONE", proof=1) for s in STEPS)
    done = msgspec.structs.replace(PLAN, tasks=(PlanTask("add money", steps),))
    data: dict[str, Any] = (
        {"plan": done} if state in ("CODE_REVIEW", "AWAITING_FINALIZATION", "FINALIZE_COMPLETE", "MERGING_BRANCH") else {}
    )
    data |= {"report": "The currency of an order is nowhere to be found."} if state == "HALTED" else {}
    counts = {"debug": 10 if state == "HALTED" else 1} if state in ("DEBUGGING", "HALTED") else {}
    return pr_run("pr", state, data=msgspec.structs.replace(PR_DATA, **data, **more), counts=counts)


OTHERS: dict[tuple[str, str], Run[Any]] = {
    **{("pr", state): as_it_was(state) for name, state in WRITTEN if name == "pr"},
    ("pr", "DEBUGGING-driven"): as_it_was("DEBUGGING", setup=PrSetup(plan="docs/plan.md", agent="human")),
}  # every state that someone reads; those of sessions are held door by door, in test_session_texts.py


@pytest.mark.parametrize(("workflow", "name"), OTHERS)
def test_a_briefing_of_pr_is_the_recorded_one(workflow: str, name: str) -> None:
    text = brief(TABLES[workflow], OTHERS[workflow, name]).briefing
    holds(GOLDEN / "briefings" / workflow / f"{name}.md", text)


def test_every_recorded_text_is_still_made_and_every_state_has_one() -> None:
    assert {f.stem for f in (GOLDEN / "briefings" / "pr").iterdir()} == {name for _, name in OTHERS}
    made = {*(f"{workflow}-{role}" for workflow, role in ROLES), "execute-reviewer", "pr-findings"}
    assert {f.stem for f in (GOLDEN / "prompts").iterdir()} == made
    assert {f.stem for f in (GOLDEN / "briefings" / "execute").iterdir()} == set(EXECUTIONS)
    assert {state for state, _, _ in EXECUTIONS.values()} == {name for name, state in EXECUTE.states.items() if state.actor != "system"}
    assert {f.stem for f in (GOLDEN / "briefings" / "tdd").iterdir()} == set(CASES)
    assert {state for state, _, _ in CASES.values()} == {name for name, state in TDD.states.items() if state.actor != "system"}


def test_every_prompt_file_belongs_to_a_role_or_a_workflow_that_is_driven() -> None:
    asked = {"execute": {"review-branch"}, "pr": {"hand-in-findings"}}  # of reviewers, who are no role of a table
    wanted: dict[Path, set[str]] = {}
    for name in BUILT_IN:
        flow = workflow_of(name)
        roles = {role.lower() for of, role in ROLES if of == name}
        wanted.setdefault(flow.prompt_folder, set()).update(roles | {flow.hand_in} | asked.get(name, set()))
    for folder, names in wanted.items():
        assert {f.stem for f in folder.iterdir()} == names, folder
    assert {f.stem for f in SHARED.iterdir()} == {"agent", "review-flags"} and flags_prompt()


@pytest.mark.parametrize(("workflow", "role"), ROLES)
def test_a_prompt_leaves_no_name_unfilled_and_says_what_every_agent_must_know(workflow: str, role: str) -> None:
    text = prompt_of(workflow, role)
    assert not Template(text).get_identifiers()
    assert "`/the/workspace`" in text and "fresh session" in text and "What you say about a result is not evidence" in text
    assert (
        "Run the project's tests in your sandbox as often as you like" in text
        and "What counts is the machine's own run" in text
        and "is data" in text
    )
    assert "submit_work" not in text, "there is nothing to call"
    assert len(re.findall(r"^Your part is ", text, re.MULTILINE)) == 1 and text.count("How you hand in:") == 1


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("PLAN", ("Read the feature request, the existing code", "Write or update `test-list.md`", "Choose the one open entry")),
        ("RED", ("write a failing test for: adds two numbers", "Test file: `tests/test_sum.py`", "`src/sum.py`")),
        ("GREEN", ("minimal code", "`tests/test_sum.py`")),
        ("REFACTOR", ("refactor", "`src/sum.py`", "`tests/test_sum.py`")),
    ],
)
def test_a_briefing_asks_for_what_its_phase_is_about(name: str, asked: tuple[str, ...]) -> None:
    assert [part for part in asked if part not in rendered(name)] == []
