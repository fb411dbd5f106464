"""The `tdd` table: every rule of the workflow by literal values, the gates over a small world in memory. No git, no processes."""

import json
from dataclasses import dataclass, field
from typing import Any, cast

import msgspec
import pytest

from detent.blocks.common import Ground
from detent.evidence.look import Probed
from detent.evidence.report import Outcome, TestReport
from detent.evidence.source.diff import Changed, Rewritten
from detent.gates.judge import judge
from detent.gates.testlist import CurrentTest, ListedTest, read_list, read_reply
from detent.kernel.decide import Decision, decide, refusal
from detent.kernel.model import Evidence, Flag, Found, Run, Sent, Tally
from detent.kernel.walk import problems
from detent.workflows.tdd.tdd_data import Note, TddData, backoff, facts, first_data, from_note, judged_tries, note_of, sort_of
from detent.workflows.tdd.tdd_table import TDD
from tests.looks import LiteralLook

SUBMIT = Sent("submit")
LIST = "# Tests\n\n- [ ] adds two numbers\n- [ ] refuses text\n"
ADDS = CurrentTest("adds two numbers", "tests/test_sum.py", "src/sum.py")
NAMES_ADDS = '{"currentTest": {"description": "adds two numbers", "testFile": "tests/test_sum.py", "implFile": "src/sum.py"}}'
NAMES_NONE = '{"currentTest": null}'
DATA = TddData(
    entries=(ListedTest("adds two numbers"), ListedTest("refuses text")), current=ADDS, feature_request="sums", cycle=1, good_tree="t0"
)
PHASES = ("PLAN", "RED", "GREEN", "REFACTOR")
CRASHED, NO_RED = Sent("agent-failed", by="system", output="no answer"), Found(failed=("no test fails",))


def a_run(state: str, data: TddData = DATA, **more: Any) -> Run[TddData]:
    return Run("r", "tdd", state, 7, data, limits=dict(TDD.limits), **more)


def report(**outcomes: Outcome) -> TestReport:
    return TestReport({f"tests/test_sum.py::{name}": outcome for name, outcome in outcomes.items()})


def passing(*names: str) -> TestReport:
    return TestReport({f"tests/test_sum.py::{name}": "passed" for name in names})


@dataclass
class World(LiteralLook):
    """Everything a gate may look at, as literal values."""

    sent: Sent = SUBMIT
    files: dict[str, str] = field(default_factory=lambda: {"test-list.md": LIST})
    now: TestReport = field(default_factory=lambda: passing("old"))
    before: TestReport = field(default_factory=lambda: passing("old"))


def said(run: Run[TddData], sent: Sent, found: Found | None = None) -> Decision:
    """What is decided on a call, given what was found."""
    on = TDD.kind(run, sent)
    no = refusal(TDD, run, sent, on)
    return decide(TDD, run, sent, None if no else TDD.row(run.state, on), no or found or Found())


def judged(world: World) -> Decision:
    """What is decided on a submit when the real gates look at a world."""
    on = TDD.kind(world.run, world.sent)
    row = TDD.row(world.run.state, on)
    no = refusal(TDD, world.run, world.sent, on)
    assert row is not None
    return decide(TDD, world.run, world.sent, None if no else row, no or judge(row, world))


def data_of(decision: Decision) -> TddData:
    assert isinstance(decision.run.data, TddData)
    return decision.run.data


def run_of(decision: Decision) -> Run[TddData]:
    assert isinstance(decision.run.data, TddData)
    return cast(Run[TddData], decision.run)


def the_flag(decision: Decision, kind: str) -> Flag:
    """The one flag of a kind that the step raised."""
    (flag,) = (each for each in decision.run.flags if each.kind == kind)
    return flag


TEST_ADDED = (Changed("tests/test_sum.py", "added", "test"),)
CODE_ADDED = (Changed("src/sum.py", "added", "production"),)
FAILED = Found(failed=("it fails",), output="AssertionError", tree="t1", evidence=Evidence("report", counts=Tally(passed=1, failed=1)))


def failed_at(run: Run[TddData], found: Found = FAILED) -> Decision:
    return said(run, Sent("submit", summary="an attempt", reply=NAMES_ADDS if run.state == "PLAN" else ""), found)


# -- the form ----------------------------------------------------------------------------------------------------------------


def test_the_walk_over_the_table_finds_no_problem() -> None:
    assert problems(TDD, {"retries": 2, "errors": 2, "agent": 1}) == ()


def test_the_four_phases_are_four_agents_with_a_role_each() -> None:
    assert {s: TDD.states[s].role for s in PHASES} == {"PLAN": "test-list", "RED": "test", "GREEN": "implementing", "REFACTOR": "refactor"}
    assert all(TDD.states[s].actor == "agent" for s in PHASES)
    assert TDD.states["PLAN"].writes == ("test-list.md",)


