"""Every briefing of `pr`, `tdd` and `execute` renders for a run of its state, and an agent that sees nothing else can act on it."""

import re
from string import Template
from typing import Any

import pytest

from detent.app.registry import brief_of as brief
from detent.app.registry import workflow_of
from detent.gates.item import BranchReview, FoundIssue, WorkItem
from detent.gates.plan import ActivePr, PlannedStep, PlanTask
from detent.gates.testlist import CurrentTest, ListedTest
from detent.kernel.model import Briefing, Data, Found, Run, Sent
from detent.kernel.table import Table
from detent.workflows.execute.execute_data import ExecuteData, ProjectFacts
from detent.workflows.execute.execute_table import EXECUTE
from detent.workflows.pr.pr_data import PrData, PrSetup, next_pr
from detent.workflows.pr.pr_facts import WAYS_OUT
from detent.workflows.pr.pr_table import PR
from detent.workflows.tdd.tdd_data import TddData
from detent.workflows.tdd.tdd_table import TDD

TABLES: dict[str, Table[Any]] = {t.name: t for t in (PR, TDD, EXECUTE)}

STEPS = (PlannedStep("RED", "show that $5 + $5 is 10"), PlannedStep("GREEN", "add money"), PlannedStep("REFACTOR", "name things"))
PLAN = ActivePr("docs/plan.md", "feat: it's money", "money can be added", "run it", (PlanTask("add money", STEPS),))
PR_DATA = PrData(
    plan=PLAN, replacing="add money", replacing_red="show that $5 + $5 is 10", last_commit_hash="abc1234def", setup=PrSetup(plan="docs/plan.md"),
    branch="feat/money", base="0123456789", good_tree="t0",
)  # fmt: skip
TDD_DATA = TddData(
    entries=(ListedTest("adds nothing", done=True, proof=3), ListedTest("adds $two numbers")), current=CurrentTest("adds $two numbers", "tests/test_sum.py", "src/sum.py"),
    feature_request="sums of money", cycle=2, phase="PLAN", subject="plan: adds $two numbers",
)  # fmt: skip
REVIEW = BranchReview((FoundIssue("No error handling", "fetch fails", 1, "bug", "high"),), "one issue", False)
EXECUTE_DATA = ExecuteData(
    item=WorkItem("bd-7", "Add sums", "Sums of $ are missing."), project=ProjectFacts("till", ("python", "sqlite"), "pytest -q"), context="mind the cents",
    branch="beads-bd-7-add-sums", pushed="c9", reason="no key", review=REVIEW,
)  # fmt: skip
DATA: dict[str, Data] = {"pr": PR_DATA, "tdd": TDD_DATA, "execute": EXECUTE_DATA}
CAUSES = {"pr": tuple(WAYS_OUT), "tdd": ("retries", "errors", "model", "agent"), "execute": ("errors", "model")}
HALTED_IN = {"pr": "DEBUGGING", "tdd": "GREEN", "execute": "PUSHING"}
ENDED_FOR = {"FAILED": "tests", "BLOCKED": "blocked", "TIMEOUT": "time", "CANCELLED": "cancelled"}

WRITTEN = [(t.name, s) for t in TABLES.values() for s, state in t.states.items() if state.actor != "system"]
AGENTS = [(t, s) for t, s in WRITTEN if TABLES[t].states[s].actor == "agent"]
ACTING = [(t, s) for t, s in WRITTEN if not TABLES[t].states[s].end]


def a_run(table: str, state: str, **fields: Any) -> Run[Any]:
    cause = CAUSES[table][0] if state == "HALTED" else ENDED_FOR.get(state, "")
    given: dict[str, Any] = {"data": DATA[table], "cause": cause, "back": HALTED_IN[table], "last_error": "E   assert 1 == 2", **fields}
    return Run("r1", table, state, 9, limits=dict(TABLES[table].limits), **given)


def shown(table: str, state: str, **fields: Any) -> Briefing:
    return brief(TABLES[table], a_run(table, state, **fields))


# -- all of them -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("table", TABLES)
def test_there_is_a_file_for_every_state_that_someone_reads_and_no_other(table: str) -> None:
    assert {p.stem for p in (workflow_of(table).folder / "briefings").iterdir()} == {s for t, s in WRITTEN if t == table}


