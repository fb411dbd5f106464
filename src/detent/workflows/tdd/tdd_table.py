"""The `tdd` workflow: red, green, refactor, one test of the list at a time, four agents with a fresh context each. The table is the specification.

The machine runs all tests itself after every phase and decides by the results; an agent's word is never evidence.
"""

from detent.blocks.common import (
    DRIVEN,
    ERRORS,
    PEOPLE,
    because,
    caused_by,
    clear_error,
    count,
    driven,
    keep_error,
    keep_guidance,
    people,
    zero,
)
from detent.blocks.open_flags import ACCEPTED, BY_MACHINE, FIXED, answered, event_of, fixed_in, flagged_at
from detent.effects.catalogue import (
    commit_judged_tree,
    land_branch,
    leave_workspace,
    publish_claims,
    reset_to_good,
    take_back,
    tick_boxes,
    write_note,
)
from detent.gates.branch_gates import on_its_branch
from detent.gates.command_gates import TEST_WRONG, rewriting_is_flagged, says_why
from detent.gates.testlist import (
    FILE,
    a_test_is_new,
    boxes_are_ours,
    current_is_open,
    entries_kept,
    every_box_is_ticked,
    list_parses,
    only_list_changed,
    read_reply,
    reply_names_a_test,
)
from detent.gates.tests import (
    already_is_flagged,
    at_least_one_ran,
    canary_held,
    changed_tests_still_bite,
    fails_again,
    fails_for_the_product,
    new_tests_kill_mutants,
    none_is_lost,
    nothing_broke,
    old_tests_still_notice,
    product_changed,
    reason_is_told,
    red_tests_pass,
    refactoring_is_tested,
    rewritten_is_flagged,
    something_needs_this_step,
    test_can_fail,
    turned_tests_fail,
)
from detent.gates.tree import (
    config_flagged,
    config_frozen,
    conftest_stays_plain,
    examples_flagged,
    instructions_kept,
    no_keys_added,
    only_tests_changed,
    reading_is_flagged,
    tests_frozen,
)
from detent.kernel.model import Run, Sent
from detent.kernel.table import BACK, STAY, Go, Lock, Move, Row, State, Table, by_agent, by_human, by_system, go
from detent.workflows.tdd.tdd_data import (
    TddData,
    all_done,
    already_there,
    back_to_red,
    facts,
    green_seen,
    judged_tries,
    keep_failure,
    keep_list,
    no_model,
    planned,
    red_seen,
    refactored,
    step_shown,
    stuck,
    tries_of_red,
    unproven,
)

STATES = {
    "PLAN": State("agent", "test-list", (FILE,)),
    "RED": State("agent", "test", ("$test_file", "$test_folder/**", FILE, "$stub_file")),
    "GREEN": State("agent", "implementing", ("**",)),
    "REFACTOR": State("agent", "refactor", ("**",)),
    "LANDING": State("system", job=land_branch),
    "HALTED": State("human"),
    "COMPLETE": State("none", end="proved"),
    "ABORTED": State("none", end="stopped"),
}

SUBMIT = "submit_work"
NAMED = '{"currentTest": {"description": …, "testFile": …, "implFile": …}}'
NONE = '{"currentTest": null}'
MOVES: dict[str, Move] = {
    "planned": by_agent(SUBMIT, f"write {FILE}, then call submit_work with summary and reply {NAMED}"),
    "complete": by_agent(SUBMIT, f"call submit_work with summary and reply {NONE}, or add an open entry and reply {NAMED}"),
    "red": by_agent(SUBMIT, "write the failing test, then call submit_work with summary"),
    "already": by_agent(SUBMIT, 'call submit_work with summary and reply "ALREADY_SATISFIED"'),
    "green": by_agent(SUBMIT, "write the minimal code that makes the test pass, then call submit_work with summary"),
    "test-wrong": by_agent(SUBMIT, 'call submit_work with reply "TEST_WRONG" and a summary that says what is wrong with the test'),
    "refactor": by_agent(SUBMIT, "refactor, or leave everything as it is, then call submit_work with summary"),
    "landed": by_system("the branch is in main"),
    "offered": by_system("the branch is there for a person to merge"),
    "conflict": by_system("the branch conflicts with main"),
    "red-merge": by_system("what would land fails in a clean checkout"),
    "resume": by_human("resume", "detent resume [--guidance TEXT]"),
    **BY_MACHINE,
    **ACCEPTED,
    **FIXED,
    **DRIVEN,
    **PEOPLE,
}

