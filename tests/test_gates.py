"""Gates on literal values: what each says of a run of tests, of a change, of a call and of a review, and what it lets through."""

from typing import Any

import pytest

from detent.errors import CannotTell
from detent.evidence.look import Branch
from detent.evidence.outcomes.card import Card
from detent.evidence.report import Outcome, TestReport
from detent.evidence.source.diff import Changed
from detent.gates.command_gates import rewriting_is_flagged
from detent.gates.judge import flags_in, judge, weighed_card
from detent.gates.plan import ActivePr, PlanData, PlannedStep, PlanTask
from detent.gates.review_gates import review_is_independent, review_is_readable
from detent.gates.tests import (
    fails_again,
    new_tests_failed_before,
    none_is_lost,
    nothing_broke,
    passes_when_clean,
    product_changed,
    red_tests_pass,
    selection_fails,
    selection_is_some,
    selection_passes,
)
from detent.gates.tree import BACK, examples_flagged, strays_of_green, toolchain_kept, tree_is_clean
from detent.kernel.model import Data, Flag, OwnGate, Run, Sent
from detent.kernel.table import GateResult, Row, go
from detent.workflows.pr.pr_data import PrData
from detent.workflows.tdd.tdd_data import TddData
from tests.looks import LiteralLook

FILE = "tests/test_sum.py"
A, B = f"{FILE}::test_a", f"{FILE}::test_b"
RUN: Run[Data] = Run("r", "pr", "EXECUTING_TDD", 3, Data())
NO_REPORT = "no report was written"
LOOSE = TestReport({A: "passed", B: "passed"}, canary="broken", canary_said="the test that must fail passed")
TAMPERED = "the test runner was tampered with: the test that must fail passed"
NONE = "the test command selects no test"


def report(a: Outcome | None = None, b: Outcome | None = None, **more: Any) -> TestReport:
    found: dict[str, Outcome | None] = {A: a, B: b}
    return TestReport({test: outcome for test, outcome in found.items() if outcome}, **more)


# -- tests -----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("second", "said"),
    [
        (report("failed"), None),
        (
            report("passed"),
            f"{A} is flaky: it failed, then passed when run again on the same tree; a flaky test is no evidence",
        ),
        (report("failed", fault=NO_REPORT), NO_REPORT),
        (LOOSE, TAMPERED),
    ],
    ids=["it fails again", "it passes", "without a report", "tampered with"],
)
def test_a_new_failure_must_be_seen_a_second_time_in_a_run_that_can_be_believed(second: TestReport, said: str | None) -> None:
    assert fails_again(LiteralLook(RUN, now=report("failed"), second=second)) == said


def verifying(tree: str = "t7") -> Run[PlanData]:
    steps = (PlannedStep("RED", "it adds"), PlannedStep("GREEN", "it adds"))
    plan = ActivePr("PLAN.md", "feat: sums", "s", "v", (PlanTask("check", steps, verifies=tree),))
    return Run("r", "pr", "EXECUTING_TDD", 3, PlanData(plan=plan))


@pytest.mark.parametrize(
    ("now", "over", "said"),
    [
        (report("passed"), report("passed"), "no test is new; write one: test the original goal"),
        (
            report("passed", "passed"),
            report("passed", "passed"),
            f"{B} passes even without the new tasks, so nothing is verified; test the original goal",
        ),
        (report("passed", "passed"), report("passed", "failed"), None),
        (report("passed", "passed"), TestReport({FILE: "error"}, {FILE: FILE}), None),
        (report("passed", "passed"), report("passed"), None),
    ],
    ids=["none is new", "it passes there too", "it fails there", "its file cannot be loaded there", "it is not there"],
)
def test_a_task_that_verifies_others_needs_a_new_test_that_does_not_pass_on_the_tree_before_them(
    now: TestReport, over: TestReport, said: str | None
) -> None:
    assert new_tests_failed_before(LiteralLook(verifying(), now=now, before=report("passed"), laid={"t7": over})) == said


def test_a_green_that_only_verifies_what_others_did_needs_no_code() -> None:
    assert product_changed(LiteralLook(verifying())) is None
    (flag,) = flags_in(product_changed(LiteralLook(verifying(""))))
    assert (flag.kind, flag.sentence) == ("no-proof", "the GREEN step changed no code, so its tests passed without it")


