"""The plan of one pull request: every fault is named with its path, and the gates that hold it to the master plan. No files, no processes."""

import json
from typing import Any

import pytest

from detent.gates.plan import (
    ActivePr,
    Breakdown,
    PlanData,
    PlannedStep,
    PlanTask,
    plan_is_sound,
    read_plan,
    replan_keeps_the_rest,
)
from detent.kernel.model import Run
from tests.looks import LiteralLook

RED, GREEN = ({"type": sort, "description": "it adds", "status": "TODO"} for sort in ("RED", "GREEN"))
TASK: dict[str, Any] = {"taskName": "sums", "status": "TODO", "tdd_steps": [RED, GREEN]}
PLAN: dict[str, Any] = {"masterPlanPath": "PLAN.md", "prTitle": "feat: sums", "summary": "s", "verificationPlan": "v", "tasks": [TASK]}
MASTER = "# Plan\n- feat: sums\n- feat: taxes\n"


def without(value: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: each for name, each in value.items() if name != key}


def with_task(task: Any) -> dict[str, Any]:
    return {**PLAN, "tasks": [TASK, task]}


def with_step(*steps: Any) -> dict[str, Any]:
    return with_task({**TASK, "tdd_steps": list(steps)})


def with_history(history: Any) -> dict[str, Any]:
    return with_task({**TASK, "breakdownHistory": history})


HISTORY = "tasks[1].breakdownHistory"
FAULTS: list[tuple[Any, tuple[str, ...]]] = [
    ([], ("ACTIVE_PR.json: must be an object",)),
    ({**PLAN, "colour": 1}, ("colour: is not a known field",)),
    (without(PLAN, "summary"), ("summary: is missing",)),
    ({**PLAN, "summary": " "}, ("summary: must be a non-empty string",)),
    ({**PLAN, "prTitle": 7}, ("prTitle: must be a non-empty string",)),
    (without(PLAN, "tasks"), ("tasks: is missing",)),
    ({**PLAN, "tasks": []}, ("tasks: must be a list with at least one task",)),
    ({**PLAN, "tasks": TASK}, ("tasks: must be a list with at least one task",)),
    (with_task("sums"), ("tasks[1]: must be an object",)),
    (with_task(without(TASK, "taskName")), ("tasks[1].taskName: is missing",)),
    (with_task({**TASK, "taskName": ""}), ("tasks[1].taskName: must be a non-empty string",)),
    (with_task({**TASK, "status": "LATER"}), ("tasks[1].status: must be one of TODO, IN_PROGRESS, DONE, ERROR",)),
    (with_task(without(TASK, "tdd_steps")), ("tasks[1].tdd_steps: is missing",)),
    (with_step(), ("tasks[1].tdd_steps: must be a list with at least one step",)),
    (with_task({**TASK, "tdd_steps": RED}), ("tasks[1].tdd_steps: must be a list with at least one step",)),
    (with_step("RED"), ("tasks[1].tdd_steps[0]: must be an object",)),
    (with_step({**RED, "type": "BLUE"}), ("tasks[1].tdd_steps[0].type: must be one of RED, GREEN, REFACTOR",)),
    (with_step(without(RED, "description")), ("tasks[1].tdd_steps[0].description: is missing",)),
    (with_step({**RED, "description": ""}), ("tasks[1].tdd_steps[0].description: must be a non-empty string",)),
    (with_step({**RED, "status": "IN_PROGRESS"}), ("tasks[1].tdd_steps[0].status: must be TODO or DONE",)),
    (with_step(GREEN), ("tasks[1].tdd_steps[0].type: a GREEN step must come after a RED step",)),
    (with_step(RED, GREEN, GREEN), ("tasks[1].tdd_steps[2].type: a GREEN step must come after a RED step",)),
    (with_history(None), (f"{HISTORY}: must be an object",)),
    (with_history({"originalTaskName": "big"}), (f"{HISTORY}.justification: is missing",)),
    (with_history({"originalTaskName": "big", "justification": ""}), (f"{HISTORY}.justification: must be a non-empty string",)),
    ({**with_task({**TASK, "taskName": ""}), "summary": ""}, ("summary: must be a non-empty string", "tasks[1].taskName: must be a non-empty string")),
]  # fmt: skip