LIST = (on_its_branch, no_keys_added, instructions_kept, list_parses, entries_kept, boxes_are_ours)  # asked first: a miss is REFUSED
NEXT = (*LIST, reply_names_a_test, current_is_open)
LAST = (*LIST, every_box_is_ticked)
KEPT = (at_least_one_ran, canary_held, none_is_lost, nothing_broke)
PLAN = (only_list_changed, canary_held, none_is_lost, nothing_broke)
COMPLETE = (only_list_changed, *KEPT, red_tests_pass)
ONLY_TESTS = (only_tests_changed, conftest_stays_plain, config_flagged, at_least_one_ran, canary_held)
OLD_TESTS = (none_is_lost, old_tests_still_notice, rewritten_is_flagged)
RED = (
    *ONLY_TESTS,
    something_needs_this_step,
    fails_for_the_product,
    reason_is_told,
    *OLD_TESTS,
    rewriting_is_flagged,
    fails_again,
    reading_is_flagged,
)
ALREADY = (*ONLY_TESTS, a_test_is_new, none_is_lost, nothing_broke, test_can_fail, already_is_flagged, reading_is_flagged)
GREEN = (
    tests_frozen,
    examples_flagged,
    config_frozen,
    *KEPT,
    red_tests_pass,
    product_changed,
    reading_is_flagged,
    turned_tests_fail,
    new_tests_kill_mutants,
)
REFACTOR = (
    config_frozen,
    *KEPT,
    red_tests_pass,
    old_tests_still_notice,
    rewritten_is_flagged,
    changed_tests_still_bite,
    reading_is_flagged,
    turned_tests_fail,
    refactoring_is_tested,
)

TWICE = Lock(
    "tried_once",
    "The phase was judged and failed at least once.",
    lambda run: None if judged_tries(run) else "submit the test itself first; ALREADY_SATISFIED is open from the second try on",
    "REFUSED",
)

COMMIT = (commit_judged_tree, write_note)
CLOSE = (*COMMIT, tick_boxes)
PROVEN = (*COMMIT, publish_claims)
BACK_TO_GOOD = (reset_to_good, write_note)
BACK_TO_PART = (take_back, write_note)
GIVEN_UP: Go[TddData] = go("HALTED", because("retries"), keep_failure, owes=BACK_TO_PART, says="FAILURE")
ROLLED_UP: Go[TddData] = go("HALTED", because("retries"), keep_failure, owes=BACK_TO_GOOD, says="FAILURE")
AGAIN = go(STAY, count("retries"), keep_failure, owes=BACK_TO_PART, says="FAILURE", spent=GIVEN_UP)
OTHERWISE = go(STAY, count("retries"), keep_failure, owes=BACK_TO_GOOD, says="FAILURE", spent=ROLLED_UP)
FRESH = zero("retries", "agent")
TEST_IS_WRONG = go("RED", back_to_red, count("rewrites"), FRESH, tries_of_red, owes=BACK_TO_PART, says="FAILURE", spent=ROLLED_UP)
END: Go[TddData] = go("COMPLETE", clear_error, owes=(leave_workspace,))
UNLANDED: Go[TddData] = go("HALTED", because("conflict"), keep_error, says="HALTED")

