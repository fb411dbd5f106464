"""The `pr` workflow: one plan, pull request by pull request, gated step by step. The table is the specification.

An agent calls get_task and submit_work; the machine judges every step before it serves the next one.
"""

from detent.blocks.common import (
    ERRORS,
    because,
    caused_by,
    clear_error,
    count,
    driven,
    keep_error,
    keep_guidance,
    people,
    reached,
    zero,
)
from detent.blocks.open_flags import ACCEPT, END, answered, event_of, flagged_at
from detent.effects.catalogue import (
    call_reviewer,
    checkpoint,
    clear_plan,
    commit_plan,
    create_branch,
    leave_workspace,
    merge,
    publish,
    publish_claims,
    reset_to_good,
    snapshot,
    squash,
    undo_strays,
)
from detent.gates.branch_gates import (
    commit_is_head,
    entry_is_marked,
    message_is_title,
    on_its_branch,
    one_commit_over_base,
    only_the_entry_changed,
    tree_as_judged,
)
from detent.gates.command_gates import TEST_WRONG, expects_fail, expects_pass, real_test_command, rewriting_is_flagged, says_why
from detent.gates.plan import no_entry_is_open, plan_is_sound, replan_keeps_the_rest, verified_from
from detent.gates.review_gates import (
    own_review_is_flagged,
    review_is_independent,
    review_is_readable,
    tree_is_as_proved,
    tree_is_as_reviewed,
)
from detent.gates.tests import (
    already_is_flagged,
    at_least_one_ran,
    canary_held,
    changed_tests_ran,
    changed_tests_still_bite,
    fails_for_the_product,
    new_tests_failed_before,
    new_tests_kill_mutants,
    none_is_lost,
    nothing_broke,
    old_tests_still_notice,
    passes_when_clean,
    preflight_passes,
    product_changed,
    red_tests_pass,
    refactoring_is_tested,
    rewritten_is_flagged,
    selection_fails,
    selection_is_some,
    selection_passes,
    something_needs_this_step,
    test_can_fail,
    turned_tests_fail,
)
from detent.gates.tree import (
    config_flagged,
    config_frozen,
    conftest_stays_plain,
    differs_from_failed_try,
    examples_flagged,
    files_are_ours,
    instructions_kept,
    no_keys_added,
    only_tests_changed,
    plan_frozen,
    reading_is_flagged,
    tests_frozen,
    tree_is_clean,
    tree_is_kept,
)
from detent.kernel.model import Data, Run, Sent
from detent.kernel.table import BACK, STAY, Go, Lock, Row, State, Table, go
from detent.workflows.pr.pr_data import (
    PrData,
    back_to_red,
    checkpoint_asked,
    checkpoint_made,
    current,
    failed_again,
    findings_of,
    forget_failed_try,
    has_red,
    keep_analysis,
    keep_base,
    keep_branch,
    keep_commit,
    keep_committed,
    keep_findings,
    keep_goal,
    keep_judged,
    keep_plan,
    keep_report,
    keep_review,
    landed_here,
    next_pr,
    not_looked_at,
    step_done,
    step_shown,
    tried,
    unproven,
)
from detent.workflows.pr.pr_facts import all_entries_done, nudge
from detent.workflows.pr.pr_shown import MOVES, facts_and_places

ANY_CODE = ("**",)
THE_PLAN = ("ACTIVE_PR.json",)

STATES = {
    "INITIALIZING": State("agent", "engineer", THE_PLAN),
    "CREATING_BRANCH": State("system", job=create_branch),
    "EXECUTING_TDD": State("agent", "engineer", ANY_CODE),
    "NEEDS_ANALYSIS": State("agent", "engineer"),
    "DEBUGGING": State("agent", "engineer", ANY_CODE),
    "REPLANNING": State("agent", "engineer", THE_PLAN),
    "CODE_REVIEW": State("agent", "reviewer", ("FINDINGS.json",), job=call_reviewer),
    "AWAITING_FINALIZATION": State("agent", "engineer", job=squash),
    "FINALIZE_COMPLETE": State("agent", "engineer", ("$plan",)),
    "PLAN_UPDATED": State("system"),
    "MERGING_BRANCH": State("human", job=merge),
    "HALTED": State("human"),
    "DONE": State("none", end="proved"),
    "ABORTED": State("none", end="stopped"),
}