def unloaded(kind: str, message: str, missing: bool = False) -> TestReport:
    return TestReport(
        {FILE: "error"}, {FILE: FILE}, (FILE,) if missing else (), kinds={FILE: kind}, messages={FILE: message}, places={FILE: f"{FILE}:1"}
    )


@pytest.mark.parametrize(
    ("now", "said"),
    [
        (report("passed"), ()),
        (report("passed", fault=NO_REPORT), NO_REPORT),
        (report("skipped"), f"{A} ran before and is skipped now; do not skip tests"),
        (
            unloaded("SyntaxError", "invalid syntax"),
            f"{FILE} can no longer be loaded, so its tests are lost: SyntaxError: invalid syntax ({FILE}:1): the test file does not parse",
        ),
        (unloaded("ModuleNotFoundError", "No module named 'shapes'", missing=True), ()),
        (TestReport({"tests/test_c.py::test_c": "passed"}), f"{A} is gone; tests must not be removed"),
    ],
    ids=["kept", "no report", "skipped", "no Python", "code to be written", "gone"],
)
def test_an_older_test_is_lost_where_nothing_that_is_written_as_code_could_bring_it_back(now: TestReport, said: GateResult) -> None:
    assert none_is_lost(LiteralLook(RUN, now=now, before=report("passed"))) == said


GO = 'package calc\n\nimport "testing"\n\nfunc same(t *testing.T, a, b int) {}\n'
GO_TEST = f"{GO}\nfunc TestSame(t *testing.T) {{}}\n"
HELPER = "calc/helper_test.go"


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({f"GOOD:{HELPER}": GO, HELPER: GO}, ()),
        ({f"GOOD:{HELPER}": GO_TEST, HELPER: GO}, f"{HELPER} is gone; tests must not be removed"),
        ({f"GOOD:{HELPER}": GO}, f"{HELPER} is gone; tests must not be removed"),
    ],
    ids=["it declares no test", "it declared one", "it is deleted"],
)
def test_a_file_of_go_that_could_not_be_built_is_lost_only_with_tests_of_its_own(files: dict[str, str], said: GateResult) -> None:
    before = TestReport({HELPER: "error"}, {HELPER: HELPER})
    now = TestReport({"calc/calc_test.go::TestAdd": "passed"}, {"calc/calc_test.go::TestAdd": "calc/calc_test.go"})
    assert none_is_lost(LiteralLook(RUN, now=now, before=before, files=files)) == said


@pytest.mark.parametrize(
    ("second", "end"),
    [
        (report("failed"), ""),
        (report("passed"), f"; {A} is flaky: it passed when run again on the same tree"),
        (CannotTell("the tests cannot be run now"), ""),
    ],
    ids=["it fails again", "it passes again", "it cannot be run again"],
)
def test_what_broke_stays_broken_whether_or_not_it_can_be_run_again(second: TestReport | CannotTell, end: str) -> None:
    now = report("failed", kinds={A: "AssertionError"}, messages={A: "assert 1 == 2"})
    look = LiteralLook(RUN, now=now, before=report("passed"), second=second)
    assert nothing_broke(look) == f"{A} passed before and fails now: AssertionError: assert 1 == 2{end}"


@pytest.mark.parametrize(
    ("picked", "some", "passes", "fails"),
    [
        (report("failed", "passed"), None, f"{A} fails", None),
        (report(None, "passed"), None, None, f"all selected tests pass; select the one that fails: {A}"),
        (report(), NONE, NONE, NONE),
        (LOOSE, TAMPERED, TAMPERED, TAMPERED),
        (report("failed", fault=NO_REPORT), None, NO_REPORT, NO_REPORT),
    ],
    ids=["it fails", "it passes", "none", "tampered with", "without a report"],
)
def test_the_tests_that_an_agent_selects_are_some_and_end_as_the_step_expects(
    picked: TestReport, some: str | None, passes: str | None, fails: str | None
) -> None:
    look = LiteralLook(RUN, now=report("failed", "passed"), before=report(None, "passed"), picked=picked)
    assert (selection_is_some(look), selection_passes(look), selection_fails(look)) == (some, passes, fails)


def test_a_clean_checkout_is_asked_for_where_the_project_says_how_it_is_tested() -> None:
    assert passes_when_clean(LiteralLook(RUN, now=report("failed"))) == f"in a clean checkout of the tree, {A} fails"
    assert passes_when_clean(LiteralLook(RUN, now=report("failed"), runs_clean=False)) is None


