"""A look made of literal values: the answers to everything that a gate may ask."""

from dataclasses import dataclass, field
from typing import Any

from detent.errors import CannotTell
from detent.evidence.look import Branch, Probed
from detent.evidence.outcomes.outcomes import Outcomes, compare
from detent.evidence.outcomes.reasons import Reason, reason
from detent.evidence.report import TestReport
from detent.evidence.source.diff import Changed, Rewritten
from detent.kernel.model import Evidence, Flag, OwnGate, Record, Run, Sent, Tally, gates_at
from detent.kernel.table import GateResult


@dataclass
class LiteralLook:
    """Answers with what it was given."""

    run: Run[Any]
    sent: Sent = field(default_factory=lambda: Sent("submit"))
    tree: str = "t1"
    files: dict[str, str] = field(default_factory=dict)
    now: TestReport = field(default_factory=TestReport)
    before: TestReport = field(default_factory=TestReport)
    second: TestReport | CannotTell | None = None  # the same tests, run again
    changes: tuple[Changed, ...] = ()
    bite: bool = True
    probe: Probed = field(default_factory=Probed)
    agree: tuple[str, ...] = ()
    said_anew: tuple[Rewritten, ...] = ()
    weak: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    stubs: tuple[str, ...] = ()
    reading: tuple[Flag, ...] = ()
    lint: str | None = None
    settings: dict[str, str] = field(default_factory=dict)
    was_read: dict[str, str] = field(default_factory=dict)
    picked: TestReport | None = None  # the result of the agent's own command
    laid: dict[str, TestReport] = field(default_factory=dict)  # the tests over other trees
    runs_clean: bool = True  # whether the project configures how to test a clean checkout
    packages: tuple[str, ...] | None = ()  # of the test runner, changed since the run began
    on: Branch = field(default_factory=Branch)
    own: dict[OwnGate, GateResult] = field(default_factory=dict)
    unreadable: tuple[str, ...] = ()  # files that exist but are too large to read

    def setting(self, name: str) -> str:
        return self.settings.get(name, "")

    def tests(self) -> TestReport:
        return self.now

    def tests_before(self) -> TestReport:
        return self.before

    def run_changed(self) -> TestReport:
        return self.tests()

    def outcomes(self) -> Outcomes:
        return compare(self.tests_before(), self.tests())

    def why(self, test: str) -> Reason:
        return reason(self.tests(), test, lambda path: path.startswith("tests/"), lambda name: False)

    def known_failures(self) -> frozenset[str]:
        return frozenset(getattr(getattr(self.run.data, "setup", None), "baseline", ()))

    def known_skips(self) -> frozenset[str]:
        return frozenset()

    def rewritten(self) -> tuple[Rewritten, ...]:
        return self.said_anew

    def weakened(self) -> tuple[str, ...]:
        return self.weak

    def restoring(self, path: str) -> str:
        return f"git restore --source=GOOD -- {path}"

    def selected(self) -> TestReport:
        return self.picked or self.now

    def again(self, tests: frozenset[str], watched: bool = True) -> TestReport:
        if isinstance(self.second, CannotTell):
            raise self.second
        return self.second or self.now

    def fixed(self) -> tuple[str, ...]:
        return ()

    def late(self) -> bool:
        return self.now.late

    def tests_laid_over(self, tree: str) -> TestReport:
        return self.laid.get(tree, self.before)

    def tests_when_clean(self) -> TestReport | None:
        return self.now if self.runs_clean else None

    def changed_tests_still_fail(self) -> bool:
        return self.bite

    def kills_mutant(self, about: tuple[str, ...] = ()) -> bool:
        return self.bite

    def passing_inverted(self) -> tuple[str, ...]:
        return self.agree

    def probed(self) -> Probed:
        return self.probe

    def refactored(self) -> Probed:
        return self.probe

    def only_stubs(self, path: str) -> bool:
        return path in self.stubs

    def keys_added(self) -> tuple[str, ...]:
        return self.keys

    def preflight(self) -> str | None:
        return self.lint

    def own_gates(self, *steps: str) -> tuple[OwnGate, ...]:
        return gates_at(tuple(self.own), *steps)

    def own_gate(self, gate: OwnGate) -> GateResult:
        return self.own[gate]

    def refused_command(self, command: str) -> str | None:
        return None

    def changed(self) -> tuple[Changed, ...]:
        return self.changes

    def substance(self) -> tuple[Changed, ...]:
        return tuple(c for c in self.changes if c.sort in ("production", "unknown") and not c.path.endswith(".md"))

    def read_through(self) -> tuple[Flag, ...]:
        return self.reading

    def branch(self) -> Branch:
        return self.on

    def read(self, path: str) -> str | None:
        if path in self.unreadable:
            raise CannotTell(f"{path} is too large for a plan")
        text = self.sent.documents.get(path, self.files.get(path))
        if text is not None:
            self.was_read[path] = text
        return text

    def toolchain(self) -> tuple[str, ...] | None:
        return self.packages

    def tampered(self) -> tuple[str, ...]:
        return ()

    def output(self) -> str:
        return self.now.output

    def evidence(self) -> Evidence | None:
        of = {o: len(self.now.having(o)) for o in ("passed", "failed", "error", "skipped")}
        return Evidence("report", "pytest", 0, Tally(of["passed"], of["failed"], of["error"], of["skipped"]), self.tree)

    def record(self) -> Record | None:
        return None

    def documents(self) -> dict[str, str]:
        return dict(self.was_read)
