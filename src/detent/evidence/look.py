"""The look: the protocol of what a gate may ask about one submit. `looks/repo_look.py` implements it, and so do the in-memory fakes.

Every method answers from the judged tree or raises CannotTell. None of them trusts what an agent reports.
"""

from typing import TYPE_CHECKING, Protocol, TypeVar

from detent.evidence.report import TestReport
from detent.evidence.source.diff import Changed
from detent.kernel.model import Data, Evidence, Flag, OwnGate, Record, Run, Sent, Value
from detent.kernel.table import GateResult

if TYPE_CHECKING:
    from detent.evidence.outcomes.outcomes import Outcomes
    from detent.evidence.outcomes.reasons import Reason
    from detent.evidence.source.diff import Rewritten

PROBE_SECONDS = 30.0  # the usual time limit of a probe
L = TypeVar("L", bound=Data, covariant=True)


class Probed(Value, frozen=True):
    """The result of trying mutants of the code that was written for new tests."""

    tried: int = 0
    idle: tuple[str, ...] = ()  # new tests that killed none of them
    apart: tuple[str, ...] = ()  # new tests that pass in the workspace but not in a clean checkout
    why: str = ""  # why there is no result
    doubts: tuple[Flag, ...] = ()  # flags for values that a refactoring brought and no test notices


class Branch(Value, frozen=True):
    """The state of the branch according to git."""

    name: str = ""
    head: str = ""
    tree: str = ""
    message: str = ""
    over_base: int = 0  # commits since the base
    clean: bool = True


class SubmitLook(Protocol[L]):
    """The submit and its run."""

    @property
    def run(self) -> Run[L]: ...
    @property
    def sent(self) -> Sent: ...
    @property
    def tree(self) -> str: ...
    def setting(self, name: str) -> str: ...


class FilesLook(SubmitLook[L], Protocol[L]):
    """The files of the judged tree, the branch, and what changed."""

    def changed(self) -> tuple[Changed, ...]: ...
    def read(self, path: str) -> str | None: ...  # in the judged tree; in the last good tree as GOOD:path, in the base as BASE:path
    def branch(self) -> Branch: ...
    def restoring(self, path: str) -> str: ...  # the command that restores a file from the last good tree
    def tampered(self) -> tuple[str, ...]: ...


class ChangeLook(FilesLook[L], Protocol[L]):
    """What reading the change shows, without running anything."""

    def only_stubs(self, path: str) -> bool: ...  # the change only adds stubs that throw, in a language that needs them
    def substance(self) -> tuple[Changed, ...]: ...  # changed product files, without mere changes of words and layout
    def keys_added(self) -> tuple[str, ...]: ...  # `path:line: kind` of each added line that contains a key
    def read_through(self) -> tuple[Flag, ...]: ...  # the flags of static analysis
    def toolchain(self) -> tuple[str, ...] | None: ...  # files of the test runner that changed since the run began; None: unknown


class SuiteLook(FilesLook[L], Protocol[L]):
    """The test reports of the last good tree and the judged one, and the outcomes between them."""

    def tests(self) -> TestReport: ...
    def tests_before(self) -> TestReport: ...
    def outcomes(self) -> "Outcomes": ...
    def why(self, test: str) -> "Reason": ...  # why a test failed
    def again(self, tests: frozenset[str], watched: bool = True) -> TestReport: ...  # run again on the same tree, with or without a canary


class BaselineLook(SuiteLook[L], Protocol[L]):
    """The state before the work began, and the older tests that the change touches."""

    def known_failures(self) -> frozenset[str]: ...  # tests that failed before the work began
    def known_skips(self) -> frozenset[str]: ...  # tests that were skipped before the work began
    def fixed(self) -> tuple[str, ...]: ...  # what failed before the work began and passes now
    def rewritten(self) -> "tuple[Rewritten, ...]": ...  # changed or removed expectations of older tests
    def weakened(self) -> tuple[str, ...]: ...  # changed older tests that pass but notice less than before


class RerunLook(BaselineLook[L], Protocol[L]):
    """Special test runs: only some tests, on another tree, or in a clean checkout. Also preflight."""

    def run_changed(self) -> TestReport: ...  # only the changed test files, the rest as before; `tests` returns the same from then on
    def selected(self) -> TestReport: ...
    def tests_laid_over(self, tree: str) -> TestReport: ...
    def tests_when_clean(self) -> TestReport | None: ...  # in a clean checkout; None: the project has no test command
    def preflight(self) -> str | None: ...


class MutationLook(SuiteLook[L], Protocol[L]):
    """Whether tests notice when the code is wrong."""

    def changed_tests_still_fail(self) -> bool: ...  # on the tree before the code, and on a mutant
    def kills_mutant(self, about: tuple[str, ...] = ()) -> bool: ...  # the new tests kill a mutant of the code these words are about
    def passing_inverted(self) -> tuple[str, ...]: ...  # the step's tests that pass even with inverted expectations
    def probed(self) -> Probed: ...  # the step's tests on mutants of the code written for them
    def refactored(self) -> Probed: ...  # any test on mutants of rewritten code


class CommandLook(SubmitLook[L], Protocol[L]):
    """Commands that the agent names or the project configures."""

    def refused_command(self, command: str) -> str | None: ...
    def own_gates(self, *steps: str) -> tuple[OwnGate, ...]: ...  # those that the project configures for these steps
    def own_gate(self, gate: OwnGate) -> GateResult: ...  # the verdict of one of them


class RecordLook(SubmitLook[L], Protocol[L]):
    """What the event records of the look."""

    def output(self) -> str: ...
    def evidence(self) -> Evidence | None: ...
    def record(self) -> Record | None: ...  # further evidence for the event
    def late(self) -> bool: ...  # the tests did not finish in time
    def documents(self) -> dict[str, str]: ...  # what was read for the gates, and HEAD, for the changes to store


class Look(ChangeLook[L], RerunLook[L], MutationLook[L], CommandLook[L], RecordLook[L], Protocol[L]):
    """Everything a gate may ask about one submit. A gate takes the part it needs."""