# -- trees -----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "frozen"),
    [
        (Changed("tests/test_sum.py", "modified", "test"), True),
        (Changed("src/sum.rs", "modified", "production", inside=True), True),
        (Changed("src/sum.py", "modified", "production", inside=True), False),
        (Changed("src/sum.py", "modified", "production"), False),
        (Changed("pytest.ini", "modified", "config"), True),
        (Changed("tox.ini", "modified", "config"), False),
        (Changed("PLAN.md", "modified", "production"), True),
    ],
    ids=["a test", "tests in code", "examples in docstrings", "code", "configuration", "configuration that a person named", "the plan"],
)
def test_a_green_step_that_is_put_right_gives_back_tests_configuration_and_plan(change: Changed, frozen: bool) -> None:
    run: Run[PlanData] = Run("r", "pr", "EXECUTING_TDD", 3, PlanData(), steers=("tox.ini may change",))
    assert strays_of_green(LiteralLook(run, changes=(change,), settings={"pr.plan": "PLAN.md"})) == ([change.path] if frozen else [])


DOC = '"""Sums.\n\n>>> add(1, 2)\n3\n"""\n\n\ndef add(a, b):\n    return a + b\n'


@pytest.mark.parametrize(
    ("new", "inside", "flagged"),
    [
        (DOC.replace("3\n", "3\n>>> add(2, 2)\n4\n"), True, False),
        (DOC.replace("3\n", "4\n"), True, True),
        (DOC.replace(">>> add(1, 2)\n3\n", ""), True, True),
        (DOC.replace("3\n", "4\n"), False, False),
    ],
    ids=["one more", "changed", "taken out", "of code that is not run as a test"],
)
def test_an_example_that_comes_with_its_code_is_taken_and_one_that_changes_is_flagged(new: str, inside: bool, flagged: bool) -> None:
    look = LiteralLook(
        RUN, files={"GOOD:sum.py": DOC, "sum.py": new}, changes=(Changed("sum.py", "modified", "production", inside=inside),)
    )
    flag = Flag("rewritten-test", "examples in sum.py were changed together with its code", "sum.py")
    assert examples_flagged(look) == ((flag,) if flagged else ())


def test_a_checkpoint_is_taken_once_everything_is_committed() -> None:
    assert tree_is_clean(LiteralLook(RUN)) is None
    said = tree_is_clean(LiteralLook(RUN, on=Branch(clean=False)))
    assert said == "there are uncommitted changes; commit them as the briefing says"


# -- what is installed -------------------------------------------------------------------------------------------------------------

LOCK = {"BASE:uv.lock": "pytest 8", "uv.lock": "pytest 9"}


@pytest.mark.parametrize(
    ("packages", "files", "flag"),
    [
        ((), LOCK, None),
        (
            None,
            LOCK,
            Flag("toolchain", f"Detent no longer knows what was installed for the tests when the run began: the record was removed. {BACK}", level="fail"),
        ),
        (("pytest/a.py", "pytest/b.py"), LOCK, Flag("toolchain", "pytest/a.py and 1 more changed together with uv.lock; the tests use it", "pytest/a.py")),
        (("pytest/a.py",), {}, Flag("toolchain", f"pytest/a.py changed since the run began, but no lock file did; the tests use it. {BACK}", "pytest/a.py", level="fail")),
    ],
    ids=["as it was", "its record is gone", "with a lock file", "by itself"],
)  # fmt: skip
def test_an_installed_runner_that_changed_is_asked_about_with_its_lock_file_and_fails_without(
    packages: tuple[str, ...] | None, files: dict[str, str], flag: Flag | None
) -> None:
    look = LiteralLook(RUN, packages=packages, files=files, now=report("passed"), before=report("passed"))
    assert toolchain_kept(look) == flag
    found = judge(Row("GREEN", "green", (), (red_tests_pass,), go("DONE")), look)
    failing = flag is not None and flag.level == "fail"
    assert found.failed == ((f"{flag.sentence} (toolchain)",) if flag and failing else ())
    assert found.flagged == ((flag,) if flag and not failing else ())