def test_a_whole_feature_goes_red_green_refactor_until_every_box_is_ticked() -> None:
    one = "- [ ] adds two numbers\n"
    plan = judged(World(a_run("PLAN", first_data("sums", tree="t0")), Sent("submit", reply=NAMES_ADDS), files={"test-list.md": one}))
    red = judged(World(run_of(plan), tree="t2", files={"test-list.md": one}, now=report(old="passed", new="failed"), changes=TEST_ADDED))
    green = judged(
        World(run_of(red), tree="t3", files={"test-list.md": one}, now=passing("old", "new"), before=report(old="passed", new="failed"))
    )
    refactor = judged(World(run_of(green), tree="t4", files={"test-list.md": one}, now=passing("old", "new"), before=passing("old", "new")))
    ticked = {"test-list.md": "- [x] adds two numbers\n"}
    end = judged(World(run_of(refactor), Sent("submit", reply=NAMES_NONE), tree="t5", files=ticked, now=passing("old", "new")))
    assert [d.run.state for d in (plan, red, green, refactor, end)] == ["RED", "GREEN", "REFACTOR", "PLAN", "LANDING"]
    assert [note_of(run_of(d)).cycle_number for d in (plan, red, green, refactor, end)] == [1, 1, 1, 1, 1]
    landed = said(run_of(end), Sent("outcome", by="system", outcome="offered"), Found())
    assert (landed.run.state, landed.owes, TDD.unproven(run_of(landed))) == ("COMPLETE", ("leave_workspace",), ())
    assert data_of(end).entries == (ListedTest("adds two numbers", done=True, proof=refactor.run.seq),)


PASSING = [
    ("PLAN", Sent("submit", reply=NAMES_ADDS), ("commit_judged_tree", "write_note")),
    ("PLAN", Sent("submit", reply=NAMES_NONE), ("commit_judged_tree", "write_note", "publish_claims")),
    ("RED", SUBMIT, ("commit_judged_tree", "write_note")),
    ("RED", Sent("submit", reply="ALREADY_SATISFIED"), ("commit_judged_tree", "write_note", "tick_boxes")),
    ("GREEN", SUBMIT, ("commit_judged_tree", "write_note")),
    ("REFACTOR", SUBMIT, ("commit_judged_tree", "write_note", "tick_boxes")),
]


@pytest.mark.parametrize(("state", "sent", "owes"), PASSING)
def test_a_passed_phase_owes_exactly_one_commit_and_its_note_and_takes_over_the_list(state: str, sent: Sent, owes: tuple[str, ...]) -> None:
    longer = {"test-list.md": LIST + "- [ ] one more\n"}
    passed = said(a_run(state, counts={"retries": 2}), sent, Found(tree="t1", documents=longer))
    assert (passed.status, passed.owes, passed.run.counts) == ("SUCCESS", owes, {})
    assert (data_of(passed).good_tree, data_of(passed).entries[-1]) == ("t1", ListedTest("one more"))


# -- the list and the reply --------------------------------------------------------------------------------------------------


def test_the_list_is_read_as_checkboxes_and_the_rest_is_prose() -> None:
    text = "# Tests\n\nSome words.\n- [ ] one\n  * [x]  two   words \n1. [X] three\n- a remark\n- [docs](x.md)\n```\n- [ ] fenced\n```\n"
    assert read_list(text) == ((ListedTest("one"), ListedTest("two words", done=True), ListedTest("three", done=True)), ())


@pytest.mark.parametrize("line", ["- [] text", "-[ ] text", "- [y] text", "- [ ]", "- [x]text", "[ ] text"])
def test_a_line_that_is_nearly_a_checkbox_is_a_fault_with_its_number(line: str) -> None:
    _, faults = read_list(f"- [ ] one\n{line}\n")
    assert len(faults) == 1
    assert faults[0].startswith("test-list.md:2: a checkbox is written")


def test_an_entry_that_stands_twice_and_a_list_without_checkbox_are_faults() -> None:
    assert "'one' appears twice" in read_list("- [ ] one\n- [x] one\n")[1][0]
    assert "has no checkbox" in read_list("# Tests\n- one\n")[1][0]


def test_the_reply_names_a_test_or_none() -> None:
    reply, fault = read_reply(NAMES_ADDS)
    assert reply is not None
    assert (reply.current_test, fault) == (ADDS, "")
    none, _ = read_reply(NAMES_NONE)
    assert none is not None
    assert none.current_test is None


@pytest.mark.parametrize(
    ("reply", "said_so"),
    [
        ("", "reply is missing"),
        ("done", "cannot be read"),
        ("{}", "currentTest"),
        ('{"test": "adds", "complete": false}', "cannot be read"),
        ('{"currentTest": null, "note": "x"}', "note"),
        ('{"currentTest": null, "currentTest": null}', "appears twice"),
        ('{"currentTest": {"description": "adds", "testFile": "t.py"}}', "implFile"),
        ('{"currentTest": {"description": " ", "testFile": "t.py", "implFile": "i.py"}}', "description: must be"),
        ('{"currentTest": {"description": "a", "testFile": "/t.py", "implFile": "i.py"}}', "testFile: must be a path inside"),
        ('{"currentTest": {"description": "a", "testFile": "t.py", "implFile": "../i.py"}}', "implFile: must be a path inside"),
        ('{"currentTest": {"description": "a", "testFile": "t.py", "implFile": "t.py"}}', "must be another file"),
    ],
)  # fmt: skip
def test_a_reply_of_another_form_is_refused_and_counts_nothing(reply: str, said_so: str) -> None:
    decision = judged(World(a_run("PLAN"), Sent("submit", reply=reply)))
    assert (decision.status, decision.run.state, decision.run.counts) == ("REFUSED", "PLAN", {})
    assert said_so in decision.reasons[0]


