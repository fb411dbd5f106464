"""Gates over tests. What became of each test is decided by evidence/outcomes; a gate has no notion of proof of its own."""

from detent.errors import CannotTell
from detent.evidence.look import BaselineLook, ChangeLook, MutationLook, Probed, RerunLook, SubmitLook, SuiteLook
from detent.evidence.outcomes.outcomes import MOST_AGAIN, describe_flaky, describe_weakened, file_of
from detent.evidence.report import TestReport
from detent.evidence.running.canary import TAMPERED
from detent.gates.plan import PlanData, is_verification, verified_from
from detent.gates.tree import asked
from detent.kernel.model import Data, Flag
from detent.kernel.table import GateResult

Ids = frozenset[str]
MOST_REASONS = 50  # failing tests whose reasons are checked


def _first(ids: Ids, more: str = "") -> str:
    rest = f" and {len(ids) - 1} more" if len(ids) > 1 else ""
    return f"{min(ids)}{rest}{more}"


def _fails(ids: Ids) -> str:
    return "fail" if len(ids) > 1 else "fails"


def _are(ids: Ids) -> str:
    return "are" if len(ids) > 1 else "is"


def _passes(ids: Ids) -> str:
    return "pass" if len(ids) > 1 else "passes"


# -- is the test run credible? --------------------------------------------------------------------------------------------------


def at_least_one_ran(look: SuiteLook[Data]) -> str | None:
    """At least one test was collected and ran; zero tests are no evidence."""
    return _ran(look.tests())


def changed_tests_ran(look: RerunLook[Data]) -> str | None:
    """The test files that the step changed were run; the rest of the suite is run at GREEN."""
    return _ran(look.run_changed())


def _ran(seen: TestReport) -> str | None:
    if seen.fault:
        return seen.fault
    return None if seen.ids else "no test was collected, so nothing is proved"


def canary_held(look: SuiteLook[Data]) -> str | None:
    """Detent's own tests in the same run had the right outcome: one failed, one passed."""
    return _tampered(look.tests()) or None


def _tampered(report: TestReport) -> str:
    return f"{TAMPERED}: {report.canary_said}" if report.canary == "broken" else ""


# -- RED: something needs this step --------------------------------------------------------------------------------------------


def something_needs_this_step(look: SuiteLook[Data]) -> str | None:
    """At least one test fails now that did not fail before."""
    seen = look.outcomes()
    if seen.newly_failing:
        return None
    if seen.pins:
        return f"{_first(seen.pins)} already {_passes(seen.pins)}, so nothing needs this step; write a test that fails until it is done"
    if seen.still_failing:
        return f"{_first(seen.still_failing)} already failed before this step; write a test or an assertion that fails until it is done"
    return "no test fails; write a test, or add an assertion to one, that fails until this step is done"


def fails_for_the_product(look: SuiteLook[Data]) -> str | None:
    """A new failure has a cause that code can fix: the test parses, has its fixtures and packages, and uses no undefined name of its own."""
    failing = sorted(look.outcomes().newly_failing)[:MOST_REASONS]
    reasons = {test: look.why(test) for test in failing}
    if not reasons or any(reason.sort in ("product", "unknown") for reason in reasons.values()):
        return None
    test, reason = next(iter(reasons.items()))
    return f"{test} fails because of the test itself, which no code can fix: {reason.sentence}"


def reason_is_told(look: SuiteLook[Data]) -> GateResult:
    """A failure is flagged where Detent cannot tell whether the code is its cause."""
    failing = sorted(look.outcomes().newly_failing)[:MOST_REASONS]
    unclear = {test: why for test in failing if (why := look.why(test)).sort == "unknown"}
    if not failing or len(unclear) < len(failing):
        return None
    test, why = next(iter(unclear.items()))
    return Flag("weak-evidence", f"{test} fails, but Detent cannot tell whether the code is the cause: {why.sentence}", test, level="note")


def fails_again(look: SuiteLook[Data]) -> str | None:
    """A test that fails now fails again when run once more on the same tree: a flaky test is no evidence."""
    new = look.outcomes().newly_failing
    again = look.again(new)
    if wrong := again.fault or _tampered(again):
        return wrong
    flaky = new - again.bad
    return (
        f"{_first(flaky)} is flaky: it failed, then passed when run again on the same tree; a flaky test is no evidence" if flaky else None
    )


