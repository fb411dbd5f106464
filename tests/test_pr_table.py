"""The `pr` table by itself: walked, and its pure parts on literal values."""

import json
from pathlib import Path

import msgspec
import pytest

from detent.app.preflight import default_preflight, missing_preflight
from detent.app.registry import brief_of as brief
from detent.gates.plan import ActivePr, Breakdown, PlannedStep, PlanTask, read_plan, replan_fault, title_fits
from detent.gates.plan_entries import open_entries
from detent.gates.review_gates import Finding
from detent.kernel.decide import decide
from detent.kernel.model import Found, Run, Sent
from detent.kernel.walk import problems
from detent.workflows.pr.pr_data import PrData, PrSetup, keep_findings, keep_review
from detent.workflows.pr.pr_table import PR
from tests.project import Project

SMALL = {"debug": 3, "reduce_scope": 1, "escalate": 2, "replans": 1, "review": 1, "agent": 1, "errors": 2, "instrument": 1, "rewrites": 1}
STATES = [
    "INITIALIZING", "CREATING_BRANCH", "EXECUTING_TDD", "NEEDS_ANALYSIS", "DEBUGGING", "REPLANNING", "CODE_REVIEW", "AWAITING_FINALIZATION",
    "FINALIZE_COMPLETE", "PLAN_UPDATED", "MERGING_BRANCH", "HALTED", "DONE", "ABORTED",
]  # fmt: skip


def a_task(name: str, red: str = "red", history: str = "") -> PlanTask:
    return PlanTask(name, (PlannedStep("RED", red), PlannedStep("GREEN", "green")), Breakdown(history, "too broad") if history else None)


def a_plan(*tasks: PlanTask) -> ActivePr:
    return ActivePr("plan.md", "feat: x", "s", "v", tasks)


def a_run(state: str, **data: object) -> Run[PrData]:
    return Run("r", "pr", state, 5, PrData(plan=a_plan(a_task("one")), **data), limits=dict(PR.limits))  # type: ignore[arg-type]


def test_the_table_has_these_states() -> None:
    assert list(PR.states) == STATES


@pytest.mark.slow
def test_the_walk_over_the_table_finds_nothing_wrong() -> None:
    assert problems(PR, SMALL) == ()


@pytest.mark.slow
@pytest.mark.parametrize("name", PR.limits)
def test_the_walk_over_the_table_with_a_limit_of_its_own_finds_nothing_wrong(name: str) -> None:
    """One after the other: all of them at once are more than a million places."""
    limits = {**SMALL, name: PR.limits[name]}
    limits["debug"] = max(limits["debug"], limits["reduce_scope"])  # attempts that are never made open no way out
    assert problems(PR, limits) == ()


OLD = a_plan(a_task("before"), a_task("big", red="the original"), a_task("after"))
GOOD = a_plan(a_task("before"), a_task("small", history="big"), a_task("check", red="the original"), a_task("after"))


@pytest.mark.parametrize(
    ("new", "fault"),
    [
        (GOOD, None),
        (a_plan(a_task("other"), *GOOD.tasks[1:]), "every task except 'big' must stay"),
        (a_plan(*GOOD.tasks[:3]), "every task except 'big' must stay"),
        (a_plan(GOOD.tasks[0], GOOD.tasks[2], GOOD.tasks[3]), "at least two tasks"),
        (a_plan(GOOD.tasks[0], a_task("small"), *GOOD.tasks[2:]), "breakdownHistory"),
        (a_plan(GOOD.tasks[0], a_task("small", history="another"), *GOOD.tasks[2:]), "breakdownHistory"),
        (a_plan(*GOOD.tasks[:2], a_task("check", red="something else"), GOOD.tasks[3]), "described as 'the original'"),
    ],
)
def test_a_new_plan_replaces_the_failed_task_and_nothing_else(new: ActivePr, fault: str | None) -> None:
    said = replan_fault(OLD, new, "big", "the original")
    assert said is None if fault is None else said is not None and fault in said


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("# Plan\n## feat: one\n- a detail\n", ("feat: one",)),
        ("# Plan\n## feat: one [DONE] abcdef1\n- a detail\n", ()),
        ("# Plan\n- feat: one [DONE] abcdef1\n- feat: two\n", ("feat: two",)),
        ("- [ ] feat: one\n1. feat: two [DONE] 1234567\n", ("feat: one",)),
        ("- feat: one [DONE]\n", ("feat: one [DONE]",)),
        ("- feat: one [DONE] 12345\n", ("feat: one [DONE] 12345",)),
        ("text\n```\n- in code\n```\n", ()),
        ("", ()),
    ],
)
def test_an_entry_is_open_until_its_line_or_what_is_below_it_is_done(text: str, left: tuple[str, ...]) -> None:
    assert tuple(e.text for e in open_entries(text)) == left