@pytest.mark.parametrize("table", TABLES)
def test_every_name_that_the_facts_offer_is_used_by_a_briefing(table: str) -> None:
    texts = [p.read_text("utf-8") for p in (workflow_of(table).folder / "briefings").iterdir()]
    used = {n for text in (*texts, *(w for s in TABLES[table].states.values() for w in s.writes)) for n in Template(text).get_identifiers()}
    assert set(TABLES[table].facts(a_run(table, "HALTED"))) - used == set()


@pytest.mark.parametrize(("table", "state"), WRITTEN)
def test_it_renders_with_a_goal_on_its_first_line(table: str, state: str) -> None:
    done = shown(table, state)
    assert len(done.goal) > 10
    assert done.briefing.startswith(f"# {done.goal}\n")
    assert len(done.briefing.splitlines()) > 3


@pytest.mark.parametrize(("table", "state"), ACTING)
def test_it_says_the_one_next_call_and_that_call_is_open(table: str, state: str) -> None:
    done, on = shown(table, state), TABLES[table].expects(a_run(table, state))
    assert done.instruction
    assert f"## Next\n\n{done.instruction}\n" in done.briefing
    assert (TABLES[table].moves[on].call in done.allowed_actions) == (TABLES[table].states[state].actor == "agent")


@pytest.mark.parametrize(("table", "state"), AGENTS)
def test_an_agent_is_told_who_it_is_one_attempt_and_no_tests_through_the_shell(table: str, state: str) -> None:
    rules = shown(table, state).briefing.partition("## Rules\n")[2]
    assert "Do not run tests through the shell" in rules
    assert "Make one attempt, then report" in rules
    assert "You may write" in rules or "Write nothing" in rules
    assert re.search(r"You are the|Every step of the pull request is done", shown(table, state).briefing)


@pytest.mark.parametrize(("table", "state"), [(t, s) for t, s in WRITTEN if TABLES[t].states[s].end])
def test_an_end_asks_for_nothing(table: str, state: str) -> None:
    done = shown(table, state)
    assert (done.instruction, done.allowed_actions) == ("", ())
    assert "Nothing is left to do" in done.briefing


@pytest.mark.parametrize(("table", "cause"), [(t, c) for t in CAUSES for c in CAUSES[t]])
def test_a_halted_run_names_its_cause_and_the_way_out(table: str, cause: str) -> None:
    done = shown(table, "HALTED", cause=cause)
    assert cause in done.goal
    assert f"stopped in {HALTED_IN[table]}" in done.briefing
    assert ("detent answer FLAGS accept" if cause == "flags" else "detent resume") in done.briefing
    assert "E   assert 1 == 2" in done.briefing
    assert re.search(r"detent (abort|queue cancel)", done.briefing)


def test_what_people_said_is_added() -> None:
    done = shown("tdd", "RED", guidance="mind the sign", steers=("use cents",))
    assert "## Guidance from a person\n\nmind the sign" in done.briefing
    assert "- use cents" in done.briefing


def test_the_same_run_gives_the_same_text() -> None:
    assert shown("pr", "DEBUGGING", counts={"debug": 4}) == shown("pr", "DEBUGGING", counts={"debug": 4})


# -- pr ----------------------------------------------------------------------------------------------------------------------


def test_initializing_shows_the_plan_and_the_full_schema() -> None:
    text = shown("pr", "INITIALIZING", data=PrData(setup=PrSetup(plan="docs/plan.md"))).briefing
    assert "`docs/plan.md`" in text
    for name in (
        "masterPlanPath",
        "prTitle",
        "summary",
        "verificationPlan",
        "tasks",
        "taskName",
        "status",
        "tdd_steps",
        "type",
        "description",
    ):
        assert f'"{name}":' in text
    assert '"RED | GREEN | REFACTOR"' in text
    assert "no_pr_left" in text


