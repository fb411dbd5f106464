"""The `execute` table: every rule of the workflow by literal values, the gates over a small world in memory. No git, no tracker, no processes."""

import json
from dataclasses import dataclass, field
from typing import Any, cast

import msgspec
import pytest

from detent.blocks.common import alive
from detent.errors import CannotTell
from detent.evidence.report import Outcome, TestReport
from detent.evidence.source.diff import Changed
from detent.gates.item import BranchReview, FoundIssue, WorkItem, blocked_reason, final_report, read_review
from detent.gates.judge import judge
from detent.kernel.decide import Decision, decide, refusal
from detent.kernel.model import Found, Run, Sent
from detent.kernel.walk import problems
from detent.workflows.execute.execute_data import (
    TITLES,
    ExecuteData,
    ExecuteSetup,
    ItemChange,
    children,
    follow_up_of,
    item_after,
    public_status,
)
from detent.workflows.execute.execute_table import EXECUTE
from detent.workflows.pr.pr_data import PrData
from detent.workflows.tdd.tdd_data import TddData
from tests.looks import LiteralLook

ITEM = WorkItem("bd-7", "Add sums", "Sums are missing.")
DATA = ExecuteData(item=ITEM, branch="beads-bd-7-add-sums", base="c0", good_tree="t0")
FREE = {"open_dependencies": "", "failures": "0", "branch": "beads-bd-7-add-sums", "base": "c0", "tree": "t0", "workspace": "/w/7"}
ENDS = ("COMPLETED", "FAILED", "BLOCKED", "TIMEOUT", "CANCELLED")
FAILURES = ("FAILED", "BLOCKED", "TIMEOUT")
SUBMIT = Sent("submit", summary="done")
CODE = (Changed("src/sum.py", "added", "production"),)


def a_run(state: str, data: ExecuteData = DATA, **more: Any) -> Run[ExecuteData]:
    return Run("e1", "execute", state, 4, data, limits=dict(EXECUTE.limits), **more)


def with_setup(**fields: Any) -> ExecuteData:
    return msgspec.structs.replace(DATA, setup=ExecuteSetup(**fields))


def report(**outcomes: Outcome) -> TestReport:
    return TestReport({f"tests/test_sum.py::{name}": outcome for name, outcome in outcomes.items()}, output="the output")


@dataclass
class World(LiteralLook):
    """Everything a gate may look at, as literal values."""

    sent: Sent = SUBMIT
    now: TestReport = field(default_factory=lambda: report(old="passed", new="passed"))
    before: TestReport = field(default_factory=lambda: report(old="passed"))
    changes: tuple[Changed, ...] = CODE


def judged(world: World) -> Decision:
    """What is decided on a call when the real gates look at a world."""
    on = EXECUTE.kind(world.run, world.sent)
    row, no = EXECUTE.row(world.run.state, on), refusal(EXECUTE, world.run, world.sent, on)
    if no or row is None:
        return decide(EXECUTE, world.run, world.sent, None, no or Found())
    looks = bool(row.gates or row.prove)  # as the door does it: where nothing is asked, nothing is looked at
    return decide(EXECUTE, world.run, world.sent, row, judge(row, world) if looks else Found(output=world.sent.output))


def outcome(state: str, name: str, data: ExecuteData = DATA, counts: dict[str, int] | None = None, **fields: Any) -> Decision:
    """What is decided when a job of a state ends in a way."""
    return judged(World(a_run(state, data, counts=counts or {}), Sent("outcome", by="system", outcome=name, **fields)))


def run_of(decision: Decision) -> Run[ExecuteData]:
    assert isinstance(decision.run.data, ExecuteData)
    return cast(Run[ExecuteData], decision.run)


# -- the form ----------------------------------------------------------------------------------------------------------------


def test_the_walk_over_the_table_finds_no_problem() -> None:
    assert problems(EXECUTE, {"errors": 2, "agent": 1}) == ()