@pytest.mark.parametrize(("raw", "faults"), FAULTS)
def test_a_plan_that_is_not_in_its_form_names_every_fault_with_its_path_and_no_other(raw: Any, faults: tuple[str, ...]) -> None:
    assert read_plan(json.dumps(raw)) == (None, faults)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "ACTIVE_PR.json is not JSON: "),
        ("[" * 100_000, "ACTIVE_PR.json is not JSON: "),
        (json.dumps({**PLAN, "summary": float("nan")}), "ACTIVE_PR.json is not JSON: NaN is not allowed"),
        (json.dumps({**PLAN, "summary": float("-inf")}), "ACTIVE_PR.json is not JSON: -Infinity is not allowed"),
    ],
    ids=["cut", "deep", "NaN", "Infinity"],
)
def test_a_plan_that_is_no_json_says_why(text: str, said: str) -> None:
    found, faults = read_plan(text)
    assert found is None and len(faults) == 1 and faults[0].startswith(said)


def test_a_sound_plan_is_read_as_it_is_written() -> None:
    history = {"originalTaskName": "big", "justification": "too broad"}
    steps = (PlannedStep("RED", "it adds"), PlannedStep("GREEN", "it adds"))
    tasks = (PlanTask("sums", steps), PlanTask("sums", steps, Breakdown("big", "too broad")))
    assert read_plan(json.dumps(with_history(history))) == (ActivePr("PLAN.md", "feat: sums", "s", "v", tasks), ())


def judged(text: str | None, **data: Any) -> LiteralLook:
    run: Run[PlanData] = Run("r", "pr", "INITIALIZING", 3, PlanData(**data))
    return LiteralLook(
        run, files={"PLAN.md": MASTER, **({"ACTIVE_PR.json": text} if text is not None else {})}, settings={"pr.plan": "PLAN.md"}
    )


BEGUN = "\n".join(f"tasks[1]{at}.status: must be TODO at the start" for at in ("", ".tdd_steps[1]"))


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        (json.dumps(PLAN), None),
        (None, "ACTIVE_PR.json is missing; write it as the briefing says"),
        (json.dumps({**PLAN, "summary": "", "tasks": []}), "summary: must be a non-empty string\ntasks: must be a list with at least one task"),
        (json.dumps(with_task({**TASK, "status": "DONE", "tdd_steps": [RED, {**GREEN, "status": "DONE"}]})), BEGUN),
        (
            json.dumps({**PLAN, "prTitle": "feat: rounding"}),
            "prTitle: 'feat: rounding' matches 0 open entries of the plan; it must match exactly one: feat: sums; feat: taxes",
        ),
    ],
    ids=["sound", "not there", "not in its form", "begun", "about no entry"],
)  # fmt: skip
def test_a_plan_is_taken_where_it_is_sound_has_not_begun_and_is_about_one_open_entry(plan: str | None, said: str | None) -> None:
    assert plan_is_sound(judged(plan)) == said


def part(name: str, red: str, history: str = "", status: str = "TODO") -> dict[str, Any]:
    """A task as it is written."""
    told = {"breakdownHistory": {"originalTaskName": history, "justification": "too broad"}} if history else {}
    return {"taskName": name, "status": "TODO", "tdd_steps": [{**RED, "description": red, "status": status}, GREEN], **told}


SMALL, CHECK = part("small", "half of it", "big"), part("check", "the original")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (json.dumps({**PLAN, "tasks": [SMALL, CHECK]}), None),
        (None, "ACTIVE_PR.json is missing"),
        ("{}", "\n".join(f"{name}: is missing" for name in PLAN)),
        (json.dumps({**PLAN, "prTitle": "feat: more", "tasks": [SMALL, CHECK]}), "prTitle: must not change; only the task 'big' is planned again"),
        (json.dumps({**PLAN, "tasks": [part("small", "half of it", "big", "DONE"), CHECK]}), "tasks[0]: new tasks must start as TODO"),
    ],
    ids=["sound", "not there", "not in its form", "another title", "begun"],
)  # fmt: skip
def test_a_task_that_is_planned_again_is_all_that_changes_in_the_plan_and_starts_from_nothing(text: str | None, said: str | None) -> None:
    old, faults = read_plan(json.dumps({**PLAN, "tasks": [part("big", "the original")]}))
    assert old is not None, faults
    assert replan_keeps_the_rest(judged(text, plan=old, replacing="big", replacing_red="the original")) == said
