"""Gates over the call itself: expectation, test command, and the TEST_WRONG reply. Cheap; a miss is a refusal and does not count."""

from detent.evidence.look import CommandLook, SubmitLook
from detent.kernel.model import Data, Flag
from detent.kernel.table import GateResult


def _expects(look: SubmitLook[Data], wanted: str, step: str) -> str | None:
    given = look.sent.expectation
    if not given:
        return f'expectation is missing; this is a {step} step: pass expectation "{wanted}" together with test_command'
    return None if given == wanted else f'a {step} step expects {wanted}, not {given}; submit again with expectation "{wanted}"'


def expects_fail(look: SubmitLook[Data]) -> str | None:
    """A RED step is submitted with expectation FAIL."""
    return _expects(look, "FAIL", "RED")


def expects_pass(look: SubmitLook[Data]) -> str | None:
    """A GREEN or REFACTOR step is submitted with expectation PASS."""
    return _expects(look, "PASS", "GREEN or REFACTOR")


def real_test_command(look: CommandLook[Data]) -> str | None:
    """The test command calls the project's own test runner, with selectors and nothing else."""
    if not look.sent.test_command:
        return "test_command is missing; words alone are not evidence"
    return look.refused_command(look.sent.test_command)


TEST_WRONG = "TEST_WRONG"  # the reply which says that the test itself is wrong


def says_why(look: SubmitLook[Data]) -> str | None:
    """TEST_WRONG comes with a summary that says why."""
    if len(look.sent.summary.split()) > 2:
        return None
    return "say in the summary what is wrong with the test, and what it will check instead"


def rewriting_is_flagged(look: SubmitLook[Data]) -> GateResult:
    """A test that was rewritten after code was tried is flagged; both versions are kept."""
    before = str(getattr(look.run.data, "test_wrong", ""))
    if not before:
        return None
    sentence = f"the test was rewritten after code was tried; both versions are kept: git diff {before[:12]} {look.tree[:12]}"
    return Flag("rewritten-test", sentence, before=f"tree {before[:12]}", after=f"tree {look.tree[:12]}", stays=True)