def test_every_end_owes_the_items_status_the_sync_and_the_clean_up() -> None:
    ways = [(r.at, r.on, way) for r in EXECUTE.rows for way in r.ways if way.to in ENDS]
    assert {way.to for _, _, way in ways} == set(ENDS)
    for at, on, way in ways:
        owed = [e.name for e in way.owes]
        assert {"snapshot", "update_item", "sync_tracker", "clean_up"} <= set(owed), (at, on)
        assert owed.index("snapshot") < owed.index("clean_up"), (at, on)
        assert owed.index("update_item") < owed.index("sync_tracker"), (at, on)


def test_every_failure_and_nothing_else_owes_a_follow_up_item() -> None:
    for row in EXECUTE.rows:
        for way in row.ways:
            assert ("file_follow_up" in [e.name for e in way.owes]) == (way.to in FAILURES), (row.at, row.on)


def test_a_retry_is_a_new_execution_so_ends_stay_ends() -> None:
    assert {name for name, s in EXECUTE.states.items() if s.end} == set(ENDS)
    assert [s for s in EXECUTE.states if EXECUTE.states[s].end == "proved"] == ["COMPLETED"]
    for end in ENDS:
        assert judged(World(a_run(end), Sent("retry", by="human"))).status == "REFUSED"


def test_finer_states_are_running_to_the_outside() -> None:
    assert {s: public_status(s) for s in EXECUTE.states} == {
        **dict.fromkeys(
            ("RUNNING", "RUNNING_CHILD", "PUSHING", "REBASING", "REVIEWING", "NOT_READY", "JOINING", "OPENING", "HALTED"), "RUNNING"
        ),
        **{s: s for s in ("QUEUED", *ENDS)},
    }
    assert EXECUTE.facts(a_run("PUSHING"))["status"] == "RUNNING"


# -- before ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("strategy", "state"), [("plain", "RUNNING"), ("tdd", "RUNNING_CHILD"), ("pr", "RUNNING_CHILD")])
def test_the_strategy_decides_who_works(strategy: str, state: str) -> None:
    decision = outcome("QUEUED", "started", with_setup(strategy=strategy), facts=FREE)
    assert decision.run.state == state
    assert (decision.run.worktree, run_of(decision).data.branch, run_of(decision).data.good_tree) == ("/w/7", "beads-bd-7-add-sums", "t0")


@pytest.mark.parametrize(
    ("facts", "said_so"),
    [({"open_dependencies": "bd-3 bd-4"}, "bd-3 is not closed"), ({"failures": "2"}, "the item failed 2 times; it is skipped")],
)
def test_an_item_that_is_not_runnable_is_skipped_and_left_as_it_is(facts: dict[str, str], said_so: str) -> None:
    decision = outcome("QUEUED", "started", facts={**FREE, **facts})
    assert (decision.status, decision.run.state, decision.run.cause) == ("FAILURE", "CANCELLED", "skipped")
    assert said_so in decision.reasons[0]
    assert item_after(run_of(decision)) == ItemChange()


def test_an_item_that_failed_once_may_run_again() -> None:
    assert outcome("QUEUED", "started", facts={**FREE, "failures": "1"}).run.state == "RUNNING"


def test_the_job_itself_can_say_that_the_item_may_not_run() -> None:
    decision = outcome("QUEUED", "not-runnable", output="bd-7 is closed")
    assert (decision.run.state, decision.run.last_error) == ("CANCELLED", "bd-7 is closed")


@pytest.mark.parametrize("facts", [{}, {"open_dependencies": ""}, {**FREE, "failures": "many"}])
def test_a_tracker_that_does_not_say_is_an_error_and_starts_nothing(facts: dict[str, str]) -> None:
    decision = outcome("QUEUED", "started", facts=facts)
    assert (decision.status, decision.run.state) == ("ERROR", "QUEUED")


# -- the work ----------------------------------------------------------------------------------------------------------------