@pytest.mark.parametrize(
    ("text", "said_so"),
    [
        (None, "test-list.md is missing"),
        ("- [ ] adds two numbers\n- [x] refuses text\n", "the box of 'refuses text' was ticked"),
        ("- [ ] adds two numbers\n- [ ] refuses words\n", "'refuses text' is no longer in test-list.md"),
        ("- [ ] adds two numbers\n", "'refuses text' is no longer in test-list.md"),
    ],
)
@pytest.mark.parametrize("state", PHASES)
def test_in_every_phase_a_list_that_an_agent_may_not_write_is_refused(state: str, text: str | None, said_so: str) -> None:
    files = {} if text is None else {"test-list.md": text}
    decision = judged(World(a_run(state), Sent("submit", reply=NAMES_ADDS if state == "PLAN" else ""), files=files))
    assert (decision.status, decision.run.state, decision.owes) == ("REFUSED", state, ())
    assert said_so in " ".join(decision.reasons)


def test_entries_may_be_added_and_reordered() -> None:
    text = "- [ ] refuses text\n- [ ] sums nothing to 0\n- [ ] adds two numbers\n"
    decision = judged(World(a_run("PLAN"), Sent("submit", reply=NAMES_ADDS), files={"test-list.md": text}))
    assert decision.run.state == "RED"
    assert [e.text for e in data_of(decision).entries] == ["refuses text", "sums nothing to 0", "adds two numbers"]


@pytest.mark.parametrize("word", [{"steers": ("call it words",)}, {"guidance": "call it words"}])
def test_a_persons_word_allows_rewording_an_open_entry(word: dict[str, Any]) -> None:
    files = {"test-list.md": "- [ ] adds two numbers\n- [ ] refuses words\n"}
    assert judged(World(a_run("PLAN", **word), Sent("submit", reply=NAMES_ADDS), files=files)).run.state == "RED"


def test_a_proved_entry_stays_whatever_a_person_said() -> None:
    proved = TddData(entries=(ListedTest("old", done=True, proof=3), ListedTest("adds two numbers")))
    world = World(
        a_run("PLAN", proved, steers=("tidy up",)), Sent("submit", reply=NAMES_ADDS), files={"test-list.md": "- [ ] adds two numbers\n"}
    )
    assert "it is proved and stays" in judged(world).reasons[0]


def test_the_chosen_test_is_an_open_entry() -> None:
    other = NAMES_ADDS.replace("adds two numbers", "flies")
    assert (
        "is not the text of an open entry; open: adds two numbers" in judged(World(a_run("PLAN"), Sent("submit", reply=other))).reasons[0]
    )


def test_null_has_no_effect_while_a_box_is_open() -> None:
    decision = judged(World(a_run("PLAN"), Sent("submit", reply=NAMES_NONE)))
    assert (decision.status, decision.run.state) == ("REFUSED", "PLAN")
    assert "2 entries are open" in decision.reasons[0]


def test_an_agent_that_ticks_every_box_itself_does_not_complete_the_run() -> None:
    ticked = {"test-list.md": LIST.replace("[ ]", "[x]")}
    decision = judged(World(a_run("PLAN"), Sent("submit", reply=NAMES_NONE), files=ticked))
    assert (decision.status, decision.run.state) == ("REFUSED", "PLAN")
    assert decision.reasons == (
        "the box of 'adds two numbers' was ticked; the machine ticks it once the test is proved; set it back to [ ]",
    )


def test_plan_may_write_the_list_only() -> None:
    decision = judged(World(a_run("PLAN"), Sent("submit", reply=NAMES_ADDS), changes=CODE_ADDED))
    assert (decision.status, decision.run.state, decision.run.counts) == ("FAILURE", "PLAN", {"retries": 1})
    assert decision.reasons == ("src/sum.py changed; PLAN writes test-list.md only",)


@pytest.mark.parametrize(
    ("now", "changes", "said_so"),
    [
        (report(old="failed"), (), "old passed before and fails now"),
        (report(), (), "no test was collected"),
        (passing("old"), CODE_ADDED, "src/sum.py changed"),
    ],
)
def test_completion_is_judged_by_the_tests_too(now: TestReport, changes: tuple[Changed, ...], said_so: str) -> None:
    done, ticked = TddData(entries=(ListedTest("adds", done=True, proof=3),)), {"test-list.md": "- [x] adds\n"}
    decision = judged(World(a_run("PLAN", done), Sent("submit", reply=NAMES_NONE), files=ticked, now=now, changes=changes))
    assert (decision.status, decision.run.state, decision.run.counts) == ("FAILURE", "PLAN", {"retries": 1})
    assert said_so in decision.run.last_error