def new_tests_failed_before(look: RerunLook[PlanData]) -> str | None:
    """At least one test fails on the tree that the task was re-planned from, and does not fail on the one before its tests came."""
    return needed(look, verified_from(look.run.data.plan), "test the original goal")


def needed(look: RerunLook[Data], tree: str, what: str) -> str | None:
    """What is wrong unless a new test needs what was done since `tree`; `what` says what to test."""
    now, seen = look.tests(), look.outcomes()
    new = seen.pins | seen.newly_failing
    if not new:
        return f"no test is new; write one: {what}"
    over = look.tests_laid_over(tree)
    needing = {test for test in new if test in over.bad or file_of(now, test) in over.bad or test not in over.ids}
    return None if needing else f"{_first(new)} {_passes(new)} even without the new tasks, so nothing is verified; {what}"


# -- older tests ----------------------------------------------------------------------------------------------------------------


def none_is_lost(look: BaselineLook[Data]) -> GateResult:
    """No test is lost or newly skipped. One removed together with its code, or replaced by a test of something else, is flagged."""
    if fault := look.tests().fault:
        return fault
    seen = look.outcomes()
    if skipped := seen.skipped and seen.skipped - look.known_skips():
        return f"{_first(skipped)} ran before and {_are(skipped)} skipped now; do not skip tests"
    if broken := _unreadable(look):
        return broken
    out = _taken_out(look)
    if lost := seen.lost - out - _helpers(look):
        return f"{_first(lost)} {_are(lost)} gone; tests must not be removed{_bring_back(look, lost)}"
    return tuple(Flag("rewritten-test", f"{test} was removed", test, level="ask") for test in sorted(out)[:MOST_AGAIN])


def _unreadable(look: SuiteLook[Data]) -> str:
    """A sentence about older tests that cannot run because their file cannot be loaded, for a reason that no code can fix; else ""."""
    before, waiting = look.tests_before(), look.outcomes().waiting
    for file in sorted({file_of(before, test) for test in waiting}):
        if (why := look.why(file)).sort in ("test", "machine"):
            return f"{file} can no longer be loaded, so its tests are lost: {why.sentence}"
    return ""


def _taken_out(look: SuiteLook[Data]) -> Ids:
    """The lost tests that were deleted together with their code, or whose file now tests something else."""
    before, seen = look.tests_before(), look.outcomes()
    if not seen.lost:
        return frozenset()
    deleted = {c.path for c in look.changed() if c.how == "deleted"}
    with_code = any(c.how == "deleted" and c.sort == "production" for c in look.changed())
    asks = {file_of(look.tests(), test) for test in seen.newly_failing}
    return frozenset(t for t in seen.lost if file_of(before, t) in asks or (with_code and file_of(before, t) in deleted))


def _helpers(look: SuiteLook[Data]) -> Ids:
    """Go test files that failed to build before, still exist, and declare no test then or now: helpers, so nothing of theirs is lost."""
    files = [test for test in look.outcomes().lost if test.endswith("_test.go") and file_of(look.tests_before(), test) == test]
    if not files:
        return frozenset()
    from detent.evidence.source.test_blocks import blocks  # rarely needed, and it loads Python's own parser

    texts = {file: (look.read(f"GOOD:{file}"), look.read(file)) for file in files}
    return frozenset(file for file, versions in texts.items() if all(text is not None and not blocks(file, text) for text in versions))


def _bring_back(look: SuiteLook[Data], lost: Ids) -> str:
    changed = {c.path for c in look.changed()}
    files = sorted(changed & {file_of(look.tests_before(), test) for test in lost})
    return f". Restore it: {look.restoring(files[0])}" if files else ""


def old_tests_still_notice(look: BaselineLook[Data]) -> str | None:
    """An older test that was changed and passes still catches what it caught before: the same small changes to the code make it fail."""
    weak = look.weakened()
    return describe_weakened(weak[0], look.outcomes()) + (f" (and {len(weak) - 1} more)" if len(weak) > 1 else "") if weak else None