SOUND = (files_are_ours, on_its_branch, no_keys_added, instructions_kept, differs_from_failed_try)  # asked first: a miss is REFUSED
SOUND_RED, SOUND_GREEN = (*SOUND, expects_fail, real_test_command), (*SOUND, expects_pass, real_test_command)
ONLY_TESTS = (plan_frozen, only_tests_changed, conftest_stays_plain, config_flagged)
OLD_TESTS = (none_is_lost, old_tests_still_notice, rewritten_is_flagged)
KEPT = (at_least_one_ran, config_frozen, plan_frozen, canary_held, none_is_lost, nothing_broke, red_tests_pass)
RED = (
    changed_tests_ran,
    *ONLY_TESTS,
    canary_held,
    something_needs_this_step,
    fails_for_the_product,
    *OLD_TESTS,
    rewriting_is_flagged,
    selection_fails,
    reading_is_flagged,
)
VERIFY = (at_least_one_ran, *ONLY_TESTS, canary_held, new_tests_failed_before, *OLD_TESTS, selection_is_some, reading_is_flagged)
GREEN = (
    tests_frozen,
    examples_flagged,
    *KEPT,
    selection_passes,
    preflight_passes,
    product_changed,
    reading_is_flagged,
    turned_tests_fail,
    new_tests_kill_mutants,
)
REFACTOR = (
    *KEPT,
    old_tests_still_notice,
    rewritten_is_flagged,
    changed_tests_still_bite,
    selection_passes,
    preflight_passes,
    reading_is_flagged,
    turned_tests_fail,
    refactoring_is_tested,
)
ALREADY = (at_least_one_ran, *ONLY_TESTS, canary_held, none_is_lost, nothing_broke, test_can_fail, already_is_flagged, reading_is_flagged)
SQUASH = (on_its_branch, commit_is_head, one_commit_over_base, message_is_title, tree_is_as_reviewed)
MARKED = (on_its_branch, entry_is_marked, only_the_entry_changed)
CLEAN = (passes_when_clean,)  # the last check before a change counts as landed; a merge has its own
REVIEW = (review_is_readable, review_is_independent, tree_is_as_proved)
OWN = (own_review_is_flagged,)


def _stuck(run: Run[Data]) -> str | None:
    """None once `escalate` attempts failed, or one at a re-planned task; else why it is locked."""
    left = run.limits["escalate"] - run.counts.get("debug", 0)
    return None if failed_again(run) or left <= 0 else f"locked until {left} more failed attempt{'s' if left > 1 else ''}"


STUCK = Lock("stuck", "The counter debug has reached escalate, or a re-planned task failed again.", _stuck)
TWICE = Lock(
    "tried_once",
    "The step was judged and failed at least once.",
    lambda run: None if run.counts.get("debug") else "try the step first",
    "REFUSED",
)

LOOKED = Lock("looked_at", "A pull request finished without a branch has been checked as a whole.", not_looked_at, "REFUSED")