ROWS: tuple[Row[TddData], ...] = (
    #   at          on          ask             prove      to                                                         failed proof
    Row("PLAN",     "planned",  NEXT,           PLAN,      go("RED", keep_list, planned, FRESH, owes=COMMIT),         AGAIN),
    Row("PLAN",     "complete", LAST,           COMPLETE,  go("LANDING", keep_list, all_done, FRESH, owes=PROVEN),    AGAIN),
    Row("RED",      "red",      LIST,           RED,       go("GREEN", keep_list, red_seen, FRESH, owes=COMMIT),      AGAIN),
    Row("RED",      "already",  (TWICE, *LIST), ALREADY,   go("PLAN", keep_list, already_there, FRESH, owes=CLOSE),   AGAIN),
    Row("GREEN",    "green",    LIST,           GREEN,     go("REFACTOR", keep_list, green_seen, FRESH, zero("rewrites"), owes=COMMIT), OTHERWISE),
    Row("GREEN",    "test-wrong", (*LIST, says_why), (),   TEST_IS_WRONG),
    Row("REFACTOR", "refactor", LIST,           REFACTOR,  go("PLAN", keep_list, refactored, FRESH, owes=CLOSE),      OTHERWISE),
    Row("LANDING",  "landed",   (),             (),        END),
    Row("LANDING",  "offered",  (),             (),        END),
    Row("LANDING",  "conflict", (),             (),        UNLANDED),
    Row("LANDING",  "red-merge", (),            (),        UNLANDED),
    Row("HALTED",   "resume",   (caused_by("retries", "errors", "model", "agent", "budget", "conflict"),), (), go(BACK, keep_guidance, FRESH)),
    *flagged_at("LANDING"),
    *answered(),
    *fixed_in("PLAN"),
    *driven(
        STATES,
        halt=go("HALTED", because("agent"), stuck, owes=(write_note,), says="HALTED"),
        unavailable=go("HALTED", because("model"), no_model, zero("agent"), owes=(write_note,), says="HALTED"),
        over=go("HALTED", because("budget"), stuck, zero("agent"), owes=(write_note,), says="HALTED"),
        keep=stuck,
        counts=("retries",),
    ),
    *people(STATES, also=(leave_workspace,)),
)  # fmt: skip


def kind(run: Run[TddData], sent: Sent) -> str:
    """The event that a call causes. A submit is the event of its phase; a reply can make it `complete`, `already` or `test-wrong`."""
    if sent.verb == "due":
        return ""
    if sent.verb == "submit":
        return _submitted(run, sent)
    if sent.verb == "answer":
        return event_of(run, sent) or sent.verb
    return sent.outcome if sent.verb == "outcome" else sent.verb


def _submitted(run: Run[TddData], sent: Sent) -> str:
    if run.state == "PLAN":
        return "complete" if _is_over(run, sent) else "planned"
    if run.state == "RED" and sent.reply.strip().strip('"') == "ALREADY_SATISFIED":
        return "already"
    if run.state == "GREEN" and sent.reply.strip().strip('"') == TEST_WRONG:
        return "test-wrong"
    return run.state.lower() if run.state in ("RED", "GREEN", "REFACTOR") else "submit"


def _is_over(run: Run[TddData], sent: Sent) -> bool:
    """Whether the reply says that no test is left; without a reply, whether every entry of the list is ticked."""
    if not sent.reply.strip():
        return bool(run.data.entries) and all(e.done for e in run.data.entries)
    reply, _ = read_reply(sent.reply)
    return reply is not None and reply.current_test is None


TDD: Table[TddData] = Table(
    name="tdd",
    title="red, green, refactor, one test of the list at a time",
    data=TddData,
    starts=("PLAN", "RED", "GREEN", "REFACTOR"),  # a clone that has only the notes continues where they say
    states=STATES,
    moves=MOVES,
    rows=ROWS,
    kind=kind,
    limits={**ERRORS, "retries": 3, "rewrites": 2},
    broken=go("HALTED", because("errors"), keep_failure, owes=(write_note,), says="HALTED"),
    unproven=unproven,
    facts=facts,
    step=step_shown,
)