def rewritten_is_flagged(look: BaselineLook[Data]) -> GateResult:
    """A changed or removed expectation of an older test is flagged, with both versions."""
    sentence = "the expectation of an older test changed"
    return tuple(Flag("rewritten-test", sentence, each.place, each.before, each.after) for each in look.rewritten()[:MOST_AGAIN])


# -- GREEN and REFACTOR: it passes, and nothing broke ----------------------------------------------------------------------------


def red_tests_pass(look: BaselineLook[Data]) -> str | None:
    """Every test that failed before passes now, except those that failed before the work began."""
    left = look.outcomes().still_failing - look.known_failures()
    return f"{_first(left)} still {_fails(left)}{_because(look, left)}" if left else None


def nothing_broke(look: BaselineLook[Data]) -> GateResult:
    """No test fails that did not fail before. One that failed once and passes whenever it is run again is a note."""
    seen = look.outcomes()
    if broken := seen.regressions and seen.regressions - _come_and_go(look, seen.regressions):
        return f"{_first(broken)} passed before and {_fails(broken)} now{_because(look, broken)}{_flaky_note(look, broken)}"
    if new := seen.newly_failing and seen.newly_failing - look.known_failures():
        return f"{_first(new)} {_fails(new)}{_because(look, new)}{_flaky_note(look, new)}"
    return tuple(Flag("weak-evidence", describe_flaky(test), test, level="note") for test in sorted(seen.flaky)) or None


def _come_and_go(look: BaselineLook[Data], broken: Ids) -> Ids:
    """Tests that failed before the work began, passed since, fail again now, and pass on a rerun: not held against any step."""
    return _flaky_tests(look, broken & {*look.known_failures(), *look.run.fixed})


def _because(look: SuiteLook[Data], bad: Ids) -> str:
    reason = look.why(min(bad)).sentence
    return f": {reason}" if reason else ""


def _flaky_note(look: SuiteLook[Data], bad: Ids) -> str:
    """The end of a sentence that names failing tests which pass on a rerun of the same tree; empty if there are none."""
    flaky = _flaky_tests(look, bad)
    return f"; {_first(flaky)} is flaky: it passed when run again on the same tree" if flaky else ""


def _flaky_tests(look: SuiteLook[Data], bad: Ids) -> Ids:
    """Those of the failing tests that pass on a rerun of the same tree."""
    if not bad or len(bad) > MOST_AGAIN:
        return frozenset()
    try:
        return bad & look.again(bad, watched=False).having("passed")
    except CannotTell:
        return frozenset()  # the first result stands


def product_changed(look: ChangeLook[Data]) -> GateResult:
    """A GREEN step changes code; one that does not is flagged. A verification task is exempt: smaller tasks wrote the code."""
    data = look.run.data
    if isinstance(data, PlanData) and is_verification(data.plan):
        return None
    if look.substance():
        return None
    return Flag("no-proof", "the GREEN step changed no code, so its tests passed without it", stays=True)


def already_is_flagged(look: SuiteLook[Data]) -> GateResult:
    """An entry closed as already satisfied is flagged: its test never failed."""
    new = sorted(look.outcomes().pins)
    sentence = f"closed as already satisfied: {new[0] if new else 'its test'} passed at once and was never seen failing"
    return Flag("no-proof", sentence, new[0] if new else "", stays=True)


# -- what the agent selected -----------------------------------------------------------------------------------------------------


def selection_is_some(look: RerunLook[Data]) -> str | None:
    """The test command selects at least one test."""
    return _tampered(look.selected()) or (None if look.selected().ids else "the test command selects no test")


def selection_passes(look: RerunLook[Data]) -> str | None:
    """The tests the agent selected were run and pass."""
    picked = look.selected()
    if wrong := picked.fault or _tampered(picked) or ("" if picked.ids else "the test command selects no test"):
        return wrong
    bad = picked.bad - look.known_failures() - look.outcomes().flaky
    return f"{_first(bad)} {_fails(bad)}" if bad else None


