"""What a gate may look at. A protocol: the machine's own eyes implement it, and so does the in-memory world of the fakes.

Every method answers from the judged tree or raises CannotTell. None of them believes what an agent reports.
"""

from typing import TYPE_CHECKING, Literal, Protocol, TypeVar

from detent.evidence.report import TestReport
from detent.kernel.model import Data, Evidence, Flag, Record, Run, Sent, Value
from detent.kernel.own_gate import OwnGate
from detent.kernel.rows import Said

if TYPE_CHECKING:
    from detent.evidence.outcomes import Outcomes
    from detent.evidence.reasons import Reason
    from detent.evidence.rewritten import Rewritten

L = TypeVar("L", bound=Data, covariant=True)


class Probed(Value, frozen=True):
    """What small changes of the code written for new tests made of these."""

    tried: int = 0
    idle: tuple[str, ...] = ()  # new tests that failed against none of them
    apart: tuple[str, ...] = ()  # new tests that pass where the work lies, and not in a clean checkout of it
    why: str = ""  # why nothing can be said


class Changed(Value, frozen=True):
    """A path that differs between the last good tree and the judged one."""

    path: str
    how: Literal["added", "modified", "deleted"]
    sort: Literal["test", "production", "config", "list", "other", "unknown"]
    inside: bool = False  # a file of code whose own tests (doctests, `mod tests`) changed


class Branch(Value, frozen=True):
    """The branch as git has it."""

    name: str = ""
    head: str = ""
    tree: str = ""
    message: str = ""
    over_base: int = 0  # commits over the base
    clean: bool = True


class Look(Protocol[L]):
    """Everything a gate may ask about one submit."""

    @property
    def run(self) -> Run[L]: ...
    @property
    def sent(self) -> Sent: ...
    @property
    def tree(self) -> str: ...
    def setting(self, name: str) -> str: ...
    def tests(self) -> TestReport: ...
    def tests_before(self) -> TestReport: ...
    def run_changed(self) -> TestReport: ...  # the changed test files alone, the rest as before; `tests` says the same from then on
    def outcomes(self) -> "Outcomes": ...  # what became of the tests between the last good tree and the judged one
    def why(self, test: str) -> "Reason": ...  # why a test failed
    def known_failures(self) -> frozenset[str]: ...  # tests that failed before the work began
    def known_skips(self) -> frozenset[str]: ...  # tests that were skipped before the work began
    def rewritten(self) -> "tuple[Rewritten, ...]": ...  # expectations of older tests that were changed or taken out
    def weakened(self) -> tuple[str, ...]: ...  # older tests that were changed, pass, and no longer notice what they noticed
    def restoring(self, path: str) -> str: ...  # the command that brings a file back as it was in the last good tree
    def selected(self) -> TestReport: ...
    def again(self, tests: frozenset[str], watched: bool = True) -> TestReport: ...  # once more on the same tree, with a canary or without
    def tests_laid_over(self, tree: str) -> TestReport: ...
    def tests_when_clean(self) -> TestReport | None: ...  # in a clean checkout; None where the project says nothing of how it is tested
    def bites(self) -> bool: ...  # changed tests still fail on the tree before the code
    def bites_mutant(
        self, about: tuple[str, ...] = ()
    ) -> bool: ...  # the new test fails on a small mutation of the code that these words are about
    def agreeing(self) -> tuple[str, ...]: ...  # the step's tests that pass whatever answer they expect
    def probed(self) -> Probed: ...  # the step's tests against small mutations of the lines written for them
    def refactored(self) -> Probed: ...  # the tests of earlier steps turned round, and any test against mutations of what was rewritten
    def preflight(self) -> str | None: ...
    def own_gates(self, *steps: str) -> tuple[OwnGate, ...]: ...  # those that the project configures for these steps
    def own_gate(self, gate: OwnGate) -> Said: ...  # what one of them says of the tree
    def fixed(self) -> tuple[str, ...]: ...  # of what failed before the work began: what was seen to pass now
    def refused_command(self, command: str) -> str | None: ...
    def changed(self) -> tuple[Changed, ...]: ...
    def only_stubs(self, path: str) -> bool: ...  # a file has got stubs that throw, in a language that needs them, and nothing else
    def keys_added(self) -> tuple[str, ...]: ...  # `path:line: kind` of each line that the change adds and that holds a key
    def substance(self) -> tuple[Changed, ...]: ...  # what changed of the product in more than words and layout
    def read_through(self) -> tuple[Flag, ...]: ...  # what reading the change shows
    def branch(self) -> Branch: ...
    def read(self, path: str) -> str | None: ...  # of the judged tree; GOOD:path, BASE:path: of the last good tree, of the base commit
    def tampered(self) -> tuple[str, ...]: ...
    def toolchain(self) -> tuple[str, ...] | None: ...  # files of the test runner that changed since the run began; None: that is not known
    def output(self) -> str: ...
    def evidence(self) -> Evidence | None: ...
    def record(self) -> Record | None: ...  # what the event keeps of the evidence besides
    def late(self) -> bool: ...  # the tests did not end in time
    def documents(self) -> dict[str, str]: ...  # what was read for the gates, HEAD too, so that changes can keep it
