"""Gates over test evidence: what must fail, what must pass, and that nothing was lost on the way."""

import re

from detent.errors import CannotTell
from detent.evidence.canary import TAMPERED
from detent.evidence.look import Look, Probed, TestReport
from detent.gates.branch import on_its_branch
from detent.gates.command import expects_fail, real_test_command
from detent.gates.plan import PlanData, verified_from
from detent.gates.tree import files_are_ours
from detent.kernel.model import Data, Flag
from detent.kernel.rows import Said


def _first(ids: frozenset[str], more: str = "") -> str:
    rest = f" and {len(ids) - 1} more" if len(ids) > 1 else ""
    return f"{min(ids)}{rest}{more}"


def at_least_one_ran(look: Look[Data]) -> str | None:
    """At least one test was collected and run; zero tests are no evidence."""
    seen = look.tests()
    if seen.fault:
        return seen.fault
    return None if seen.ids else "no test was collected, so nothing is proved"


def canary_held(look: Look[Data]) -> str | None:
    """Tests of the machine's own in the same run came back as they must: one failed, one passed."""
    return _tampered(look.tests()) or None


def _tampered(report: TestReport) -> str:
    return f"{TAMPERED}: {report.canary_said}" if report.canary == "broken" else ""


def new_tests_fail(look: Look[Data]) -> str | None:
    """At least one test is new, and every new test fails."""
    now, before = look.tests(), look.tests_before()
    new = now.ids - before.ids
    if not new:
        return "no new test was collected; write a test that fails for this step"
    passing = new - now.bad
    return f"{_first(passing)} passes already, so it proves nothing; test what is not there yet" if passing else None


SIGNATURE = re.compile(
    r"unexpected keyword argument|missing \d+ required|takes .*argument"
)  # what Python says of a call that does not fit yet
EXPECTED = ("AssertionError", "Failed", "NameError", "ImportError", "ModuleNotFoundError", "AttributeError", "NotImplementedError", "")


def fails_for_a_reason(look: Look[Data]) -> str | None:
    """Every new test fails on an assertion, or on a name that the tree does not have yet."""
    now = look.tests()
    for test in sorted((now.ids - look.tests_before().ids) & now.bad):
        kind = now.kinds.get(test, "").rpartition(".")[2]
        missing = test in now.missing_names
        fits = kind in EXPECTED or SIGNATURE.search(now.messages.get(test, ""))
        if not missing and (now.outcomes[test] == "error" or not fits):
            return f"{test} does not fail on an assertion or on a missing name, but with {kind or 'an error outside the test'}"
    return None


def fails_again(look: Look[Data]) -> str | None:
    """Every new test fails again when it is run once more on the same tree: a flaky test is no evidence."""
    new = (look.tests().ids - look.tests_before().ids) & look.tests().bad
    again = look.again(new)
    if wrong := again.fault or _tampered(again):
        return wrong
    calm = new - again.bad
    return f"{_first(calm)} is flaky: it failed, and run again on the same tree it did not; a flaky test is no evidence" if calm else None


MOST_AGAIN = 20  # failures that are run once more; where more fail, none of them is called flaky


def _flaky(look: Look[Data], bad: frozenset[str]) -> str:
    """Which of the tests that failed did not when they were run once more on the same tree, as the end of a sentence."""
    if len(bad) > MOST_AGAIN:
        return ""
    try:
        calm = bad & look.again(bad, watched=False).having("passed")
    except CannotTell:
        return ""  # what was seen stands
    return f"; {_first(calm)} is flaky: run again on the same tree it passed" if calm else ""


def base_was_green(look: Look[Data]) -> str | None:
    """The tests passed before the step, or the failures were accepted as a baseline when the run started."""
    bad = look.tests_before().bad - look.baseline()
    if not bad:
        return None
    return f"{_first(bad)} failed before this step already; mend it first, or start with --baseline to accept what fails"


def starts_from_green(look: Look[PlanData]) -> str | None:
    """The tests passed before the step. Looked at only for a call that fits: for any other, nothing is run."""
    misfits = any(gate(look) for gate in (files_are_ours, on_its_branch, expects_fail, real_test_command))
    return None if misfits else base_was_green(look)


def new_tests_failed_before(look: Look[PlanData]) -> str | None:
    """At least one test is new, and every new test fails on the tree that the task was re-planned from."""
    new = look.tests().ids - look.tests_before().ids
    if not new:
        return "no new test was collected; write a test that verifies the original goal"
    bad = look.tests_laid_over(verified_from(look.run.data.plan)).bad
    passing = frozenset(i for i in new if i not in bad and i.partition("::")[0] not in bad)
    return f"{_first(passing)} passes without the new tasks too, so it verifies nothing; test the original goal" if passing else None


def selection_is_some(look: Look[Data]) -> str | None:
    """The test command selects at least one test."""
    return _tampered(look.selected()) or (None if look.selected().ids else "the test command selects no test")


def others_pass(look: Look[Data]) -> str | None:
    """Every test that is not new ends as it did before, and none is lost."""
    now, before = look.tests(), look.tests_before()
    broken = (now.bad & before.ids) - before.bad
    if broken:
        return f"{_first(broken)} passed before and fails now{_flaky(look, broken)}"
    if skipped := (now.having("skipped") & before.ids) - before.having("skipped"):
        return f"{_first(skipped)} ran before and is skipped now"
    lost = _lost(before, now) - _waiting(before, now)
    return f"{_first(lost)} is no longer collected" if lost else None


def _waiting(before: TestReport, now: TestReport) -> frozenset[str]:
    """Tests of a file that cannot be loaded for a name that is not there yet: their words are compared instead."""
    unloaded = {file for file in now.missing_names if file in now.files.values()}
    return frozenset(i for i in before.ids if before.files.get(i) in unloaded)