def test_work_whose_tests_pass_is_committed_under_the_items_name_and_pushed() -> None:
    decision = judged(World(a_run("RUNNING", counts={"tries": 1}, last_error="before")))
    assert (decision.status, decision.run.state, decision.owes) == ("SUCCESS", "PUSHING", ("commit_judged_tree", "publish_claims"))
    assert (decision.run.counts, decision.run.last_error) == ({}, "")
    assert (run_of(decision).data.subject, run_of(decision).data.proved_tree) == ("Bead bd-7: Add sums", "t1")


NOT_DONE: tuple[tuple[dict[str, Any], str], ...] = (
    ({"now": report(old="passed", new="failed")}, "new fails"),
    ({"now": report()}, "no test was collected"),
    ({"now": report(new="passed")}, "is gone; tests must not be removed"),
    ({"now": report(old="skipped", new="passed")}, "is skipped now"),
    ({"changes": ()}, "nothing changed"),
    (
        {"settings": {"limits.files": "1"}, "changes": (*CODE, Changed("src/more.py", "added", "production"))},
        "2 files changed, but the budget is 1",
    ),
)


@pytest.mark.parametrize(("world", "said_so"), NOT_DONE)
def test_work_that_does_not_hold_gets_one_retry_with_the_output_and_then_fails(world: dict[str, Any], said_so: str) -> None:
    first = judged(World(a_run("RUNNING"), **world))
    assert (first.status, first.run.state, first.run.counts, first.owes) == ("FAILURE", "RUNNING", {"tries": 1, "attempts": 1}, ())
    assert said_so in first.run.last_error
    assert "the output" in first.run.last_error
    second = judged(World(run_of(first), **world))
    named = {"nothing changed": "nothing", "files changed": "files"}
    cause = next((cause for words, cause in named.items() if words in said_so), "tests")
    assert (second.status, second.run.state, second.run.cause) == ("FAILURE", "FAILED", cause)
    follow = follow_up_of(run_of(second))
    assert follow is not None
    assert (follow.key, follow.title, follow.linked_to) == (f"bd-7:{cause}", f"{TITLES[cause]}: Add sums", "bd-7")
    assert "the output" in follow.description


def test_exit_code_0_alone_is_never_success() -> None:
    claims = Sent("submit", summary="all tests pass, exit code 0", reply="SUCCESS", outcome="0")
    assert judged(World(a_run("RUNNING"), claims, changes=())).status == "FAILURE"


@pytest.mark.parametrize(
    ("report_text", "reason"),
    [
        ("BLOCKED: no access to the API", "no access to the API"),
        ("I looked around.\n\nBLOCKED: the key is missing  \n", "the key is missing"),
        ("```\nlog\n```\nBLOCKED: as the log says", "as the log says"),
        ("BLOCKED: no access\nNo: found a way. Done.", ""),
        ("> BLOCKED: quoted", ""),
        ("The prompt says `BLOCKED: reason`", ""),
        ("```\nBLOCKED: in a fence\n```", ""),
        ("```\nBLOCKED: in an open fence", ""),
        ("    BLOCKED: in an indented block", ""),
        ("blocked: small", ""),
        ("BLOCKED:", ""),
        ("BLOCKED", ""),
        ("", ""),
    ],
)
def test_blocked_is_heard_only_as_the_last_line_of_the_agents_own_report(report_text: str, reason: str) -> None:
    assert blocked_reason(report_text) == reason
    assert EXECUTE.kind(a_run("RUNNING"), Sent("submit", reply=report_text)) == ("blocked" if reason else "done")


def test_what_was_printed_on_the_way_and_what_others_say_is_no_report() -> None:
    assert final_report(Sent("submit", summary="done", output="BLOCKED: in the log")) == "done"
    assert final_report(Sent("submit", by="system", summary="BLOCKED: not the agent")) == ""


def test_an_agent_that_says_blocked_ends_the_execution_with_its_reason() -> None:
    decision = judged(World(a_run("RUNNING"), Sent("submit", summary="I cannot.\nBLOCKED: no key")))
    assert (decision.status, decision.run.state, run_of(decision).data.reason) == ("HALTED", "BLOCKED", "no key")
    follow = follow_up_of(run_of(decision))
    assert follow is not None
    assert (follow.key, item_after(run_of(decision)).status) == ("bd-7:blocked", "blocked")
    assert "no key" in follow.description