def test_the_machine_ticks_the_box_at_the_start_of_the_next_plan() -> None:
    decision = said(a_run("REFACTOR"), Sent("submit"), Found(tree="t9", documents={"test-list.md": LIST}))
    assert decision.owes == ("commit_judged_tree", "write_note", "tick_boxes")
    assert data_of(decision).entries[0] == ListedTest("adds two numbers", done=True, proof=8)
    second = NAMES_ADDS.replace("adds two numbers", "refuses text")
    cleared = judged(World(run_of(decision), Sent("submit", reply=second)))
    assert "the box of 'adds two numbers' was cleared" in cleared.reasons[0]
    ticked = {"test-list.md": LIST.replace("[ ] adds", "[x] adds")}
    assert judged(World(run_of(decision), Sent("submit", reply=second), files=ticked)).run.state == "RED"


def test_boxes_that_stood_ticked_before_the_run_are_not_its_to_prove() -> None:
    data = first_data("more sums", "- [x] old\n- [ ] new\n")
    assert data.entries == (ListedTest("old", done=True, before=True), ListedTest("new"))
    assert TDD.unproven(a_run("PLAN", data)) == ("new",)


def test_a_ticked_box_without_proof_is_unproven_and_so_is_an_empty_list() -> None:
    assert TDD.unproven(a_run("PLAN", TddData(entries=(ListedTest("x", done=True),)))) == ("x",)
    assert TDD.unproven(a_run("PLAN", TddData())) == ("test-list.md has no entry",)


# -- the phases --------------------------------------------------------------------------------------------------------------

RED_TESTS = report(old="passed", new="failed")


@pytest.mark.parametrize(
    ("now", "changes", "said_so"),
    [
        (report(), TEST_ADDED, "no test was collected"),
        (passing("old"), TEST_ADDED, "no test fails; write a test"),
        (passing("old", "new"), TEST_ADDED, "new already passes, so nothing needs this step"),
        (RED_TESTS, (*TEST_ADDED, *CODE_ADDED), "a RED step writes tests only"),
        (TestReport({"tests/test_new.py::new": "failed"}), TEST_ADDED, "tests/test_sum.py::old is gone; tests must not be removed"),
        (report(old="skipped", new="failed"), TEST_ADDED, "old ran before and is skipped now"),
    ],
)
def test_red_fails_and_is_tried_again_with_the_reason(now: TestReport, changes: tuple[Changed, ...], said_so: str) -> None:
    decision = judged(World(a_run("RED"), now=now, changes=changes))
    assert (decision.status, decision.run.state, decision.run.counts) == ("FAILURE", "RED", {"retries": 1})
    assert said_so in decision.run.last_error
    assert decision.owes == ("take_back", "write_note")


REWRITTEN = Rewritten("tests/test_sum.py:4", "    assert old() == 1", "    assert old() == 2")


@pytest.mark.parametrize(
    "now",
    [RED_TESTS, report(old="passed", new="failed", pin="passed"), report(old="failed"), report(old="passed", one="failed", two="failed")],
)
def test_red_holds_if_one_test_fails_that_did_not_whatever_its_form(now: TestReport) -> None:
    decision = judged(World(a_run("RED"), now=now, changes=TEST_ADDED))
    assert (decision.status, decision.run.state, decision.run.counts) == ("SUCCESS", "GREEN", {})
    assert [flag for flag in decision.run.flags if flag.level != "note"] == []


def test_a_rewritten_older_test_that_fails_is_red_and_both_versions_are_flagged() -> None:
    decision = judged(World(a_run("RED"), now=report(old="failed"), changes=TEST_ADDED, said_anew=(REWRITTEN,)))
    assert (decision.status, decision.run.state) == ("SUCCESS", "GREEN")
    flag = the_flag(decision, "rewritten-test")
    assert (flag.place, flag.before, flag.after, flag.level) == (*REWRITTEN, "ask")


def test_a_test_that_goes_while_its_file_asks_for_something_else_is_flagged() -> None:
    decision = judged(World(a_run("RED"), now=report(new="failed"), changes=TEST_ADDED))
    assert (decision.status, decision.run.state) == ("SUCCESS", "GREEN")
    flag = the_flag(decision, "rewritten-test")
    assert (flag.sentence, flag.level) == ("tests/test_sum.py::old was removed", "ask")


@pytest.mark.parametrize("state", ["RED", "REFACTOR"])
def test_a_weakened_older_test_that_passes_is_a_failure(state: str) -> None:
    now = RED_TESTS if state == "RED" else passing("old")
    decision = judged(World(a_run(state), now=now, changes=TEST_ADDED, weak=("tests/test_sum.py::old",), said_anew=(REWRITTEN,)))
    assert (decision.status, decision.run.state, decision.run.counts) == ("FAILURE", state, {"retries": 1})
    assert decision.reasons[0].startswith("tests/test_sum.py::old is weakened: it was changed")