def others_unchanged(look: Look[Data]) -> str | None:
    """The tests that were there before say what they said: a RED step adds tests."""
    said = look.reworded()
    return f"{_first(frozenset(said))} was changed; a RED step adds tests, and a refactoring may change them" if said else None


def all_pass(look: Look[Data]) -> str | None:
    """Every collected test passes, but for those whose failure was accepted when the run started."""
    bad = look.tests().bad - look.baseline()
    return f"{_first(bad)} fails{_flaky(look, bad)}" if bad else None


def selection_passes(look: Look[Data]) -> str | None:
    """The tests the agent selected were run and pass."""
    picked = look.selected()
    if wrong := picked.fault or _tampered(picked) or ("" if picked.ids else "the test command selects no test"):
        return wrong
    return f"{_first(picked.bad)} fails" if picked.bad else None


def selection_fails(look: Look[Data]) -> str | None:
    """The tests the agent selected were run and at least one fails."""
    picked = look.selected()
    if wrong := picked.fault or _tampered(picked) or ("" if picked.ids else "the test command selects no test"):
        return wrong
    return None if picked.bad else "the selected tests all pass; the RED step needs a test that fails"


def collected_not_shrunk(look: Look[Data]) -> str | None:
    """No test that was collected before is gone."""
    lost = _lost(look.tests_before(), look.tests())
    return f"{_first(lost)} is no longer collected; tests may not be lost" if lost else None


def _lost(before: TestReport, now: TestReport) -> frozenset[str]:
    """Tests that are gone. A file that could not be collected stands for its tests, once it can; a test for the subtests it got."""
    gone = frozenset(i for i in before.ids - now.ids if i not in now.files.values())
    return frozenset(i for i in gone if not any(other.startswith(f"{i}/") for other in now.ids))


def skips_not_risen(look: Look[Data]) -> str | None:
    """No test that ran before is skipped now."""
    skipped = look.tests().having("skipped") - look.tests_before().having("skipped")
    return f"{_first(skipped)} is skipped now; tests may not be skipped" if skipped else None


def changed_tests_still_bite(look: Look[Data]) -> str | None:
    """Tests changed in a refactoring, or that lean on a changed file, still fail on the tree before their GREEN, and against a small mutation if they did."""
    if not any((c.sort == "test" or c.path.endswith("conftest.py")) and c.how != "deleted" for c in look.changed()):
        return None
    return (
        None
        if look.bites()
        else "the changed test no longer fails on the tree before the code was written, or against a small change of it"
    )


def test_can_fail(look: Look[Data]) -> str | None:
    """The test fails against at least one small mutation of the implementation."""
    return None if look.bites_mutant() else "the test fails against no small change of the code, so it proves nothing"


def turned_tests_fail(look: Look[Data]) -> str | None:
    """Each test that the code was written for fails when it is made to expect something else; with `evidence.mutation` off, that is not asked."""
    if look.setting("evidence.mutation") not in PROBING or not (agree := look.agreeing()):
        return None
    return (
        f"{_first(frozenset(agree))} also passes when it expects something else: the code's answer is equal to everything, or is not looked at. "
        "Write code whose answer counts; if the test itself looks away, a person can go back to before it (`detent rollback`)"
    )


def new_tests_kill_mutants(look: Look[Data]) -> Said:
    """Each test that the code was written for fails against a small mutation of that code; `evidence.mutation` says how much that counts."""
    how = look.setting("evidence.mutation")
    if how not in PROBING:
        return None
    seen = look.probed()
    idle = (
        f"{_first(frozenset(seen.idle))} kills no mutant of the code written for it ({seen.tried} tried); it may prove nothing"
        if seen.idle
        else ""
    )
    return _counts(how, seen, idle, "vacuous-test")


def refactoring_is_tested(look: Look[Data]) -> Said:
    """Some test fails against a small mutation of the code that a refactoring wrote; `evidence.mutation` says how much that counts."""
    how = look.setting("evidence.mutation")
    if how not in PROBING:
        return None
    seen = look.refactored()
    idle = f"no test fails against a small change of what was rewritten ({_first(frozenset(seen.idle))})" if seen.idle else ""
    return _counts(how, seen, idle, "unnoticed")


PROBING = ("warn", "require")


def _counts(how: str, seen: Probed, idle: str, kind: str) -> Said:
    """What a probe is worth. A pass that only this folder gives is none; the rest is a flag, or a failure where it is required, and then not
    to know is no pass either."""
    if seen.apart:
        return (
            f"{_first(frozenset(seen.apart))} passes here and not in a clean checkout of what you hand in: it needs a file that is not part "
            "of the change; make it a part, or do without it"
        )
    said = f"whether the tests prove anything could not be probed: {seen.why}" if seen.why else idle
    if seen.why and how == "require":
        more = 'evidence.mutation = "require" asks for it, so write tests and code that can be probed, or let a person set it to "warn"'
        raise CannotTell(f"{said}; {more}")
    return said if how == "require" or not said else Flag(kind, said, min(seen.idle, default=""))


def passes_when_clean(look: Look[Data]) -> str | None:
    """The tests pass in a clean checkout of the tree, where nothing else lies."""
    if (seen := look.tests_when_clean()) is None:
        return None
    wrong = seen.fault or _tampered(seen) or ("" if seen.ids else "no test was collected")
    bad = seen.bad - look.baseline()
    return f"in a clean checkout of the tree, {wrong or f'{_first(bad)} fails'}" if wrong or bad else None


def preflight_passes(look: Look[Data]) -> str | None:
    """The project's preflight commands pass on this tree."""
    return look.preflight()