@pytest.mark.parametrize("state", ["RUNNING", "RUNNING_CHILD"])
@pytest.mark.parametrize(("on", "key"), [("out-of-time", "bd-7:time"), ("silent", "bd-7:silence")])
def test_wall_clock_and_silence_end_in_timeout_and_the_whole_process_tree_ends(state: str, on: str, key: str) -> None:
    decision = judged(World(a_run(state), Sent(on, by="system", output="6 hours are over")))
    assert (decision.status, decision.run.state, decision.run.last_error) == ("FAILURE", "TIMEOUT", "6 hours are over")
    assert decision.owes[:2] == ("stop_children", "end_processes")
    assert item_after(run_of(decision)) == ItemChange("open", ("timeout",))
    follow = follow_up_of(run_of(decision))
    assert follow is not None
    assert follow.key == key


@pytest.mark.parametrize("state", ["PUSHING", "REBASING"])
def test_the_wall_clock_runs_while_the_machine_works_too(state: str) -> None:
    assert judged(World(a_run(state), Sent("out-of-time", by="system"))).run.state == "TIMEOUT"


def test_a_used_up_budget_fails() -> None:
    decision = judged(World(a_run("RUNNING"), Sent("over-budget", by="system", output="5 USD are spent")))
    assert (decision.status, decision.run.state, decision.run.cause, decision.run.last_error) == (
        "FAILURE",
        "FAILED",
        "budget",
        "5 USD are spent",
    )


def test_an_agent_may_not_say_what_is_the_machines_to_say() -> None:
    assert judged(World(a_run("RUNNING"), Sent("out-of-time", by="agent"))).status == "REFUSED"
    assert judged(World(a_run("PUSHING"), Sent("outcome", by="agent", outcome="pushed"))).status == "REFUSED"


# -- push and rebase ---------------------------------------------------------------------------------------------------------


def test_a_pushed_branch_completes_the_execution() -> None:
    proved = msgspec.structs.replace(DATA, proved_tree="t1")
    decision = outcome("PUSHING", "pushed", proved, facts={"commit": "c9"})
    assert (decision.status, decision.run.state) == ("SUCCESS", "COMPLETED")
    assert EXECUTE.unproven(run_of(decision)) == ()
    assert item_after(run_of(decision)).status == "closed"
    assert follow_up_of(run_of(decision)) is None


def test_what_is_not_tested_and_not_pushed_is_unproven() -> None:
    assert EXECUTE.unproven(a_run("PUSHING")) == ("no tree is proved by its tests", "nothing is pushed")


def test_a_rejected_push_gets_one_rebase_with_the_tests_again_and_then_fails() -> None:
    rejected = outcome("PUSHING", "rejected")
    assert (rejected.run.state, rejected.run.counts) == ("REBASING", {"rebases": 1})
    rebased = judged(World(run_of(rejected), Sent("outcome", by="system", outcome="rebased"), tree="t2"))
    assert (rebased.run.state, run_of(rebased).data.proved_tree) == ("PUSHING", "t2")
    again = judged(World(run_of(rebased), Sent("outcome", by="system", outcome="rejected", output="fetch first")))
    assert (again.run.state, again.run.cause, again.run.last_error) == ("FAILED", "push", "fetch first")
    assert item_after(run_of(again)).status == "in_progress"


def test_tests_that_fail_after_the_rebase_fail_the_execution() -> None:
    world = World(a_run("REBASING"), Sent("outcome", by="system", outcome="rebased"), now=report(old="failed", new="passed"))
    assert (judged(world).run.state, judged(world).run.cause) == ("FAILED", "tests")


def test_a_conflict_fails_the_execution_with_its_details() -> None:
    decision = outcome("REBASING", "conflict", output="CONFLICT in src/sum.py\nmore")
    follow = follow_up_of(run_of(decision))
    assert follow is not None
    assert (decision.run.state, follow.title) == ("FAILED", "Merge conflict: Add sums")
    assert "CONFLICT in src/sum.py\nmore" in follow.description