@pytest.mark.timeout(20)
def test_a_plan_of_any_size_or_depth_is_read_in_time() -> None:
    deep = "\n".join(f"{' ' * 4 * n}- entry {n}" for n in range(1200))
    assert len(open_entries(deep)) == 1200
    assert open_entries(f"{deep} [DONE] abcdef1") == ()
    _, faults = read_plan("{" + ", ".join(f'"key {n}": 0' for n in range(100_000)) + ', "key 7": 0}')
    assert "key 7: appears twice" in faults


def test_a_title_must_match_exactly_one_open_entry() -> None:
    assert title_fits("feat: one", "- feat: one\n- feat: one and more\n") is None
    assert "matches 2" in str(title_fits("feat", "- feat: one\n- feat: two\n"))
    assert "matches 0" in str(title_fits("feat: gone", "- feat: one\n"))


def findings(*severities: str, category: str = "style") -> str:
    return json.dumps(
        [{"file_path": "a.py", "line_number": 1, "category": category, "severity": s, "description": f"{s} thing"} for s in severities]
    )


def test_findings_that_block_become_tasks_and_lower_ones_are_recorded() -> None:
    after = keep_findings(a_run("CODE_REVIEW"), Sent("submit", findings=findings("MAJOR", "INFO")), Found())
    assert after.data.plan is not None
    assert [t.taskName for t in after.data.plan.tasks] == ["one", "Address code review feedback: MAJOR thing"]
    assert after.data.notes == ("INFO a.py: INFO thing",)


@pytest.mark.parametrize(("category", "steps"), [("bug", ["RED", "GREEN"]), ("testing", ["RED", "GREEN"]), ("style", ["REFACTOR"])])
def test_a_finding_about_behaviour_gets_a_test_first(category: str, steps: list[str]) -> None:
    after = keep_findings(a_run("CODE_REVIEW"), Sent("submit", findings=findings("MINOR", category=category)), Found())
    assert after.data.plan is not None
    assert [s.type for s in after.data.plan.tasks[-1].tdd_steps] == steps


def test_a_finding_seen_before_is_the_same_finding() -> None:
    first = Finding("a.py", 1, "bug", "MAJOR", "Off by  one")
    moved = Finding("a.py", 99, "Bug", "MINOR", "off by one")
    assert first.id == moved.id
    run = a_run("CODE_REVIEW")
    once = keep_findings(run, Sent("submit", findings=findings("MAJOR")), Found())
    assert keep_findings(once, Sent("submit", findings=findings("MAJOR")), Found()).data.plan == once.data.plan


def test_a_review_by_the_agent_itself_is_recorded_as_self_reported() -> None:
    run = a_run("CODE_REVIEW", good_tree="t")
    assert keep_review(run, Sent("submit", by="agent", findings="[]"), Found(tree="t")).data.self_reported
    assert not keep_review(run, Sent("outcome", by="system", findings="[]", facts={"by": "command:x"}), Found(tree="t")).data.self_reported


