"""Gates over the call itself: expectation and test command. Cheap; a miss is a refusal and counts nothing."""

from detent.evidence.look import CommandLook, SubmitLook
from detent.kernel.model import Data


def _expects(look: SubmitLook[Data], wanted: str, step: str) -> str | None:
    given = look.sent.expectation
    if not given:
        return f'expectation is missing; this is a {step} step: pass expectation "{wanted}" together with test_command'
    return None if given == wanted else f'a {step} step expects {wanted}, not {given}; submit again with expectation "{wanted}"'


def expects_fail(look: SubmitLook[Data]) -> str | None:
    """A RED step is submitted with the expectation FAIL."""
    return _expects(look, "FAIL", "RED")


def expects_pass(look: SubmitLook[Data]) -> str | None:
    """A GREEN or REFACTOR step is submitted with the expectation PASS."""
    return _expects(look, "PASS", "GREEN or REFACTOR")


def real_test_command(look: CommandLook[Data]) -> str | None:
    """The test command is an invocation of the project's own test runner, with selectors and nothing else."""
    if not look.sent.test_command:
        return "test_command is missing; words alone are not evidence"
    return look.refused_command(look.sent.test_command)