@pytest.mark.parametrize(
    ("done", "kind", "rule", "expectation"),
    [
        (0, "RED", "in test files only", "FAIL"),
        (1, "GREEN", "the minimal code", "PASS"),
        (2, "REFACTOR", "without changing what it does", "PASS"),
    ],
)
def test_executing_tdd_serves_one_step_with_what_it_may_write(done: int, kind: str, rule: str, expectation: str) -> None:
    steps = tuple(PlannedStep(s.type, s.description, "DONE" if i < done else "TODO", proof=1) for i, s in enumerate(STEPS))
    plan = ActivePr(PLAN.masterPlanPath, PLAN.prTitle, PLAN.summary, PLAN.verificationPlan, (PlanTask("add money", steps),))
    shows = shown("pr", "EXECUTING_TDD", data=PrData(plan=plan))
    assert shows.goal == f"Complete the next TDD step, {kind}: {STEPS[done].description}"
    assert f"- Task: add money\n- Step: {kind}\n- What it asks for: {STEPS[done].description}" in shows.briefing
    assert rule in shows.briefing
    assert f'expectation "{expectation}"' in shows.instruction


def test_executing_tdd_asks_for_the_checkpoint_commit_where_the_agent_makes_it() -> None:
    shows = shown("pr", "EXECUTING_TDD", data=PrData(plan=PLAN, checkpoint_due=True))
    assert shows.goal == "Make the safety checkpoint commit"
    assert "commit everything" in shows.instruction
    assert "Commit everything that belongs to it" in shows.briefing


def test_needs_analysis_shows_the_failure_and_asks_for_a_decision() -> None:
    shows = shown("pr", "NEEDS_ANALYSIS")
    assert "E   assert 1 == 2" in shows.briefing
    assert "analysis_decision" in shows.instruction


@pytest.mark.parametrize(
    ("attempts", "nudge"),
    [
        (1, "Hypothesize & Fix"), (2, "Hypothesize & Fix"), (3, "Use Instrumentation"), (5, "Use Instrumentation"),
        (6, "Request Scope Reduction"), (9, "Request Scope Reduction"), (10, "Escalate for External Help"), (19, "Escalate for External Help"),
    ],
)  # fmt: skip
def test_the_nudge_of_debugging_follows_the_counter(attempts: int, nudge: str) -> None:
    shows = shown("pr", "DEBUGGING", counts={"debug": attempts})
    assert shows.goal.startswith(nudge)
    assert "E   assert 1 == 2" in shows.briefing


def test_an_escalation_asks_for_a_report_with_all_its_parts() -> None:
    text = shown("pr", "DEBUGGING", counts={"debug": 10}).briefing
    assert "escalate_for_external_help" in text
    for part in ("markdown report", "goal", "what you tried", "the last error", "your analysis"):
        assert part in text, part


@pytest.mark.parametrize("counts", [{"debug": 1}, {"debug": 5}, {"debug": 6}, {"debug": 10}, {"debug": 1, "replans": 1}])
def test_debugging_says_which_ways_out_are_open_exactly_as_the_locks_do(counts: dict[str, int]) -> None:
    shows = shown("pr", "DEBUGGING", counts=counts)
    for call in ("request_scope_reduction", "escalate_for_external_help"):
        assert (f"- {call}: open" in shows.briefing) == (call in shows.allowed_actions)


@pytest.mark.parametrize("replaces", ["", "add money"])
@pytest.mark.parametrize(("attempts", "nudge"), [(1, "Hypothesize & Fix"), (6, "Escalate for External Help")])
def test_a_re_planned_task_that_fails_may_escalate_at_once_and_is_asked_to_where_others_are_made_smaller(
    replaces: str, attempts: int, nudge: str
) -> None:
    plan = ActivePr(
        "docs/plan.md", "t", "s", "v", (PlanTask("x", (PlannedStep("RED", "a"), PlannedStep("GREEN", "b")), replaces=replaces),)
    )
    shows = shown("pr", "DEBUGGING", data=PrData(plan=plan), counts={"debug": attempts, "replans": 1})
    assert shows.goal.startswith(nudge if replaces or attempts == 1 else "Request Scope Reduction")
    assert ("escalate_for_external_help" in shows.allowed_actions) == bool(replaces)
    assert ("- escalate_for_external_help: open" in shows.briefing) == bool(replaces)