HALT_TRIES = go("HALTED", because("attempts"), tried, keep_error, owes=(undo_strays,), says="HALTED")
BAD = go("DEBUGGING", count("debug"), tried, keep_error, owes=(undo_strays,), says="FAILURE", spent=HALT_TRIES)
HALT_ANALYSED = go("HALTED", because("attempts"), keep_analysis, says="HALTED")
ANALYSED_BAD = go("DEBUGGING", count("debug"), keep_analysis, says="FAILURE", spent=HALT_ANALYSED)
SEEN_RED = go("NEEDS_ANALYSIS", keep_judged, keep_error, says="NEEDS_ANALYSIS")
TEST_IS_WRONG = go("EXECUTING_TDD", back_to_red, count("debug"), count("rewrites"), owes=(undo_strays,), says="FAILURE", spent=HALT_TRIES)
PASSED = go("EXECUTING_TDD", step_done, keep_committed, zero("debug", "rewrites"), clear_error, checkpoint_asked, owes=(checkpoint,))
PROVED = go("EXECUTING_TDD", step_done, zero("debug"), clear_error)
HALT: Go[PrData] = go("HALTED", because("conflict"), keep_error, owes=(snapshot,), says="HALTED")
HALT_RED: Go[PrData] = go("HALTED", because("red merge"), keep_error, owes=(snapshot,), says="HALTED")
LANDED_HERE = go("INITIALIZING", landed_here, clear_error, owes=(commit_plan, publish_claims, clear_plan))
HALT_CLEAN: Go[PrData] = go("HALTED", because("clean"), keep_error, owes=(snapshot,), says="HALTED")
HALT_PLAN: Go[PrData] = go("HALTED", because("plan"), keep_error, says="HALTED")
HALT_REVIEW = go("HALTED", because("review rounds"), keep_findings, says="HALTED")
HALT_SCOPE: Go[PrData] = go("HALTED", because("attempts"), keep_error, says="HALTED")

REVIEWED = go("AWAITING_FINALIZATION", keep_review, zero("review", "own_gates"), clear_error)
HALT_OWN: Go[PrData] = go("HALTED", because("errors"), keep_error, says="HALTED")
OWN_ONLY: Go[PrData] = go(STAY, keep_error, count("own_gates"), says="FAILURE", spent=HALT_OWN)
ESCALATED = go("HALTED", because("escalation"), keep_report, owes=(snapshot,), says="HALTED")
REDUCED = go("REPLANNING", keep_goal, count("replans"), zero("debug"), owes=(reset_to_good,), spent=HALT_SCOPE)

PLANNED_HERE = go("EXECUTING_TDD", keep_plan, keep_base, zero("review", "replans"), clear_error)
FOUND = go("EXECUTING_TDD", keep_findings, count("review"), clear_error, spent=HALT_REVIEW)

OF_AGENT = ("errors", "agent", "model", "budget")  # why a driven agent had to stop
OF_MACHINE = ("conflict", "red merge", "clean", "review rounds", "plan", *OF_AGENT)  # causes from which `resume` goes on


def stopped(cause: str) -> Go[PrData]:
    return go("HALTED", because(cause), keep_error, says="HALTED")


ALL_DONE: Go[PrData] = go("DONE", clear_error, owes=(publish, leave_workspace))  # in this order: published files may be in the workspace