# -- the review before a pull request ----------------------------------------------------------------------------------------

ISSUE = {
    "title": "No error handling",
    "description": "fetch fails",
    "priority": 1,
    "type": "bug",
    "severity": "high",
    "file_path": "src/a.py",
    "line_numbers": [42, 45],
}


def review_text(ready: bool, **more: object) -> str:
    return json.dumps({"issues": [ISSUE], "summary": "one issue", "pr_ready": ready, **more})


def test_a_review_is_read_strictly() -> None:
    issue = FoundIssue("No error handling", "fetch fails", 1, "bug", "high", "src/a.py", (42, 45))
    assert read_review(review_text(True)) == BranchReview((issue,), "one issue", True)
    for text in ("", "ok", "{}", review_text(True, extra=1), review_text(True, pr_ready="yes")):
        with pytest.raises(CannotTell):
            read_review(text)


def test_before_a_pull_request_the_branch_is_reviewed() -> None:
    decision = outcome("PUSHING", "pushed", with_setup(pull_request=True), facts={"commit": "c9"})
    assert (decision.run.state, run_of(decision).data.pushed) == ("REVIEWING", "c9")


@pytest.mark.parametrize(("ready", "state"), [(True, "OPENING"), (False, "NOT_READY")])
@pytest.mark.parametrize("claimed", ["ready", "not-ready"])
def test_pr_ready_decides_whatever_the_outcome_is_called_and_each_issue_is_filed(claimed: str, ready: bool, state: str) -> None:
    decision = outcome("REVIEWING", claimed, counts={"rounds": 4}, findings=review_text(ready))
    assert (decision.status, decision.run.state, decision.owes) == ("SUCCESS" if ready else "HALTED", state, ("file_issues",))
    review = run_of(decision).data.review
    assert review is not None
    assert review.issues[0].title == "No error handling"


@pytest.mark.parametrize("text", ["", "looks good"])
def test_a_review_that_cannot_be_read_is_an_error_and_approves_nothing(text: str) -> None:
    decision = outcome("REVIEWING", "ready", findings=text)
    assert (decision.status, decision.run.state) == ("ERROR", "REVIEWING")


def test_a_branch_that_is_not_ready_waits_for_its_items_or_for_a_person() -> None:
    here = a_run("NOT_READY", cause="review")
    override = judged(World(here, Sent("answer", by="human", value="override", guidance="it is urgent")))
    again = judged(World(here, Sent("review", by="human", guidance="look at the cents")))
    assert (override.run.state, override.run.cause, override.run.guidance) == ("OPENING", "", "it is urgent")
    assert (again.run.state, again.run.cause, again.run.guidance) == ("REVIEWING", "", "look at the cents")
    assert judged(World(here, Sent("outcome", by="system", outcome="items-closed"))).run.state == "JOINING", (
        "never straight to the pull request"
    )
    fix = judged(World(here, Sent("answer", by="human", value="fix", note="the cents first")))
    assert (fix.run.state, fix.run.cause, fix.run.guidance) == ("RUNNING", "", "the cents first")
    assert judged(World(here, Sent("answer", by="agent", value="override"))).status == "REFUSED"


def test_what_a_review_finds_is_work_on_the_reviewed_branch_until_its_rounds_are_used_up() -> None:
    data = msgspec.structs.replace(with_setup(pull_request=True), pushed="c9", proved_tree="t9")
    back = outcome("REVIEWING", "not-ready", data, findings=review_text(False))
    assert (back.status, back.run.state, back.run.counts, back.owes) == ("FAILURE", "RUNNING", {"rounds": 1}, ("file_issues",))
    assert "No error handling** (high bug; src/a.py, line 42, line 45): fetch fails" in EXECUTE.facts(run_of(back))["trouble"]
    assert (run_of(back).data.reviewed, EXECUTE.unproven(run_of(back))) == ("", ("no review found the pushed commit ready",))
    spent = outcome("REVIEWING", "not-ready", data, counts={"rounds": 4}, findings=review_text(False))
    assert (spent.status, spent.run.state, spent.run.cause) == ("HALTED", "NOT_READY", "review")
    ready = run_of(outcome("REVIEWING", "ready", data, findings=review_text(True)))
    assert (ready.state, ready.data.reviewed, EXECUTE.unproven(ready)) == ("OPENING", "c9", ())
    override = run_of(judged(World(a_run("NOT_READY", data, cause="review"), Sent("answer", by="human", value="override"))))
    assert (override.state, override.data.reviewed) == ("OPENING", "c9")