def test_a_step_names_the_test_command_of_the_project() -> None:
    known = PrData(
        plan=ActivePr("p", "t", "s", "v", (PlanTask("x", (PlannedStep("RED", "a"),)),)),
        setup=PrSetup(command='{"argv": ["uv", "run", "pytest"], "runner": "pytest"}'),
    )
    for state in ("EXECUTING_TDD", "DEBUGGING"):
        assert "The project's test command: `uv run pytest`." in shown("pr", state, data=known, counts={"debug": 1}).briefing
    assert "none was configured or recognised" in shown("pr", "EXECUTING_TDD").briefing


@pytest.mark.parametrize(
    ("table", "state", "counts", "open_now"),
    [
        ("tdd", "RED", {}, False), ("tdd", "RED", {"retries": 1}, True), ("tdd", "GREEN", {"retries": 1}, False),
        ("pr", "DEBUGGING", {}, False), ("pr", "DEBUGGING", {"debug": 1}, True), ("pr", "EXECUTING_TDD", {}, False),
    ],
)  # fmt: skip
def test_already_satisfied_is_offered_exactly_where_it_is_accepted(table: str, state: str, counts: dict[str, int], open_now: bool) -> None:
    row = TABLES[table].row(state, "already")
    accepted = row is not None and not any(lock.shut(a_run(table, state, counts=counts)) for lock in row.locks)
    assert accepted == open_now
    assert ("ALREADY_SATISFIED" in shown(table, state, counts=counts).briefing) == open_now


def test_replanning_names_the_goal_the_error_and_the_rules() -> None:
    text = shown("pr", "REPLANNING").briefing
    assert "Original task: add money" in text
    assert "your changes were reverted to the last good commit" in text
    assert "The very last new task is a verification task" in text and '"breakdownHistory"' in text
    assert "E   assert 1 == 2" in text
    assert '"originalTaskName": "add money"' in text
    assert "its `description` is exactly: show that $5 + $5 is 10" in text
    assert "Every other task stays exactly as it is" in text


def test_the_review_by_hand_starts_with_its_literal_and_packages_the_context() -> None:
    shows = shown("pr", "CODE_REVIEW")
    assert shows.goal.startswith("REQUEST_REVIEW")
    for part in ("feat: it's money", "money can be added", "`git diff 0123456789 HEAD`", "add money", '"severity"', "temporary logs"):
        assert part in shows.briefing


def test_finalization_gives_the_exact_git_commands_safe_for_the_shell() -> None:
    text = shown("pr", "AWAITING_FINALIZATION").briefing
    assert "\ngit reset --soft 0123456789\n" in text
    assert "\ngit commit -m 'feat: it'\"'\"'s money'\n" in text


def test_the_plan_update_names_path_and_hash() -> None:
    shows = shown("pr", "FINALIZE_COMPLETE")
    assert shows.goal == "Mark the pull request as [DONE] in docs/plan.md, with the commit hash abc1234def"
    assert shows.writes == ("docs/plan.md",)


def test_the_end_of_pr_lists_what_was_merged_and_what_did_not_block() -> None:
    plan = ActivePr("docs/plan.md", "feat: one", "s", "v", ())
    merged = next_pr(a_run("pr", "MERGING_BRANCH", data=PrData(plan=plan, notes=("INFO src/a.py: a typo",))), Sent("outcome"), Found())
    text = shown("pr", "DONE", data=merged.data).briefing
    assert "- feat: one\n" in text
    assert "- INFO src/a.py: a typo\n" in text
    assert "(none)" not in text


def test_a_green_step_in_debugging_is_not_offered_already_satisfied() -> None:
    steps = (PlannedStep("RED", "a", "DONE", proof=1), PlannedStep("GREEN", "b"))
    plan = ActivePr("docs/plan.md", "t", "s", "v", (PlanTask("x", steps),))
    text = shown("pr", "DEBUGGING", data=PrData(plan=plan), counts={"debug": 1}).briefing
    assert "ALREADY_SATISFIED" not in text
    assert "This step expects PASS." in text


