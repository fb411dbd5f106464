"""The way back from a test that turns out to be wrong: what must be said, and that the next RED shows what was done."""

from detent.evidence.look import SubmitLook
from detent.kernel.model import Data, Flag
from detent.kernel.rows import Said

TEST_WRONG = "TEST_WRONG"  # the reply that says so


def says_why(look: SubmitLook[Data]) -> str | None:
    """Who calls a test wrong says why, in the summary."""
    if len(look.sent.summary.split()) > 2:
        return None
    return "say in the summary what is wrong with the test, and what it will ask for instead"


def rewriting_is_flagged(look: SubmitLook[Data]) -> Said:
    """A test that was rewritten after code was tried is flagged; both versions are kept."""
    before = str(getattr(look.run.data, "test_wrong", ""))
    if not before:
        return None
    said = f"the test was rewritten after code was tried; both versions are kept: git diff {before[:12]} {look.tree[:12]}"
    return Flag("rewritten-test", said, before=f"tree {before[:12]}", after=f"tree {look.tree[:12]}", stays=True)
