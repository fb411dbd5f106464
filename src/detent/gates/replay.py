"""The gates of a replay: what must hold again for each phase, judged from the repository alone. Reuses the gates of runs and adds a few.

A claim is not trusted. The trees show what a step is (`found`); the phase that a claim names can only add gates.
"""

from collections.abc import Callable, Mapping
from typing import Any

from detent.evidence.look import FilesLook, Look, MutationLook, RerunLook, SuiteLook
from detent.gates.plan_entries import is_done
from detent.gates.testlist import only_list_changed
from detent.gates.tests import (
    at_least_one_ran,
    canary_held,
    changed_tests_still_bite,
    fails_for_the_product,
    needed,
    none_is_lost,
    nothing_broke,
    old_tests_still_notice,
    red_tests_pass,
    something_needs_this_step,
    test_can_fail,
    turned_tests_fail,
)
from detent.gates.tree import config_frozen, conftest_stays_plain, instructions_kept, only_tests_changed, strays_of_red, tests_frozen
from detent.kernel.table import GateResult

Gate = Callable[[Look[Any]], GateResult]


def tests_are_as_claimed(look: SuiteLook[Any]) -> str | None:
    """The tests that newly fail are the ones that the claim names, where it names any."""
    claimed = frozenset(look.sent.reply.split("\n")) if look.sent.reply else frozenset()
    found = look.outcomes().newly_failing
    if not claimed or claimed == found:
        return None
    return (
        f"the claim names {min(claimed ^ found)}, which is not a test that fails now and did not before"
        if claimed - found
        else f"the claim leaves out {min(found - claimed)}"
    )


def new_tests_failed_over(look: RerunLook[Any]) -> str | None:
    """At least one new test fails on the tree that the task was re-planned from."""
    return needed(look, look.sent.value, "it was claimed over that tree")


def new_tests_can_fail(look: MutationLook[Any]) -> str | None:
    """Tests added without a RED step, in files that this step wrote, fail at least for a small mutation of the code."""
    wrote = {c.path for c in look.changed() if c.sort == "test" and c.how != "deleted"}
    now = look.tests()
    new = sorted(i for i in look.outcomes().pins if now.files.get(i, i.partition("::")[0]) in wrote)
    if not new or look.kills_mutant():
        return None
    return f"{new[0]} was never seen failing: it was added without a RED step, and no small change to the code makes it fail"


def tests_run_as_before(look: FilesLook[Any]) -> str | None:
    """What decides how tests are run is unchanged: in a conftest nothing that decides, and no other configuration of runner, CI or coverage."""
    if fault := conftest_stays_plain(look):
        return fault.partition("; a RED step may")[0]
    wrong = sorted(c.path for c in look.changed() if c.sort == "config" and not c.path.endswith("conftest.py"))
    return f"{wrong[0]} changed, which decides how tests are run" if wrong else None


def only_the_plan_changed(look: FilesLook[Any]) -> str | None:
    """A plan update changes only the file that the base names as its plan, and there only lines that say what is done."""
    path, claimed = look.setting("pr.plan"), look.sent.value
    wrong = sorted(c.path for c in look.changed() if c.path != path)
    if wrong or claimed not in ("", path):
        return f"{wrong[0] if wrong else claimed} is not the plan: at the start of the range that is {path}, and a plan update may change nothing else"
    before, now = look.read(f"GOOD:{path}"), (look.read(path) or "").splitlines()
    if not look.changed() or before is None:
        return None if not look.changed() else f"{path} is new; a plan exists before its entries are done"
    moved = [b for a, b in zip(before.splitlines(), now, strict=False) if a != b and not is_done(b)]
    return f"{path} changed in lines other than those of finished entries" if moved or len(before.splitlines()) != len(now) else None


def nothing_changed(look: FilesLook[Any]) -> str | None:
    """Work taken over at the start of the run was already committed: nothing came in without proof."""
    changed = look.changed()
    return f"{changed[0].path} was uncommitted when the run started; a person took it over, and nothing proves it" if changed else None


def found(look: Look[Any], was_red: bool) -> str:
    """The kind of a step, from its changed files and test outcomes. `was_red`: a test that failed before it should now pass."""
    changed = look.changed()
    paths = {c.path for c in changed}
    if paths <= {look.setting("pr.plan")}:
        return "entry" if paths else "nothing"
    if all(c.sort == "list" for c in changed):
        return "list"
    if not strays_of_red(look):
        return "red" if look.outcomes().newly_failing else "tests"
    return "green" if was_red else "work"


RED_ONLY = (only_tests_changed, conftest_stays_plain)
OLD_TESTS = (none_is_lost, old_tests_still_notice)
KEPT = (at_least_one_ran, canary_held, none_is_lost, nothing_broke)
PROVED = (*KEPT, red_tests_pass)
RED = (*RED_ONLY, at_least_one_ran, canary_held, something_needs_this_step, fails_for_the_product, *OLD_TESTS)
GREEN = (tests_frozen, config_frozen, *PROVED, turned_tests_fail)
WORK = (*PROVED, old_tests_still_notice)
CLAIMED: Mapping[str, tuple[Gate, ...]] = {
    "plan": (only_list_changed, none_is_lost, nothing_broke),
    "complete": (only_list_changed, *PROVED),
    "red": (*RED, tests_are_as_claimed),
    "verify": (*RED_ONLY, at_least_one_ran, canary_held, new_tests_failed_over, *OLD_TESTS),
    "already": (*RED_ONLY, *KEPT, test_can_fail),
    "green": GREEN,
    "refactor": (*PROVED, config_frozen, old_tests_still_notice, changed_tests_still_bite, turned_tests_fail, new_tests_can_fail),
    "entry": (only_the_plan_changed, *PROVED),
    "work": WORK,
    "adopted": (nothing_changed,),
    "merge": PROVED,
}  # fmt: skip
FOUND: Mapping[str, tuple[Gate, ...]] = {
    "nothing": (none_is_lost, nothing_broke),
    "list": (none_is_lost, nothing_broke),
    "entry": (only_the_plan_changed, *PROVED),
    "red": RED,
    "tests": (*RED_ONLY, at_least_one_ran, canary_held, *OLD_TESTS),
    "green": GREEN,
    "work": WORK,
    "merge": PROVED,
}
DOUBTS = (tests_run_as_before, changed_tests_still_bite, turned_tests_fail)  # of work: listed beside code without a RED, and fails only
# where a RED is required: a run does not ask it of honest work


def gates_of(claimed: str, found: str) -> tuple[Gate, ...]:
    """The gates that a step must pass: those of its claimed phase and those of what its trees show."""
    return tuple(dict.fromkeys((*CLAIMED[claimed], *FOUND[found], instructions_kept)))