def test_a_conflict_tells_what_to_do_with_which_branch() -> None:
    text = shown("pr", "HALTED", cause="conflict", back="MERGING_BRANCH").briefing
    assert "main and 'feat/money'" in text and "names both sides and the commands to type" in text


# -- tdd and execute ---------------------------------------------------------------------------------------------------------


def test_plan_shows_request_list_and_the_form_of_the_reply() -> None:
    text = shown("tdd", "PLAN", last_error="").briefing
    assert "sums of money" in text
    assert "- [x] adds nothing\n- [ ] adds $two numbers" in text
    assert '{"currentTest": {"description":' in text
    assert "The last attempt failed" not in text


@pytest.mark.parametrize("state", ["RED", "GREEN", "REFACTOR"])
def test_a_phase_shows_its_test_its_files_the_phase_before_and_the_last_error(state: str) -> None:
    shows = shown("tdd", state, counts={"retries": 1})
    for part in (
        "adds $two numbers",
        "`tests/test_sum.py`",
        "`src/sum.py`",
        "committed as `plan: adds $two numbers`",
        "E   assert 1 == 2",
        "left: 2",
    ):
        assert part in shows.briefing
    assert shows.goal.startswith(state)
    assert shows.step is not None
    assert shows.step.description == "adds $two numbers"


def test_red_may_write_tests_and_the_list() -> None:
    assert shown("tdd", "RED").writes == ("tests/test_sum.py", "tests/**", "test-list.md")


def test_only_a_retry_of_red_speaks_of_an_earlier_test() -> None:
    assert "your last test" not in shown("tdd", "RED", last_error="").briefing
    assert "your last test passed at once" in shown("tdd", "RED", counts={"retries": 1}).briefing


def test_a_retry_of_green_asks_for_another_approach_than_those_that_failed() -> None:
    data = TddData(entries=TDD_DATA.entries, current=TDD_DATA.current, cycle=1, tried=("a lookup table",), taken_back="abcdef0123")
    text = shown("tdd", "GREEN", data=data).briefing
    assert "Tried so far, without success:\n\n- a lookup table\n" in text
    assert "a different approach" in text


def test_the_work_prompt_holds_item_project_context_limits_and_the_way_to_say_blocked() -> None:
    text = shown("execute", "RUNNING", last_error="").briefing
    for part in (
        "Item bd-7: Add sums", "Sums of $ are missing.", "isolated workspace", "- Name: till", "python, sqlite", "`pytest -q`", "mind the cents",
        "ALWAYS create a test suite if there is none", "ONE retry", "one rebase", "6 hours in all", "`BLOCKED: reason`", "Do not commit and do not push",
    ):  # fmt: skip
        assert part in text
    assert "The last attempt failed" not in text


def test_the_retry_of_a_work_agent_is_told_as_its_one_retry_and_a_crash_is_not() -> None:
    text = shown("execute", "RUNNING", counts={"tries": 1}).briefing
    assert "This is your one retry. What the previous attempt wrote is still there. What the machine saw:" in text
    assert "ONE retry" not in text and "If they fail again, the execution ends" in text
    crashed = shown("execute", "RUNNING", counts={"agent": 1}).briefing
    assert "## The last attempt failed\n\nWhat the machine saw:" in crashed


def test_a_branch_that_is_not_ready_shows_the_issues_and_what_a_person_can_do() -> None:
    text = shown("execute", "NOT_READY", cause="review").briefing
    assert "- high bug: No error handling" in text
    assert "detent answer REVIEW override" in text


@pytest.mark.parametrize(
    ("state", "item"),
    [("COMPLETED", "closed"), ("FAILED", "in_progress"), ("BLOCKED", "blocked"), ("TIMEOUT", "open"), ("CANCELLED", "open")],
)
def test_an_end_of_an_execution_names_its_status_and_what_became_of_the_item(state: str, item: str) -> None:
    shows = shown("execute", state)
    assert shows.goal == f"{state}: work item bd-7, Add sums"
    assert f"The item is {item}" in shows.briefing
    assert "ranch beads-bd-7-add-sums" in shows.briefing or "ranch: beads-bd-7-add-sums" in shows.briefing
    assert ("commit c9" if state == "COMPLETED" else "no key") in shows.briefing