@pytest.mark.parametrize("level", ["fail", "note", "allow"])
def test_what_a_flag_weighs_is_configured(level: str) -> None:
    settings = {"flags.rewritten-test": level}
    decision = judged(World(a_run("RED"), now=report(old="failed"), changes=TEST_ADDED, said_anew=(REWRITTEN,), settings=settings))
    seen = [flag.level for flag in decision.run.flags if flag.kind == "rewritten-test"]
    assert (decision.status, seen) == {"fail": ("FAILURE", []), "note": ("SUCCESS", ["note"]), "allow": ("SUCCESS", [])}[level]


def test_a_green_without_a_change_of_code_is_flagged_for_good() -> None:
    decision = judged(World(a_run("GREEN"), now=passing("old", "new"), before=RED_TESTS, changes=()))
    assert (decision.status, decision.run.state) == ("SUCCESS", "REFACTOR")
    flag = the_flag(decision, "no-proof")
    assert (flag.sentence, flag.level, flag.stays) == ("the GREEN step changed no code, so its tests passed without it", "ask", True)
    honest = judged(World(a_run("GREEN"), now=passing("old", "new"), before=RED_TESTS, changes=CODE_ADDED))
    assert (honest.run.state, honest.run.flags) == ("REFACTOR", ())


def test_a_test_that_no_small_change_makes_fail_is_flagged_where_that_is_not_a_failure() -> None:
    seen = Probed(idle=("tests/test_sum.py::new",), tried=4)
    world = World(a_run("GREEN"), now=passing("old", "new"), before=RED_TESTS, changes=CODE_ADDED, probe=seen)
    flag = the_flag(judged(world), "vacuous-test")
    assert (flag.place, flag.level) == ("tests/test_sum.py::new", "ask")
    world.settings = {"flags.vacuous-test": "fail"}
    assert judged(world).status == "FAILURE"


@pytest.mark.parametrize(
    ("now", "changes", "said_so"),
    [
        (RED_TESTS, CODE_ADDED, "new still fails"),
        (report(old="failed", new="passed"), CODE_ADDED, "old passed before and fails now"),
        (passing("old", "new"), (Changed("tests/test_sum.py", "modified", "test"),), "tests are frozen"),
        (passing("old", "new"), (Changed("pytest.ini", "modified", "config"),), "is judged, so it is frozen"),
        (passing("old"), CODE_ADDED, "new is gone; tests must not be removed"),
        (report(old="passed", new="skipped"), CODE_ADDED, "is skipped now"),
        (report(), CODE_ADDED, "no test was collected"),
    ],
)
def test_green_fails_and_is_rolled_back(now: TestReport, changes: tuple[Changed, ...], said_so: str) -> None:
    decision = judged(World(a_run("GREEN"), now=now, before=RED_TESTS, changes=changes))
    assert (decision.status, decision.run.state, decision.run.counts) == ("FAILURE", "GREEN", {"retries": 1})
    assert said_so in decision.run.last_error
    assert decision.owes == ("reset_to_good", "write_note")


@pytest.mark.parametrize(
    ("now", "changes", "bite", "said_so"),
    [
        (report(old="passed", new="failed"), CODE_ADDED, True, "new passed before and fails now"),
        (report(), CODE_ADDED, True, "no test was collected"),
        (passing("new"), CODE_ADDED, True, "old is gone; tests must not be removed"),
        (report(old="skipped", new="passed"), CODE_ADDED, True, "is skipped now"),
        (passing("old", "new"), (Changed("tests/test_sum.py", "modified", "test"),), False, "no longer fails on the tree before"),
    ],
)
def test_refactor_fails_and_is_rolled_back(now: TestReport, changes: tuple[Changed, ...], bite: bool, said_so: str) -> None:
    decision = judged(World(a_run("REFACTOR"), now=now, before=passing("old", "new"), changes=changes, bite=bite))
    assert (decision.status, decision.run.state, decision.run.counts) == ("FAILURE", "REFACTOR", {"retries": 1})
    assert said_so in decision.run.last_error
    assert decision.owes == ("reset_to_good", "write_note")


def test_a_test_that_was_red_before_the_run_may_stay_red_if_a_person_took_it_as_baseline() -> None:
    now, before = report(old="failed", new="passed"), report(old="failed", new="failed")
    accepted = msgspec.structs.replace(DATA, setup=Ground(baseline=("tests/test_sum.py::old",)))
    assert judged(World(a_run("GREEN", accepted), now=now, before=before, changes=CODE_ADDED)).run.state == "REFACTOR"
    assert judged(World(a_run("GREEN"), now=now, before=before, changes=CODE_ADDED)).run.state == "GREEN"


@pytest.mark.parametrize(("state", "sent"), [("PLAN", Sent("submit", reply=NAMES_ADDS)), ("RED", SUBMIT)])
def test_what_failed_before_is_held_against_nobody(state: str, sent: Sent) -> None:
    now = report(old="failed") if state == "PLAN" else report(old="failed", new="failed")
    decision = judged(World(a_run(state), sent, before=report(old="failed"), now=now, changes=TEST_ADDED if state == "RED" else ()))
    assert (decision.status, decision.run.counts) == ("SUCCESS", {})


def test_a_test_that_failed_before_is_no_red() -> None:
    decision = judged(World(a_run("RED"), before=report(old="failed"), now=report(old="failed"), changes=TEST_ADDED))
    assert (decision.status, decision.run.state) == ("FAILURE", "RED")
    assert "old already failed before this step; write a test or an assertion that fails until it is done" in decision.reasons[0]