def selection_fails(look: RerunLook[Data]) -> str | None:
    """The tests the agent selected were run, and one of them newly fails."""
    picked = look.selected()
    if wrong := picked.fault or _tampered(picked) or ("" if picked.ids else "the test command selects no test"):
        return wrong
    if picked.bad & look.outcomes().newly_failing:
        return None
    return f"all selected tests pass; select the one that fails: {_first(look.outcomes().newly_failing)}"


# -- probes ----------------------------------------------------------------------------------------------------------------------


def changed_tests_still_bite(look: MutationLook[Data]) -> str | None:
    """Tests changed in a refactoring, or that depend on a changed file, still fail on the tree before their GREEN, and for the mutations that they caught."""
    if not any((c.sort == "test" or c.path.endswith("conftest.py")) and c.how != "deleted" for c in look.changed()):
        return None
    return (
        None
        if look.changed_tests_still_fail()
        else "the changed test no longer fails on the tree before the code was written, or against a small change to it"
    )


def test_can_fail(look: MutationLook[Data]) -> str | None:
    """The test fails for at least one small mutation of the code that the entry is about."""
    if look.kills_mutant((asked(look), look.run.data.step_words())):
        return None
    return "no small change to the code that the entry is about makes the test fail, so the test proves nothing about it"


def turned_tests_fail(look: MutationLook[Data]) -> str | None:
    """Each test that the code was written for fails when it expects something different; not checked where `vacuous-test` is allowed."""
    if look.setting("flags.vacuous-test") == "allow" or not (agree := look.passing_inverted()):
        return None
    return (
        f"{_first(frozenset(agree))} also passes when it expects something different: what the code returns equals everything, or the test ignores it. "
        'Write code whose result the test really checks; if the test itself is wrong, say so with reply "TEST_WRONG"'
    )


def new_tests_kill_mutants(look: MutationLook[Data]) -> GateResult:
    """Each test that the code was written for fails for a small mutation of that code, or is flagged."""
    if look.setting("flags.vacuous-test") == "allow":
        return None
    seen = look.probed()
    idle = [
        Flag("vacuous-test", f"no small change to the code written for it makes {test} fail ({seen.tried} tried)", test)
        for test in seen.idle
    ]
    return _probed(look, seen, tuple(idle), "vacuous-test")


def refactoring_is_tested(look: MutationLook[Data]) -> GateResult:
    """Some test fails for a small mutation of the code that a refactoring wrote, and for each value that it brought, or it is flagged."""
    if look.setting("flags.unnoticed") == "allow":
        return None
    seen = look.refactored()
    idle = [Flag("unnoticed", f"no test fails against a small change to {place}", place) for place in seen.idle]
    result = _probed(look, seen, (*idle, *seen.doubts), "unnoticed")
    return (result, *seen.doubts) if isinstance(result, Flag) else result


def _probed(look: SubmitLook[Data], seen: Probed, idle: tuple[Flag, ...], kind: str) -> GateResult:
    """The result of a probe: flags; a failure if tests pass only in this folder. CannotTell if it was inconclusive and must be known."""
    if seen.apart:
        return (
            f"{_first(frozenset(seen.apart))} passes here but not in a clean checkout of what you hand in: it needs a file that is not part "
            "of the change; add the file to the change, or do without it"
        )
    if not seen.why:
        return idle
    reason = f"could not check whether the tests prove anything: {seen.why}"
    if look.setting(f"flags.{kind}") == "fail":
        raise CannotTell(f'{reason}; [flags] {kind} = "fail" requires it: write tests and code that can be probed, or set it to "ask"')
    return Flag("weak-evidence", reason, level="note")


# -- other runs ------------------------------------------------------------------------------------------------------------------


def passes_when_clean(look: RerunLook[Data]) -> str | None:
    """The tests pass in a clean checkout of the tree, with nothing else in it."""
    if (seen := look.tests_when_clean()) is None:
        return None
    wrong = seen.fault or _tampered(seen) or ("" if seen.ids else "no test was collected")
    bad = seen.bad - look.known_failures()
    return f"in a clean checkout of the tree, {wrong or f'{_first(bad)} {_fails(bad)}'}" if wrong or bad else None


def preflight_passes(look: RerunLook[Data]) -> str | None:
    """The project's preflight commands pass on this tree, except those that failed before the work began."""
    return look.preflight()