ROWS: tuple[Row[PrData], ...] = (
    #   at                        on                 ask                                prove      to                                              failed proof
    Row("INITIALIZING",          "plan",            (plan_frozen, plan_is_sound),      (),        go("CREATING_BRANCH", keep_plan, clear_error)),
    Row("INITIALIZING",          "plan-here",       (LOOKED, plan_frozen, plan_is_sound), (),     PLANNED_HERE),
    Row("INITIALIZING",          "no-pr-left",      (LOOKED, plan_frozen),             (no_entry_is_open,), ALL_DONE,            HALT_PLAN),
    Row("INITIALIZING",          "to-merge",        (),                                (),        go("MERGING_BRANCH")),
    Row("CREATING_BRANCH",       "branched",        (),                                (),        go("EXECUTING_TDD", keep_branch, zero("review", "replans"), clear_error)),
    Row("CREATING_BRANCH",       "conflict",        (),                                (),        HALT),
    Row("EXECUTING_TDD",         "red",             SOUND_RED,                         RED,       SEEN_RED,                                       BAD),
    Row("EXECUTING_TDD",         "verify",          SOUND_RED,                         VERIFY,    SEEN_RED,                                       BAD),
    Row("EXECUTING_TDD",         "green",           SOUND_GREEN,                       GREEN,     PASSED,                                         BAD),
    Row("EXECUTING_TDD",         "refactor",        SOUND_GREEN,                       REFACTOR,  PASSED,                                         BAD),
    Row("EXECUTING_TDD",         "test-wrong",      (*SOUND, says_why),                (),        TEST_IS_WRONG),
    Row("EXECUTING_TDD",         "checkpoint",      (tree_is_clean,),                  (),        go(STAY, checkpoint_made)),
    Row("EXECUTING_TDD",         "none-left",       (),                                (),        go("CODE_REVIEW")),
    Row("NEEDS_ANALYSIS",        "success",         (files_are_ours, tree_as_judged),  (),        PROVED),
    Row("NEEDS_ANALYSIS",        "failure",         (),                                (),        ANALYSED_BAD),
    Row("DEBUGGING",             "red",             SOUND_RED,                         RED,       SEEN_RED,                                       BAD),
    Row("DEBUGGING",             "verify",          SOUND_RED,                         VERIFY,    SEEN_RED,                                       BAD),
    Row("DEBUGGING",             "green",           SOUND_GREEN,                       GREEN,     PASSED,                                         BAD),
    Row("DEBUGGING",             "refactor",        SOUND_GREEN,                       REFACTOR,  PASSED,                                         BAD),
    Row("DEBUGGING",             "already",         (TWICE, *SOUND_RED),               ALREADY,   PASSED,                                         BAD),
    Row("DEBUGGING",             "test-wrong",      (*SOUND, says_why),                (),        TEST_IS_WRONG),
    Row("DEBUGGING",             "scope-reduction", (reached("debug", "reduce_scope"), tree_is_kept), (), REDUCED),
    Row("DEBUGGING",             "escalate",        (STUCK,),                          (),        ESCALATED),
    Row("REPLANNING",            "replan",          (replan_keeps_the_rest,),          (),        go("EXECUTING_TDD", keep_plan, clear_error)),
    Row("CODE_REVIEW",           "approved",        REVIEW,                            OWN,       REVIEWED,                                       OWN_ONLY),
    Row("CODE_REVIEW",           "findings",        REVIEW,                            (),        FOUND),
    Row("CODE_REVIEW",           "wait",            (),                                (),        go(STAY)),
    Row("AWAITING_FINALIZATION", "squashed",        SQUASH,                            (),        go("FINALIZE_COMPLETE", keep_commit, clear_error)),
    Row("FINALIZE_COMPLETE",     "plan-done",       MARKED,                            (),        go("PLAN_UPDATED", clear_error, owes=(commit_plan, publish_claims))),
    Row("FINALIZE_COMPLETE",     "plan-done-here",  MARKED,                            CLEAN,     LANDED_HERE,                                    HALT_CLEAN),
    Row("PLAN_UPDATED",          "to-merge",        (),                                (),        go("MERGING_BRANCH")),
    Row("MERGING_BRANCH",        "merged",          (),                                (),        go("INITIALIZING", next_pr, clear_error, owes=(clear_plan,))),
    Row("MERGING_BRANCH",        "conflict",        (),                                (),        HALT),
    Row("MERGING_BRANCH",        "red-merge",       (),                                (),        HALT_RED),
    Row("MERGING_BRANCH",        "resume",          (),                                (),        go(STAY)),
    Row("HALTED",                "resume",          (caused_by(*OF_MACHINE),),         (),        go(BACK, keep_guidance, zero("agent", "own_gates"))),
    Row("HALTED",                "guided",          (caused_by("attempts", "escalation"),), (),   go("DEBUGGING", keep_guidance, zero("debug", "replans"), forget_failed_try)),
    Row("HALTED",                "approve",         (caused_by("review rounds"),),     (),        go("AWAITING_FINALIZATION", keep_guidance, keep_review, zero("review"))),
    Row("HALTED",                "another-round",   (caused_by("review rounds"),),     (),        go("EXECUTING_TDD", keep_guidance, zero("review"))),
    Row("HALTED",                "finish",          (caused_by("plan"),),              (),        ALL_DONE),
    *flagged_at("MERGING_BRANCH"),
    *answered(),
    *driven(STATES, halt=stopped("agent"), unavailable=stopped("model"), over=stopped("budget")),
    *people(STATES, also=(leave_workspace,)),
)  # fmt: skip