OLD = "tests/test_sum.py::old"
NEW = "tests/test_new.py"
OWN_REASONS = {
    "a file that does not parse": (NEW, "SyntaxError", "invalid syntax", f"{NEW}:1"),
    "a fixture that nobody wrote": (f"{NEW}::new", "Failed", "fixture 'adder' not found", f"{NEW}:4"),
    "a name that the test forgot": (f"{NEW}::new", "NameError", "name 'ad' is not defined", f"{NEW}:4"),
    "a time-out": (f"{NEW}::new", "Failed", "Timeout (>1.0s) from pytest-timeout.", f"{NEW}:4"),
}
CODE_REASONS = {
    "an assertion": (f"{NEW}::new", "AssertionError", "assert 0 == 3", f"{NEW}:4"),
    "an exception out of the product": (f"{NEW}::new", "KeyError", "'b'", "src/sum.py:9"),
    "a name that the product lacks": (f"{NEW}::new", "NameError", "name 'total' is not defined", "src/sum.py:9"),
    "a wrong number of arguments": (f"{NEW}::new", "TypeError", "add() takes 1 positional argument but 2 were given", f"{NEW}:4"),
}


def failing(test: str, kind: str, message: str, place: str) -> TestReport:
    missing = (test,) if kind == "ImportError" else ()
    return TestReport(
        {OLD: "passed", test: "failed" if "::" in test else "error"},
        {OLD: "tests/test_sum.py", test: NEW},
        messages={test: message},
        kinds={test: kind},
        places={test: place},
        missing_names=missing,
    )


@pytest.mark.parametrize("name", OWN_REASONS)
def test_a_red_test_that_fails_for_a_reason_of_its_own_is_a_failure(name: str) -> None:
    decision = judged(World(a_run("RED"), now=failing(*OWN_REASONS[name]), changes=TEST_ADDED))
    assert (decision.status, decision.run.state) == ("FAILURE", "RED")
    assert "fails because of the test itself, which no code can fix" in decision.reasons[0]
    assert OWN_REASONS[name][2] in decision.reasons[0]


@pytest.mark.parametrize("name", CODE_REASONS)
def test_a_red_test_that_fails_for_a_reason_that_code_can_fix_is_taken_without_a_word(name: str) -> None:
    decision = judged(World(a_run("RED"), now=failing(*CODE_REASONS[name]), changes=TEST_ADDED))
    assert (decision.status, decision.run.state, decision.run.flags) == ("SUCCESS", "GREEN", ())


def test_where_nobody_can_tell_why_a_red_test_fails_it_is_taken_and_noted() -> None:
    accident = (f"{NEW}::new", "ZeroDivisionError", "division by zero", f"{NEW}:4")
    decision = judged(World(a_run("RED"), now=failing(*accident), changes=TEST_ADDED))
    assert (decision.status, decision.run.state) == ("SUCCESS", "GREEN")
    flag = the_flag(decision, "weak-evidence")
    assert (flag.place, flag.level) == (f"{NEW}::new", "note")
    assert "Detent cannot tell whether the code is the cause: ZeroDivisionError: division by zero" in flag.sentence


SATISFIED = Sent("submit", summary="it is there", reply="ALREADY_SATISFIED")


def test_already_satisfied_is_refused_at_the_first_try() -> None:
    decision = judged(World(a_run("RED"), SATISFIED, now=passing("old", "new"), changes=TEST_ADDED))
    assert (decision.status, decision.run.state) == ("REFUSED", "RED")
    assert "from the second try on" in decision.reasons[0]


@pytest.mark.parametrize("reply", ["ALREADY_SATISFIED", ' "ALREADY_SATISFIED"\n'])
def test_already_satisfied_closes_the_entry_from_the_second_try_on(reply: str) -> None:
    sent = Sent("submit", reply=reply)
    decision = judged(World(a_run("RED", counts={"retries": 1}), sent, now=passing("old", "new"), changes=TEST_ADDED))
    assert (decision.status, decision.run.state, decision.run.counts) == ("SUCCESS", "PLAN", {})
    assert data_of(decision).entries[0] == ListedTest("adds two numbers", done=True, proof=8)
    assert decision.owes == ("commit_judged_tree", "write_note", "tick_boxes")
    flag = the_flag(decision, "no-proof")
    assert (flag.place, flag.level, flag.stays) == ("tests/test_sum.py::new", "ask", True)


@pytest.mark.parametrize(
    ("now", "bite", "said_so"),
    [
        (passing("old", "new"), False, "no small change to the code that the entry is about makes the test fail"),
        (passing("old"), True, "no new test was collected"),
        (report(old="passed", new="failed"), True, "new fails"),
        (report(), True, "no test was collected"),
        (passing("new"), True, "old is gone; tests must not be removed"),
        (report(old="skipped", new="passed"), True, "is skipped now"),
    ],
)
def test_already_satisfied_needs_a_new_test_that_passes_and_can_fail(now: TestReport, bite: bool, said_so: str) -> None:
    decision = judged(World(a_run("RED", counts={"retries": 1}), SATISFIED, now=now, changes=TEST_ADDED, bite=bite))
    assert (decision.status, decision.run.state, decision.run.counts) == ("FAILURE", "RED", {"retries": 2})
    assert said_so in decision.reasons[0]