# -- calls -----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("data", [PrData(test_wrong="a" * 40), TddData(test_wrong="a" * 40)], ids=["pr", "tdd"])
def test_a_test_that_was_rewritten_after_code_was_tried_is_flagged_for_good_with_both_versions(data: Data) -> None:
    (flag,) = flags_in(rewriting_is_flagged(LiteralLook(Run("r", "x", "RED", 3, data), tree="b" * 40)))
    assert (flag.kind, flag.before, flag.after, flag.stays) == ("rewritten-test", "tree aaaaaaaaaaaa", "tree bbbbbbbbbbbb", True)
    assert flag.sentence.endswith("both versions are kept: git diff aaaaaaaaaaaa bbbbbbbbbbbb")
    assert rewriting_is_flagged(LiteralLook(Run("r", "x", "RED", 3, type(data)()), tree="b" * 40)) is None


# -- reviews ---------------------------------------------------------------------------------------------------------------------

MINE = Sent("submit", findings="[]")
THEIRS = Sent("outcome", by="system", findings="[]")


@pytest.mark.parametrize(
    ("sent", "settings", "said"),
    [
        (MINE, {}, None),
        (MINE, {"review.agent": "command:review"}, "a reviewer is configured ([review] agent), so you cannot report the review"),
        (MINE, {"review.require_independent": "true"}, "an independent review is required here (review.require_independent)"),
        (THEIRS, {"review.agent": "command:review", "review.require_independent": "true"}, None),
    ],
    ids=["anybody's will do", "a reviewer is configured", "one is required", "by the reviewer"],
)
def test_an_agent_reports_its_own_review_only_where_nobody_else_is_to_review(
    sent: Sent, settings: dict[str, str], said: str | None
) -> None:
    found = review_is_independent(LiteralLook(RUN, sent, settings=settings))
    assert found is None if said is None else found is not None and found.startswith(said)


@pytest.mark.parametrize(
    ("findings", "said"),
    [
        ("[]", None),
        ('[{"taskName": "name it"}]', None),
        ("  ", "the review is empty; an approval is written as [] or "),
        ("LGTM", "the review cannot be read as {findings: […]}, as a list of findings, or as a list of tasks: "),
    ],
)
def test_a_review_that_cannot_be_read_approves_nothing(findings: str, said: str | None) -> None:
    found = review_is_readable(LiteralLook(RUN, Sent("submit", findings=findings)))
    assert found is None if said is None else found is not None and found.startswith(said)


# -- judging ---------------------------------------------------------------------------------------------------------------------

SIZE = OwnGate("size", "./size.sh")
LATER = OwnGate("later", "./later.sh", at=("land",))
WORDS = Flag("gate", "words: failed", level="ask")


@pytest.mark.parametrize(
    ("said", "failed", "flagged", "gate"),
    [
        (None, (), (), ""),
        ("size: failed with exit code 1", ("size: failed with exit code 1",), (), "gate size"),
        (WORDS, (), (WORDS,), ""),
    ],
    ids=["it holds", "it fails", "it flags"],
)
def test_a_gate_of_the_project_is_one_of_the_steps_own_and_known_by_its_name(
    said: GateResult, failed: tuple[str, ...], flagged: tuple[Flag, ...], gate: str
) -> None:
    look = LiteralLook(RUN, now=report("passed"), before=report("passed"), own={SIZE: said, LATER: "nobody asked"})
    found = judge(Row("GREEN", "green", (), (red_tests_pass,), go("DONE")), look)
    assert (found.failed, found.flagged, found.gate) == (failed, flagged, gate)
    assert found.held == (() if failed else ("red_tests_pass", "gate size"))


def test_a_flag_that_must_fail_is_a_failure_of_the_card_that_begins_with_its_place() -> None:
    flags = (
        Flag("binaries", "a binary file was added", "a.png"),
        Flag("secrets", "calc.py:3 contains what looks like a key", "calc.py:3"),
        Flag("big-files", "it is large", "b.bin"),
        Flag("unnoticed", "no test notices it", "calc.py"),
    )
    card = Card("t0", "t1", failed=("it broke",), flags=flags)
    found = weighed_card(card, {"flags.binaries": "fail", "flags.secrets": "fail", "flags.big-files": "allow"})
    assert found.failed == ("it broke", "a.png: a binary file was added (binaries)", "calc.py:3 contains what looks like a key (secrets)")
    assert found.flags == flags[3:]