def test_what_was_done_for_a_review_is_proved_and_reviewed_before_it_is_opened() -> None:
    assert outcome("JOINING", "nothing-new").run.state == "REVIEWING"
    joined = outcome("JOINING", "joined", with_setup(pull_request=True), facts={"commit": "c10"})
    assert (joined.run.state, joined.owes) == ("PUSHING", ("publish_claims",))
    red = World(a_run("JOINING"), Sent("outcome", by="system", outcome="joined"), now=report(old="failed"))
    assert judged(red).run.state == "RUNNING"
    part = msgspec.structs.replace(with_setup(pull_request=True), part_of="execute-it-1-1")
    assert outcome("PUSHING", "pushed", part, facts={"commit": "c9"}).run.state == "COMPLETED", (
        "it goes out with the branch that it is part of"
    )


def test_a_failure_is_named_by_the_gate_that_failed() -> None:
    nothing = judged(World(a_run("RUNNING", counts={"tries": 1}), changes=()))
    assert (nothing.run.state, nothing.run.cause) == ("FAILED", "nothing")
    follow = follow_up_of(run_of(nothing))
    assert follow is not None and follow.title == "Nothing was changed: Add sums"
    red = judged(World(a_run("RUNNING", counts={"tries": 1}), now=report(old="failed", new="passed")))
    assert (red.run.state, red.run.cause) == ("FAILED", "tests")


def test_the_opened_pull_request_completes_the_execution() -> None:
    assert outcome("OPENING", "opened").run.state == "COMPLETED"


# -- children, cancelling, halting -------------------------------------------------------------------------------------------


def test_the_strategy_tdd_is_a_linked_child_with_the_items_text() -> None:
    (child,) = children(a_run("RUNNING_CHILD", with_setup(strategy="tdd", baseline=("known",))))
    assert (child.workflow, child.start) == ("tdd", "PLAN")
    assert isinstance(child.data, TddData)
    assert (child.data.feature_request, child.data.good_tree, child.data.base) == ("bd-7: Add sums\n\nSums are missing.", "t0", "c0")
    assert child.data.setup.baseline == ("known",)


def test_the_strategy_pr_is_a_linked_child_on_the_same_branch_that_merges_nothing() -> None:
    data = msgspec.structs.replace(with_setup(strategy="pr", baseline=("known",)), plan=".detent/item.md")
    (child,) = children(a_run("RUNNING_CHILD", data))
    assert (child.workflow, child.start) == ("pr", "INITIALIZING")
    assert isinstance(child.data, PrData)
    assert (child.data.setup.plan, child.data.setup.branching, child.data.base) == (".detent/item.md", False, "c0")
    assert (child.data.setup.baseline, child.data.branch) == (("known",), "beads-bd-7-add-sums")


def test_there_is_no_child_elsewhere() -> None:
    assert [s for s in EXECUTE.states if children(a_run(s, with_setup(strategy="tdd")))] == ["RUNNING_CHILD"]


@pytest.mark.parametrize("end", ["COMPLETE", "DONE"])
def test_a_child_that_ended_proved_is_tested_and_pushed_without_a_squash(end: str) -> None:
    decision = judged(World(a_run("RUNNING_CHILD"), Sent("child", by="system", child="work", outcome=end)))
    assert (decision.run.state, decision.owes, decision.run.joined) == ("PUSHING", ("note_on_item",), ("work",))
    assert run_of(decision).data.proved_tree == "t1"