def test_already_satisfied_does_not_excuse_a_box_that_the_agent_ticked() -> None:
    ticked = {"test-list.md": LIST.replace("[ ] adds", "[x] adds")}
    world = World(a_run("RED", counts={"retries": 1}), SATISFIED, files=ticked, now=passing("old", "new"), changes=TEST_ADDED)
    assert (judged(world).status, judged(world).run.state) == ("REFUSED", "RED")


# -- retries, halts, resuming ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("state", PHASES)
def test_a_phase_has_three_retries_and_then_stops_with_a_failure(state: str) -> None:
    run, waits = a_run(state), []
    for _ in range(3):
        decision = failed_at(run)
        assert (decision.status, decision.run.state) == ("FAILURE", state)
        run = run_of(decision)
        waits.append(backoff(run))
    last = failed_at(run, msgspec.structs.replace(FAILED, output="the last output"))
    assert waits == [1, 2, 4]
    assert (last.status, last.run.state, last.run.cause, last.run.back) == ("FAILURE", "HALTED", "retries", state)
    assert ("reset_to_good" in last.owes) == (state in ("GREEN", "REFACTOR"))
    assert "write_note" in last.owes
    assert (note_of(run_of(last)).retry_count, note_of(run_of(last)).error) == (3, "it fails\n\nthe last output")


def test_the_attempts_that_failed_are_kept_for_the_next_briefing_and_forgotten_on_success() -> None:
    decision = failed_at(a_run("GREEN"))
    assert data_of(decision).tried == ("an attempt",)
    after = said(run_of(decision), Sent("submit"), Found(tree="t2"))
    assert (data_of(after).tried, after.run.last_error, after.run.counts) == ((), "", {})


@pytest.mark.parametrize("cause", ["retries", "errors", "model", "agent"])
@pytest.mark.parametrize("back", PHASES)
def test_resume_goes_back_to_where_it_stopped_with_fresh_retries(cause: str, back: str) -> None:
    run = a_run("HALTED", cause=cause, back=back, counts={"retries": 3})
    decision = said(run, Sent("resume", by="human", guidance="look at the sign"))
    assert (decision.status, decision.run.state, decision.run.counts, decision.run.cause) == ("SUCCESS", back, {}, "")
    assert decision.run.guidance == "look at the sign"


def test_an_agent_cannot_resume() -> None:
    assert said(a_run("HALTED", cause="retries", back="RED"), Sent("resume", by="agent")).status == "REFUSED"


def test_three_errors_in_a_row_halt_the_run_and_count_as_no_retry() -> None:
    run = a_run("GREEN")
    for _ in range(2):
        decision = said(run, Sent("submit"), Found(unclear="the runner is gone"))
        assert (decision.status, decision.run.state) == ("ERROR", "GREEN")
        run = run_of(decision)
    last = said(run, Sent("submit"), Found(unclear="the runner is gone"))
    assert (last.status, last.run.state, last.run.cause, last.run.counts, last.owes) == ("HALTED", "HALTED", "errors", {}, ("write_note",))
    assert note_of(run_of(last)).error == "the runner is gone"
    details = note_of(run_of(last)).error_details
    assert details is not None
    assert details.type == "CouldNotVerify"


def test_a_model_that_is_not_there_stops_the_run_at_once() -> None:
    decision = said(a_run("RED"), Sent("no-model", by="system", output="no model claude-x"))
    assert (decision.status, decision.run.state, decision.run.cause, decision.owes) == ("HALTED", "HALTED", "model", ("write_note",))
    details = note_of(run_of(decision)).error_details
    assert details is not None
    assert (details.type, details.message) == ("ModelUnavailable", "no model claude-x")


def test_an_agent_that_keeps_ending_without_an_answer_halts_the_run() -> None:
    run = a_run("RED")
    for tried in (1, 2, 3):
        decision = said(run, Sent("agent-failed", by="system", output="no answer"))
        assert (decision.run.state, decision.run.counts.get("retries")) == ("RED", tried)
        run = run_of(decision)
    last = said(run, Sent("agent-failed", by="system", output="no route", facts={"trouble": "Network"}))
    assert (last.status, last.run.state, last.run.cause, last.run.counts, last.owes) == (
        "HALTED",
        "HALTED",
        "agent",
        {"agent": 3, "retries": 3},
        ("write_note",),
    )
    note = note_of(run_of(last))
    assert note.error_details is not None
    assert (note.error_details.type, note.retry_count) == ("Network", 3)


@pytest.mark.parametrize("most", [0, 1, 3])
@pytest.mark.parametrize("first", ["judged", "crashed"])
def test_attempts_at_a_phase_are_counted_together_whatever_their_sort(most: int, first: str) -> None:
    run, turns = msgspec.structs.replace(a_run("RED"), limits={**TDD.limits, "retries": most}), 0
    while run.state == "RED":
        judged = (first == "judged") == (turns % 2 == 0)
        run = run_of(said(run, SUBMIT, NO_RED) if judged else said(run, CRASHED))
        turns += 1
    assert (run.state, turns) == ("HALTED", most + 1)


