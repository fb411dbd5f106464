"""The gates of a replay on literal values: what a claim says counts only where the trees say it too."""

from typing import Any

import pytest

from detent.evidence.report import Outcome, TestReport
from detent.evidence.source.diff import Changed
from detent.gates import replay, tree
from detent.gates.tests import fails_for_the_product, nothing_broke
from detent.kernel.model import Data, Run, Sent
from tests.looks import LiteralLook

FILE = "tests/test_sum.py"
A, B = f"{FILE}::test_a", f"{FILE}::test_b"
RUN: Run[Data] = Run("r", "verify", "REPLAY", 1, Data())
TEST = Changed(FILE, "modified", "test")
CODE = Changed("src/sum.py", "modified", "production")
PLAN = Changed("PLAN.md", "modified", "production")


def look(changes: tuple[Changed, ...] = (), **more: Any) -> LiteralLook:
    return LiteralLook(RUN, changes=changes, settings={"pr.plan": "PLAN.md"}, **more)


def report(**outcomes: Outcome) -> TestReport:
    return TestReport({f"{FILE}::test_{name}": outcome for name, outcome in outcomes.items()})


@pytest.mark.parametrize(
    ("claimed", "said"),
    [
        ((), None),
        ((A, B), None),
        ((A,), f"the claim leaves out {B}"),
        ((A, B, f"{FILE}::test_c"), f"the claim names {FILE}::test_c, which is not a test that fails now and did not before"),
    ],
    ids=["it names none", "as it is", "one less", "one more"],
)
def test_a_red_is_about_the_tests_that_its_claim_names(claimed: tuple[str, ...], said: str | None) -> None:
    assert replay.tests_are_as_claimed(look(now=report(a="failed", b="failed"), sent=Sent("verify", reply="\n".join(claimed)))) == said


def test_a_verification_is_replayed_over_the_tree_that_its_claim_names() -> None:
    over = {"t7": report(a="failed"), "t8": report(a="passed")}
    seen = look(now=report(a="passed"), laid=over, sent=Sent("verify", value="t7"))
    assert replay.new_tests_failed_over(seen) is None
    seen.sent = Sent("verify", value="t8")
    assert (
        replay.new_tests_failed_over(seen)
        == f"{A} passes even without the new tasks, so nothing is verified; it was claimed over that tree"
    )


@pytest.mark.parametrize(
    ("changes", "before", "bite", "said"),
    [
        ((TEST,), report(b="passed"), True, None),
        ((TEST,), report(b="passed"), False, f"{A} was never seen failing: it was added without a RED step, and no small change to the code makes it fail"),
        ((TEST,), report(a="passed", b="passed"), False, None),
        ((CODE,), report(b="passed"), False, None),
        ((Changed(FILE, "deleted", "test"),), report(b="passed"), False, None),
    ],
    ids=["a small change makes it fail", "none does", "no test is new", "its file is not of this step", "its file went"],
)  # fmt: skip
def test_a_test_that_came_without_a_red_must_notice_something(
    changes: tuple[Changed, ...], before: TestReport, bite: bool, said: str | None
) -> None:
    assert replay.new_tests_can_fail(look(changes, now=report(a="passed", b="passed"), before=before, bite=bite)) == said


HOOK = "def pytest_collection_modifyitems(items):\n    items.clear()\n"
CONFTEST = Changed("tests/conftest.py", "modified", "config")


@pytest.mark.parametrize(
    ("changes", "conftest", "said"),
    [
        ((CODE,), "", None),
        ((CONFTEST,), "import sys\n", None),
        ((CONFTEST,), HOOK, "tests/conftest.py changes how tests are run (`def pytest_collection_modifyitems(items):`)"),
        (
            (Changed("tox.ini", "modified", "config"), Changed("pytest.ini", "modified", "config")),
            "",
            "pytest.ini changed, which decides how tests are run",
        ),
    ],
    ids=["code", "a plain conftest", "a hook", "configuration"],
)
def test_work_that_changes_how_tests_are_run_is_named(changes: tuple[Changed, ...], conftest: str, said: str | None) -> None:
    assert replay.tests_run_as_before(look(changes, files={"tests/conftest.py": conftest})) == said


OPEN = "# Plan\n- feat: sums\n- feat: taxes\n"
DONE = OPEN.replace("sums", "sums [DONE] abcdef1")
OTHER = "is not the plan: at the start of the range that is PLAN.md, and a plan update may change nothing else"


@pytest.mark.parametrize(
    ("changes", "claimed", "before", "now", "said"),
    [
        ((PLAN,), "", OPEN, DONE, None),
        ((PLAN,), "PLAN.md", OPEN, DONE, None),
        ((), "", OPEN, OPEN, None),
        ((PLAN, CODE), "", OPEN, DONE, f"src/sum.py {OTHER}"),
        ((PLAN,), "src/sum.py", OPEN, DONE, f"src/sum.py {OTHER}"),
        ((PLAN,), "", None, DONE, "PLAN.md is new; a plan exists before its entries are done"),
        ((PLAN,), "", OPEN, OPEN.replace("taxes", "no taxes"), "PLAN.md changed in lines other than those of finished entries"),
        ((PLAN,), "", OPEN, f"{DONE}- feat: more\n", "PLAN.md changed in lines other than those of finished entries"),
    ],
    ids=["an entry is done", "and it is claimed", "nothing", "code as well", "another file is claimed", "new", "another entry", "one more"],
)
def test_an_update_of_the_plan_only_says_what_is_done(
    changes: tuple[Changed, ...], claimed: str, before: str | None, now: str, said: str | None
) -> None:
    files = {"PLAN.md": now, **({"GOOD:PLAN.md": before} if before is not None else {})}
    assert replay.only_the_plan_changed(look(changes, files=files, sent=Sent("verify", value=claimed))) == said


def test_what_was_taken_over_and_not_committed_is_proved_by_nothing() -> None:
    assert replay.nothing_changed(look()) is None
    said = replay.nothing_changed(look((CODE,)))
    assert said == "src/sum.py was uncommitted when the run started; a person took it over, and nothing proves it"


LIST = Changed("test-list.md", "modified", "list")


@pytest.mark.parametrize(
    ("changes", "was_red", "now", "phase"),
    [
        ((), True, report(a="failed"), "nothing"),
        ((PLAN,), True, report(a="failed"), "entry"),
        ((LIST,), True, report(a="failed"), "list"),
        ((LIST, TEST), True, report(a="failed"), "red"),
        ((TEST,), True, report(a="passed"), "tests"),
        ((TEST, CODE), True, report(a="passed"), "green"),
        ((CODE,), False, report(a="passed"), "work"),
        ((PLAN, CODE), False, report(a="passed"), "work"),
    ],
)
def test_what_a_step_is_its_trees_say(changes: tuple[Changed, ...], was_red: bool, now: TestReport, phase: str) -> None:
    assert replay.found(look(changes, now=now, before=report(b="passed")), was_red) == phase


def test_a_step_has_to_pass_what_its_trees_say_whatever_is_claimed_of_it() -> None:
    assert {fails_for_the_product, nothing_broke} <= {*replay.gates_of("work", "red")}
    assert tree.tests_frozen in replay.gates_of("plan", "green") and tree.tests_frozen not in replay.gates_of("plan", "list")