def test_resume_after_review_rounds_goes_back_to_the_review() -> None:
    run = Run("r", "pr", "HALTED", 5, PrData(), limits=dict(PR.limits), back="CODE_REVIEW", cause="review rounds")
    decision = decide(PR, run, Sent("resume", by="human"), PR.row("HALTED", PR.kind(run, Sent("resume", by="human"))), Found())
    assert decision.run.state == "CODE_REVIEW"


def test_a_passed_step_clears_error_counter_and_guidance() -> None:
    run = Run("r", "pr", "DEBUGGING", 5, a_run("x").data, {"debug": 3}, dict(PR.limits), last_error="e", last_reason="r", guidance="g")
    after = decide(PR, run, Sent("submit"), PR.row("DEBUGGING", "green"), Found(tree="t")).run
    assert (after.state, after.last_error, after.last_reason, after.guidance, after.counts) == ("EXECUTING_TDD", "", "", "", {})


def test_the_default_preflight_is_lint_and_types_where_the_project_configures_them(tmp_path: Path) -> None:
    for name in ("ruff", "mypy"):
        (tmp_path / ".venv/bin").mkdir(parents=True, exist_ok=True)
        (tmp_path / ".venv/bin" / name).touch(0o755)
    configured = {"pyproject.toml": "[tool.ruff]\n[tool.mypy]\n"}
    assert default_preflight(configured.get, tmp_path, "") == (
        ".venv/bin/ruff check --no-cache .",
        ".venv/bin/mypy --cache-dir=/dev/null .",
    )
    assert default_preflight({"pyproject.toml": "[tool.black]\n"}.get, tmp_path, "") == ()
    assert default_preflight(configured.get, tmp_path / "without", "") == ()
    assert missing_preflight(configured.get, tmp_path / "without", "") == ("ruff", "mypy")


LINTS: dict[str, tuple[dict[str, str], tuple[str, ...]]] = {
    "ruff.toml": ({"ruff.toml": ""}, ("ruff check --no-cache .",)),
    ".ruff.toml": ({".ruff.toml": ""}, ("ruff check --no-cache .",)),
    "mypy.ini": ({"mypy.ini": "[mypy]\nstrict = true\n"}, ("mypy --cache-dir=/dev/null .",)),
    "setup.cfg": ({"setup.cfg": "[metadata]\nname = x\n[mypy]\nfiles = src\n"}, ("mypy --cache-dir=/dev/null",)),
    "setup.cfg of others": ({"setup.cfg": "[metadata]\nname = x\n"}, ()),
    "no ini": ({"mypy.ini": "strict"}, ()),
    "scripts": ({"package.json": '{"scripts": {"lint": "eslint .", "type-check": "tsc"}}'}, ("npm run --silent lint", "npm run --silent type-check")),
    "a script that mends": ({"package.json": '{"scripts": {"lint": "eslint --fix ."}}', "eslint.config.js": ""}, ("eslint .",)),
    "files": ({"package.json": "{}", ".eslintrc.json": "{}", "tsconfig.json": "{}"}, ("eslint .", "tsc --noEmit")),
    "no package": ({"package.json": "[", "tsconfig.json": "{}"}, ()),
}  # fmt: skip


@pytest.mark.parametrize("name", LINTS)
def test_the_default_preflight_knows_the_other_places_where_tools_are_configured(tmp_path: Path, name: str) -> None:
    files, commands = LINTS[name]
    (tmp_path / "bin").mkdir()
    for program in ("ruff", "mypy", "npm", "eslint", "tsc"):
        (tmp_path / "bin" / program).touch(0o755)
    assert default_preflight(files.get, tmp_path, str(tmp_path / "bin")) == commands
    assert len(missing_preflight(files.get, tmp_path, "/nowhere")) == len(commands)