def test_an_agent_that_gave_nothing_to_judge_does_not_open_the_way_round_a_failing_test() -> None:
    crashed = run_of(said(a_run("RED"), CRASHED))
    assert judged_tries(crashed) == 0 and facts(crashed)["already"] == "" and facts(crashed)["retries_left"] == "2"
    failed = run_of(said(crashed, SUBMIT, NO_RED))
    assert judged_tries(failed) == 2 and facts(failed)["already"]
    again = run_of(said(failed, CRASHED))
    assert judged_tries(again) == 2 and facts(again)["already"]


def test_a_usage_limit_parks_the_run_and_counts_nothing() -> None:
    decision = said(a_run("RED"), Sent("limited", by="system", not_before="2030-01-01T00:00:00Z"))
    assert (decision.run.state, decision.run.not_before, decision.run.counts) == ("RED", "2030-01-01T00:00:00Z", {})


@pytest.mark.parametrize("state", [*PHASES, "HALTED"])
def test_a_person_can_abort_anywhere(state: str) -> None:
    decision = said(a_run(state, cause="retries", back="RED"), Sent("abort", by="human"))
    assert decision.run.state == "ABORTED"
    assert "snapshot" in decision.owes


@pytest.mark.parametrize(
    ("phase", "counts", "sort"),
    [
        ("RED", Tally(passed=2), "UnexpectedPass"),
        ("RED", Tally(passed=1, failed=1), "TestFailure"),
        ("GREEN", Tally(passed=1, failed=1, errors=1), "TestFailure"),
        ("GREEN", Tally(passed=1, errors=1), "CompilationError"),
        ("GREEN", Tally(errors=1), "CompilationError"),
        ("GREEN", Tally(), "CompilationError"),
        ("GREEN", Tally(passed=2), "RuleBroken"),
    ],
)
def test_failures_are_sorted_by_the_counts_of_the_report(phase: str, counts: Tally, sort: str) -> None:
    assert sort_of(phase, Found(failed=("x",), evidence=Evidence("report", counts=counts))) == sort


def test_a_failure_without_a_test_run_is_a_broken_rule() -> None:
    assert sort_of("GREEN", Found(failed=("x",))) == "RuleBroken"


# -- commits and notes -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "sent", "tree", "subject"),
    [
        ("PLAN", Sent("submit", reply=NAMES_ADDS), "t1", "plan: adds two numbers"),
        ("RED", Sent("submit"), "t1", "test: adds two numbers"),
        ("GREEN", Sent("submit", summary="the sum"), "t1", "feat: adds two numbers"),
        ("GREEN", Sent("submit", summary="Fix the sign"), "t1", "fix: adds two numbers"),
        ("REFACTOR", Sent("submit"), "t1", "refactor: adds two numbers"),
        ("REFACTOR", Sent("submit"), "t0", "refactor: no changes needed"),
    ],
)
def test_the_commit_of_a_phase_is_named_by_it(state: str, sent: Sent, tree: str, subject: str) -> None:
    assert data_of(said(a_run(state), sent, Found(tree=tree))).subject == subject


def test_the_note_is_json_with_the_names_that_were_promised() -> None:
    decision = said(a_run("RED"), Sent("submit"), Found(tree="t1", evidence=Evidence("report", counts=Tally(passed=1, failed=1))))
    assert json.loads(msgspec.json.encode(note_of(run_of(decision)))) == {
        "phase": "RED",
        "nextPhase": "GREEN",
        "cycleNumber": 1,
        "currentTest": {"description": "adds two numbers", "testFile": "tests/test_sum.py", "implFile": "src/sum.py"},
        "completedTests": [],
        "pendingTests": ["refuses text"],
        "testResult": "FAIL",
        "error": None,
        "errorDetails": None,
        "retryCount": 0,
        "featureRequest": "sums",
        "schemaVersion": 1,
    }


def test_the_note_of_a_failed_attempt_tells_the_error_and_the_phase_that_has_to_go_on() -> None:
    red = run_of(said(a_run("RED"), Sent("submit"), Found(tree="t1")))
    note = note_of(run_of(failed_at(red)))
    assert (note.phase, note.next_phase, note.retry_count, note.test_result) == ("RED", "GREEN", 1, "FAIL")
    assert note.error_details is not None
    assert (note.error_details.type, note.error_details.message) == ("TestFailure", "it fails")


def test_a_run_can_be_built_again_from_its_note() -> None:
    run = run_of(said(a_run("RED"), Sent("submit"), Found(tree="t1")))
    note = msgspec.json.decode(msgspec.json.encode(note_of(run)), type=Note)
    data = from_note(note)
    assert note_of(a_run(data.next_phase, data)) == note
    assert {e.text for e in data.entries if not e.done} == {"adds two numbers", "refuses text"}
    assert data.next_phase in TDD.starts