ANSWERS = {
    "REVIEW": ("approve", "another-round", "abort"),
    "PLAN": ("finish",),
}  # the answers that each decision takes


def kind(run: Run[PrData], sent: Sent) -> str:
    """The event that a call causes. A submit in EXECUTING_TDD is red, verify, green or refactor, depending on the step."""
    if sent.verb == "due":
        return _due(run)
    if sent.verb == "submit":
        return _submitted(run, sent)
    if sent.verb == "resume":
        return "guided" if run.state == "HALTED" and run.cause in ("attempts", "escalation") else "resume"
    if sent.verb == "answer" and (on := event_of(run, sent, (ACCEPT, END))):
        return on
    if sent.verb == "answer":
        fits = sent.value in ANSWERS.get(sent.decision.upper(), ()) and (sent.value != "abort" or run.cause == "review rounds")
        return sent.value if fits else "answer"
    return sent.outcome if sent.verb == "outcome" else sent.verb


def _due(run: Run[PrData]) -> str:
    """The system event that is due, if there is one."""
    if run.state == "PLAN_UPDATED" or (run.state == "INITIALIZING" and run.data.landed):
        return "to-merge"
    done = run.state == "EXECUTING_TDD" and current(run.data) is None and not run.data.checkpoint_due
    return "none-left" if done else ""


def _submitted(run: Run[PrData], sent: Sent) -> str:
    here = "" if run.data.setup.branching else "-here"
    fixed = {"REPLANNING": "replan", "AWAITING_FINALIZATION": "squashed", "FINALIZE_COMPLETE": f"plan-done{here}"}
    if run.state == "INITIALIZING":
        return "no-pr-left" if sent.no_pr_left else f"plan{here}"
    if run.state == "NEEDS_ANALYSIS":
        return {"SUCCESS": "success", "FAILURE": "failure"}.get(sent.analysis_decision, "analysis")
    if run.state == "CODE_REVIEW" and not sent.findings and run.data.setup.independent:
        return "wait"
    if run.state == "CODE_REVIEW" and sent.findings:
        return "approved" if findings_of(run, sent) == () else "findings"
    if run.state in ("EXECUTING_TDD", "DEBUGGING"):
        return _step_event(run, sent)
    return fixed.get(run.state, "submit")


def _step_event(run: Run[PrData], sent: Sent) -> str:
    now = current(run.data)
    if run.data.checkpoint_due:
        return "checkpoint"
    if sent.analysis_decision:
        return "analysis"
    if now is None:
        return "none-left"
    if now[2].type == "RED" and sent.reply.strip() == "ALREADY_SATISFIED":
        return "already"
    if sent.reply.strip().strip('"') == TEST_WRONG and has_red(run):
        return "test-wrong"
    return "verify" if verified_from(run.data.plan) else now[2].type.lower()


URGED = {"Request Scope Reduction": "scope-reduction", "Escalate for External Help": "escalate"}


def urged(run: Run[PrData]) -> str:
    """The event that the briefing asks for: a way out after too many failed attempts, or the end once the plan is worked through."""
    if run.state == "INITIALIZING":
        return "no-pr-left" if all_entries_done(run.data) else ""
    return URGED.get(nudge(run), "") if run.state == "DEBUGGING" else ""


PR: Table[PrData] = Table(
    name="pr",
    title="one plan, pull request by pull request, each step gated",
    data=PrData,
    starts=("INITIALIZING", "EXECUTING_TDD", "DEBUGGING"),
    states=STATES,
    moves=MOVES,
    rows=ROWS,
    kind=kind,
    limits={
        **ERRORS,
        "debug": 20,
        "instrument": 3,
        "reduce_scope": 6,
        "escalate": 10,
        "replans": 3,
        "rewrites": 3,
        "review": 4,
        "own_gates": 3,
    },
    broken=go("HALTED", because("errors"), keep_error, says="HALTED"),
    unproven=unproven,
    always=(publish,),
    step=step_shown,
    facts=facts_and_places,
    urges=urged,
)