def test_where_decisions_need_a_terminal_nothing_else_will_do(tmp_path: Path) -> None:
    project = Project(tmp_path / "p")
    project.write({"detent.toml": "[decisions]\nrequire = 'terminal'\n"})
    project.git("add", "-A")
    project.git("commit", "-qm", "configured")
    project.task()
    refused = project.run("abort")
    back = project.run("rollback", "1")
    assert all(told.code == 2 and "decisions.require" in told.err for told in (refused, back)), back
    assert project.in_person("abort", "--reason", "enough").code == 0
    last = project.run("history", "--json").json["events"][-1]
    assert (last["on"], last["by"], last["channel"], last["state"]) == ("abort", "human", "terminal", "ABORTED")


def test_the_channel_a_person_spoke_through_is_recorded(tmp_path: Path) -> None:
    project = Project(tmp_path / "p")
    project.task()
    assert project.alone("steer", "mind the gap").returncode == 2, "an agent is at work, and nobody sits at a terminal"
    assert project.run("steer", "mind the gap").code == 0
    last = project.run("history", "--json").json["events"][-1]
    assert (last["on"], last["channel"]) == ("steer", "terminal")
    assert "mind the gap" in project.task()["briefing"]


def test_every_verdict_carries_its_fields(tmp_path: Path) -> None:
    verdict = Project(tmp_path / "p").planned().submit(test_command="true", expectation="FAIL")
    assert {"status", "state", "output", "instruction", "allowed_actions", "reasons", "evidence"} <= set(verdict)
    assert verdict["instruction"] and verdict["allowed_actions"]


def test_where_the_review_is_not_the_agents_the_briefing_does_not_ask_for_it() -> None:
    mine, not_mine = a_run("CODE_REVIEW"), a_run("CODE_REVIEW", setup=PrSetup(independent=True))
    assert "FINDINGS.json" in brief(PR, mine).briefing and "findings" in PR.instruction(mine)
    assert "FINDINGS.json" not in brief(PR, not_mine).briefing and "call get_task again" in PR.instruction(not_mine)
    on = PR.kind(not_mine, Sent("submit", summary="s"))
    assert decide(PR, not_mine, Sent("submit"), PR.row("CODE_REVIEW", on), Found()).run.state == "CODE_REVIEW"
    assert PR.kind(not_mine, Sent("submit", findings="[]")) == "approved", "which the gate then refuses"


def test_a_sound_new_plan_clears_the_error_and_goes_on() -> None:
    steps = [{"type": t, "description": t, "status": "TODO"} for t in ("RED", "GREEN")]
    head = {"masterPlanPath": "p", "prTitle": "feat: x", "summary": "s", "verificationPlan": "v"}
    text = json.dumps({**head, "tasks": [{"taskName": "smaller", "status": "TODO", "tdd_steps": steps}]})
    run = Run("r", "pr", "REPLANNING", 5, a_run("x").data, limits=dict(PR.limits), last_error="e", last_reason="r")
    after = decide(PR, run, Sent("submit"), PR.row("REPLANNING", "replan"), Found(documents={"ACTIVE_PR.json": text})).run
    assert (after.state, after.last_error, after.last_reason) == ("EXECUTING_TDD", "", "")
    assert isinstance(after.data, PrData) and after.data.plan is not None
    assert after.data.plan.tasks[0].taskName == "smaller"


def test_after_the_review_rounds_a_person_can_also_end_the_run_and_only_then_by_an_answer() -> None:
    run = Run("r", "pr", "HALTED", 5, PrData(), limits=dict(PR.limits), back="CODE_REVIEW", cause="review rounds")
    said = Sent("answer", by="human", decision="review", value="abort")
    assert PR.kind(run, said) == "abort" and PR.row("HALTED", "abort") is not None
    assert PR.kind(msgspec.structs.replace(run, cause="conflict"), said) == "answer"


def test_what_the_machine_does_by_itself_is_no_call_that_is_offered() -> None:
    for state in PR.states:
        run = Run("r", "pr", state, 5, PrData(), limits=dict(PR.limits), cause="conflict")
        assert all(PR.allowed(run)) and (PR.states[state].actor != "system" or PR.allowed(run) == ()), state