def test_a_child_that_ended_proved_with_failing_tests_fails_the_execution() -> None:
    world = World(a_run("RUNNING_CHILD"), Sent("child", by="system", child="work", outcome="DONE"), now=report(old="failed"))
    assert (judged(world).run.state, judged(world).run.cause) == ("FAILED", "tests")


@pytest.mark.parametrize("end", ["ABORTED", "HALTED"])
def test_a_child_that_stopped_fails_the_execution(end: str) -> None:
    decision = judged(World(a_run("RUNNING_CHILD"), Sent("child", by="system", child="work", outcome=end)))
    assert (decision.status, decision.run.state, decision.run.cause) == ("FAILURE", "FAILED", "child")
    assert run_of(decision).data.reason == decision.run.last_error == f"the inner run ended in {end}"
    assert "stop_children" in decision.owes


@pytest.mark.parametrize("verb", ["cancel", "abort"])
@pytest.mark.parametrize("state", alive(EXECUTE.states))
def test_a_person_can_cancel_anywhere_and_it_goes_to_the_children(state: str, verb: str) -> None:
    decision = judged(World(a_run(state), Sent(verb, by="human")))
    assert (decision.status, decision.run.state, decision.owes[:2]) == ("SUCCESS", "CANCELLED", ("stop_children", "end_processes"))
    assert decision.run.cause == "cancelled"
    assert item_after(run_of(decision)).status == "open"
    assert judged(World(a_run(state), Sent(verb, by="agent"))).status == "REFUSED"


@pytest.mark.parametrize("state", alive(EXECUTE.states))
def test_a_person_can_steer_anywhere(state: str) -> None:
    decision = judged(World(a_run(state), Sent("steer", by="human", note="use cents")))
    assert (decision.run.state, decision.run.steers) == (state, ("use cents",))


def test_an_item_whose_execution_was_cancelled_in_the_queue_stays_as_it_is() -> None:
    decision = judged(World(a_run("QUEUED", ExecuteData(item=ITEM)), Sent("cancel", by="human")))
    assert item_after(run_of(decision)) == ItemChange()


def test_an_agent_that_keeps_ending_without_an_answer_fails_the_execution() -> None:
    run = a_run("RUNNING")
    for _ in range(3):
        decision = judged(World(run, Sent("agent-failed", by="system", output="no answer")))
        assert decision.run.state == "RUNNING"
        run = run_of(decision)
    last = judged(World(run, Sent("agent-failed", by="system", output="still no answer")))
    assert (last.run.state, last.run.cause, last.run.last_error) == ("FAILED", "agent", "still no answer")


def test_trouble_that_is_not_the_items_fault_waits_for_a_person_and_fails_no_item() -> None:
    decision = judged(World(a_run("RUNNING", counts={"agent": 2}), Sent("no-model", by="system", output="no model")))
    assert (decision.status, decision.run.state, decision.run.cause, decision.run.last_error) == ("HALTED", "HALTED", "model", "no model")
    back = judged(World(run_of(decision), Sent("resume", by="human", guidance="try again")))
    assert (back.run.state, back.run.guidance, back.run.counts) == ("RUNNING", "try again", {})
    lost = decide(EXECUTE, a_run("PUSHING", counts={"errors": 2}), SUBMIT, None, Found(unclear="no network"))
    assert (lost.status, lost.run.state, lost.run.back, lost.run.last_error) == ("HALTED", "HALTED", "PUSHING", "no network")


def test_every_cause_of_a_failure_has_a_follow_up_of_its_own() -> None:
    causes = {c.cause for r in EXECUTE.rows for way in r.ways if way.to in FAILURES for c in way.changes if hasattr(c, "cause")}
    keys = {follow.key for cause in causes if (follow := follow_up_of(a_run("FAILED", cause=cause)))}
    assert causes == {"tests", "push", "conflict", "ci", "agent", "budget", "child", "blocked", "time", "silence"}
    assert len(keys) == len(causes)
