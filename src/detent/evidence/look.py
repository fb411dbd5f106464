"""What a gate may look at. A protocol: `looks/repo_look.py` implements it, and so does the in-memory world of the fakes.

Every method answers from the judged tree or raises CannotTell. None of them believes what an agent reports.
"""

from typing import TYPE_CHECKING, Protocol, TypeVar

from detent.evidence.report import TestReport
from detent.evidence.source.diff import Changed
from detent.kernel.model import Data, Evidence, Flag, OwnGate, Record, Run, Sent, Value
from detent.kernel.table import Said

if TYPE_CHECKING:
    from detent.evidence.outcomes.outcomes import Outcomes
    from detent.evidence.outcomes.reasons import Reason
    from detent.evidence.source.diff import Rewritten

PROBE_SECONDS = 30.0  # that a probe of the tests may take
L = TypeVar("L", bound=Data, covariant=True)


class Probed(Value, frozen=True):
    """What small changes of the code written for new tests made of these."""

    tried: int = 0
    idle: tuple[str, ...] = ()  # new tests that failed against none of them
    apart: tuple[str, ...] = ()  # new tests that pass where the work lies, and not in a clean checkout of it
    why: str = ""  # why nothing can be said


class Branch(Value, frozen=True):
    """The branch as git has it."""

    name: str = ""
    head: str = ""
    tree: str = ""
    message: str = ""
    over_base: int = 0  # commits over the base
    clean: bool = True


class SubmitLook(Protocol[L]):
    """What was handed in, and to which run."""

    @property
    def run(self) -> Run[L]: ...
    @property
    def sent(self) -> Sent: ...
    @property
    def tree(self) -> str: ...
    def setting(self, name: str) -> str: ...


class FilesLook(SubmitLook[L], Protocol[L]):
    """The judged tree and the branch: what is read of them, and what changed."""

    def changed(self) -> tuple[Changed, ...]: ...
    def read(self, path: str) -> str | None: ...  # of the judged tree; GOOD:path, BASE:path: of the last good tree, of the base commit
    def branch(self) -> Branch: ...
    def restoring(self, path: str) -> str: ...  # the command that brings a file back as it was in the last good tree
    def tampered(self) -> tuple[str, ...]: ...


class ChangeLook(FilesLook[L], Protocol[L]):
    """What reading the change shows, without running anything."""

    def only_stubs(self, path: str) -> bool: ...  # a file has got stubs that throw, in a language that needs them, and nothing else
    def substance(self) -> tuple[Changed, ...]: ...  # what changed of the product in more than words and layout
    def keys_added(self) -> tuple[str, ...]: ...  # `path:line: kind` of each line that the change adds and that holds a key
    def read_through(self) -> tuple[Flag, ...]: ...  # what reading the change shows
    def toolchain(self) -> tuple[str, ...] | None: ...  # files of the test runner that changed since the run began; None: that is not known


class SuiteLook(FilesLook[L], Protocol[L]):
    """What the tests show, and what became of them between the last good tree and the judged one."""

    def tests(self) -> TestReport: ...
    def tests_before(self) -> TestReport: ...
    def outcomes(self) -> "Outcomes": ...
    def why(self, test: str) -> "Reason": ...  # why a test failed
    def again(self, tests: frozenset[str], watched: bool = True) -> TestReport: ...  # once more on the same tree, with a canary or without


class BaselineLook(SuiteLook[L], Protocol[L]):
    """What was so before the work began, and older tests that the change touches."""

    def known_failures(self) -> frozenset[str]: ...  # tests that failed before the work began
    def known_skips(self) -> frozenset[str]: ...  # tests that were skipped before the work began
    def fixed(self) -> tuple[str, ...]: ...  # of what failed before the work began: what was seen to pass now
    def rewritten(self) -> "tuple[Rewritten, ...]": ...  # expectations of older tests that were changed or taken out
    def weakened(self) -> tuple[str, ...]: ...  # older tests that were changed, pass, and no longer notice what they noticed


class RerunLook(BaselineLook[L], Protocol[L]):
    """Tests and checks that are run otherwise: some of them, on another tree, in a clean checkout."""

    def run_changed(self) -> TestReport: ...  # the changed test files alone, the rest as before; `tests` says the same from then on
    def selected(self) -> TestReport: ...
    def tests_laid_over(self, tree: str) -> TestReport: ...
    def tests_when_clean(self) -> TestReport | None: ...  # in a clean checkout; None where the project says nothing of how it is tested
    def preflight(self) -> str | None: ...


class MutationLook(SuiteLook[L], Protocol[L]):
    """Whether tests notice when the code is wrong."""

    def changed_tests_still_fail(self) -> bool: ...  # changed tests still fail on the tree before the code
    def kills_mutant(self, about: tuple[str, ...] = ()) -> bool: ...  # the new test fails on a mutation of the code these words are about
    def agreeing(self) -> tuple[str, ...]: ...  # the step's tests that pass whatever answer they expect
    def probed(self) -> Probed: ...  # the step's tests against small mutations of the lines written for them
    def refactored(self) -> Probed: ...  # the tests of earlier steps turned round, and any test against mutations of what was rewritten


class CommandLook(SubmitLook[L], Protocol[L]):
    """Commands that the agent names or the project configures."""

    def refused_command(self, command: str) -> str | None: ...
    def own_gates(self, *steps: str) -> tuple[OwnGate, ...]: ...  # those that the project configures for these steps
    def own_gate(self, gate: OwnGate) -> Said: ...  # what one of them says of the tree


class RecordLook(SubmitLook[L], Protocol[L]):
    """What the event keeps of looking."""

    def output(self) -> str: ...
    def evidence(self) -> Evidence | None: ...
    def record(self) -> Record | None: ...  # what the event keeps of the evidence besides
    def late(self) -> bool: ...  # the tests did not finish in time
    def documents(self) -> dict[str, str]: ...  # what was read for the gates, HEAD too, so that changes can keep it


class Look(ChangeLook[L], RerunLook[L], MutationLook[L], CommandLook[L], RecordLook[L], Protocol[L]):
    """Everything a gate may ask about one submit. A gate takes the part it needs."""
