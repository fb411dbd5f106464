"""Fakes that ship: a world in memory, a look at it, and a scripted judge. For tests, benches and demos.

In this world a tree is a set of files. A line `name: word` in a file below tests/ is a test; it passes if a file below src/ has
`word` on a line of its own. A line that begins with `skip ` is a skipped test. Everything else works as in a real checkout.
"""

from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any

import msgspec

from detent.app.registry import workflow_of
from detent.blocks.common import Ground
from detent.door import AnyEvent, AnyRun, Case
from detent.errors import CannotTell
from detent.evidence.look import Branch, Probed
from detent.evidence.outcomes.outcomes import Outcomes, compare
from detent.evidence.outcomes.reasons import Reason, reason
from detent.evidence.report import TestReport
from detent.evidence.source.diff import Changed, Rewritten
from detent.gates.judge import judge as run_gates
from detent.kernel.model import Evidence, Flag, Found, OwnGate, Record, Sent, Tally
from detent.kernel.table import GateResult

Files = Mapping[str, str]
PUBLISHED = ("ACTIVE_PR.json", "ORCHESTRATION_STATE.json", "FINDINGS.json", "error.log")
RUNNER = "run-tests"


def tree_id(files: Files) -> str:
    """The id of a tree, without published files."""
    h = sha256()
    for path in sorted(p for p in files if p not in PUBLISHED):
        h.update(f"{len(path)}:{path}{len(files[path])}:{files[path]}".encode())
    return h.hexdigest()[:40]


def run_tests(files: Files, only: str = "") -> TestReport:
    """Run the tests of a tree; `only` selects those whose id contains it."""
    words = {line.strip() for path, text in files.items() if path.startswith("src/") for line in text.splitlines()}
    outcomes: dict[str, Any] = {}
    where: dict[str, str] = {}
    for path in sorted(p for p in files if p.startswith("tests/")):
        for line in files[path].splitlines():
            skipped, name, word = line.startswith("skip "), *line.removeprefix("skip ").partition(": ")[::2]
            test = f"{path}::{name}"
            if word and only in test:
                outcomes[test] = "skipped" if skipped else "passed" if word in words else "failed"
                where[test] = path
    bad = [f"FAILED {t}" for t, o in outcomes.items() if o == "failed"]
    return TestReport(outcomes, where, output="\n".join([*bad, f"{len(outcomes)} tests"]), exit_code=1 if bad else 0, runner=RUNNER)


class MemoryWorld:
    """Trees, commits and jobs in memory. `script`: the outcomes of jobs; others end by a default rule."""

    def __init__(self, files: dict[str, str] | None = None, settings: Mapping[str, str] | None = None) -> None:
        self.files = files if files is not None else {}
        self.settings = {"pr.plan": "PLAN.md", "review.require_independent": "false", **(settings or {})}
        self.first = dict(self.files)  # the files before any commit
        self.trees: dict[str, dict[str, str]] = {}
        self.commits: list[tuple[str, str]] = []  # message, tree
        self.base = 0  # commits before the branch
        self.done: dict[tuple[str, int, str], str] = {}  # effects by run, event and name
        self.script: dict[str, list[Sent | str | None]] = {}
        self.broken = ""  # when set, judging raises CannotTell with this

    def snapshot(self, run: AnyRun) -> str:
        if self.broken:
            raise CannotTell(self.broken)
        tree = tree_id(self.files)
        self.trees[tree] = {p: t for p, t in self.files.items() if p not in PUBLISHED}
        return tree

    def settle(self, effect: str, event: AnyEvent) -> None:
        """Perform an effect once, however often it is called."""
        key = (event.run.id, event.run.seq, effect)
        if key in self.done:
            return
        if effect in ("checkpoint", "commit_judged_tree", "commit_plan"):
            self.commits.append((f"{event.on} at event {event.run.seq}", event.found.tree))
        if effect == "reset_to_good" and self.commits:
            kept = {p: t for p, t in self.files.items() if p in PUBLISHED}
            self.files.clear()
            self.files.update({**self.trees.get(self.commits[-1][1], {}), **kept})
        if effect == "publish":
            self._publish(event)
        self.done[key] = event.at

    def _publish(self, event: AnyEvent) -> None:
        for path, text in workflow_of(event.run.workflow).files(event.run).items():
            if text is None:
                self.files.pop(path, None)
            else:
                self.files[path] = text

    def perform(self, job: str, run: AnyRun) -> Sent | None:
        """Do a job by the script if it has an entry: an outcome's name, a Sent, None (nothing to do), or `!` and the text of a CannotTell."""
        if self.script.get(job):
            answer = self.script[job].pop(0)
            if isinstance(answer, str) and answer.startswith("!"):
                raise CannotTell(answer[1:])
            return Sent("outcome", by="system", outcome=answer) if isinstance(answer, str) else answer
        return self._by_rule(job, run)

    def _by_rule(self, job: str, run: AnyRun) -> Sent | None:
        if job == "create_branch":
            self.base = len(self.commits)
            facts = {"branch": "refs/heads/feat/in-memory", "base": self.head(), "tree": self.snapshot(run)}
            return Sent("outcome", by="system", outcome="branched", facts=facts)
        ends = {"merge": "merged", "land_branch": "offered"}
        return Sent("outcome", by="system", outcome=ends[job]) if job in ends else None

    def squash(self, title: str) -> str:
        """Squash the branch into one commit, as an agent does with git."""
        self.commits[self.base :] = [(title, tree_id(self.files))]
        self.trees[tree_id(self.files)] = {p: t for p, t in self.files.items() if p not in PUBLISHED}
        return self.head()

    def committed(self) -> Files:
        """The files of the newest commit."""
        return self.trees.get(self.commits[-1][1], {}) if self.commits else self.first

    def head(self) -> str:
        """The id of the newest commit."""
        return sha256(repr(self.commits).encode()).hexdigest()[:40]


class MemoryLook:
    """A look at the world in memory. Answers from the judged tree."""

    def __init__(self, world: MemoryWorld, case: Case) -> None:
        self.world, self.run, self.sent, self.tree = world, case.run, case.sent, case.tree
        self._seen: TestReport | None = None
        self._read: dict[str, str] = {}

    def _files(self, tree: str) -> Files:
        return self.world.trees.get(tree, {})

    def _good(self) -> Files:
        """The files to compare with: the good tree, or between two pull requests the newest commit."""
        tree = str(getattr(self.run.data, "good_tree", ""))
        between = not tree and getattr(self.run.data, "setup", Ground()).before_first(self.world.head)
        return self.world.committed() if between else self._files(tree)

    def setting(self, name: str) -> str:
        return self.world.settings.get(name, "")

    def tests(self) -> TestReport:
        self._seen = run_tests(self._files(self.tree))
        return self._seen

    def tests_before(self) -> TestReport:
        return run_tests(self._good())

    def run_changed(self) -> TestReport:
        return self.tests()

    def outcomes(self) -> Outcomes:
        return compare(self.tests_before(), self.tests())

    def why(self, test: str) -> Reason:
        return reason(self.tests(), test, lambda path: path.startswith("tests/"), lambda name: False)

    def known_failures(self) -> frozenset[str]:
        return frozenset()

    def known_skips(self) -> frozenset[str]:
        return frozenset()

    def rewritten(self) -> tuple[Rewritten, ...]:
        """The lines of tests that no test file has any more."""
        old, new = ({p: t for p, t in files.items() if p.startswith("tests/")} for files in (self._good(), self._files(self.tree)))
        there = {line for text in new.values() for line in text.splitlines()}
        removed = {path: [line for line in text.splitlines() if line not in there] for path, text in old.items()}
        return tuple(Rewritten(path, "\n".join(lines), new.get(path, "")) for path, lines in removed.items() if lines)

    def weakened(self) -> tuple[str, ...]:
        return ()

    def restoring(self, path: str) -> str:
        return f"git restore --source=GOOD -- {path}"

    def selected(self) -> TestReport:
        return run_tests(self._files(self.tree), self.sent.test_command.removeprefix(RUNNER).strip())

    def again(self, tests: frozenset[str], watched: bool = True) -> TestReport:
        return self.tests()

    def fixed(self) -> tuple[str, ...]:
        return ()

    def late(self) -> bool:
        return False

    def tests_laid_over(self, tree: str) -> TestReport:
        tests = {p: t for p, t in self._files(self.tree).items() if p.startswith("tests/")}
        return run_tests({**self._files(tree), **tests})

    def tests_when_clean(self) -> TestReport | None:
        return self.tests()

    def changed_tests_still_fail(self) -> bool:
        return bool(run_tests({p: t for p, t in self._files(self.tree).items() if p.startswith("tests/")}).bad)

    def kills_mutant(self, about: tuple[str, ...] = ()) -> bool:
        return self.changed_tests_still_fail()

    def passing_inverted(self) -> tuple[str, ...]:
        return ()

    def probed(self) -> Probed:
        return Probed()

    def refactored(self) -> Probed:
        return Probed()

    def only_stubs(self, path: str) -> bool:
        return False

    def keys_added(self) -> tuple[str, ...]:
        return tuple(f"{c.path}:1: a key" for c in self.changed() if "key!" in self._files(self.tree).get(c.path, ""))

    def preflight(self) -> str | None:
        bad = [p for p, t in self._files(self.tree).items() if "lint!" in t]
        return f"preflight: lint complains about {bad[0]}" if bad else None

    def own_gates(self, *steps: str) -> tuple[OwnGate, ...]:
        return ()

    def own_gate(self, gate: OwnGate) -> GateResult:
        return None

    def refused_command(self, command: str) -> str | None:
        fits = command == RUNNER or (command.startswith(f"{RUNNER} ") and not set(command) & set(";&|<>$`"))
        return None if fits else f"'{command}' is not the project's test runner; allowed: {RUNNER} [SELECTOR]"

    def changed(self) -> tuple[Changed, ...]:
        old, new = self._good(), self._files(self.tree)
        return tuple(self._change(p, old, new) for p in sorted({*old, *new}) if old.get(p) != new.get(p))

    def _change(self, path: str, old: Files, new: Files) -> Changed:
        sort = (
            "test"
            if path.startswith("tests/")
            else "config"
            if path == "runner.cfg"
            else "list"
            if path == "test-list.md"
            else "production"
        )
        return Changed(path, "added" if path not in old else "deleted" if path not in new else "modified", sort)  # type: ignore[arg-type]

    def substance(self) -> tuple[Changed, ...]:
        return tuple(c for c in self.changed() if c.sort == "production" and not c.path.endswith(".md"))

    def read_through(self) -> tuple[Flag, ...]:
        return ()

    def branch(self) -> Branch:
        commits = self.world.commits
        message, tree = commits[-1] if commits else ("", "")
        return Branch("refs/heads/feat/in-memory", self.world.head(), tree, message, len(commits) - self.world.base, tree == self.tree)

    def read(self, path: str) -> str | None:
        text = (
            self.sent.documents[path]
            if path in self.sent.documents
            else self.world.files.get(path)
            if path in PUBLISHED
            else self._files(self.tree).get(path)
        )
        if text is not None:
            self._read[path] = text
        return text

    def tampered(self) -> tuple[str, ...]:
        return ()

    def toolchain(self) -> tuple[str, ...] | None:
        return ()

    def output(self) -> str:
        return self._seen.output if self._seen else ""

    def evidence(self) -> Evidence | None:
        if self._seen is None:
            return None
        of = {o: len(self._seen.having(o)) for o in ("passed", "failed", "error", "skipped")}
        tally = Tally(of["passed"], of["failed"], of["error"], of["skipped"])
        return Evidence("report", RUNNER, self._seen.exit_code, tally, self.tree)

    def record(self) -> Record | None:
        return None

    def documents(self) -> dict[str, str]:
        return {"HEAD": self.world.head(), **self._read}


class MemoryJudge:
    """Runs the real gates over the world in memory."""

    def __init__(self, world: MemoryWorld) -> None:
        self.world = world

    def judge(self, case: Case) -> Found:
        return run_gates(case.row, MemoryLook(self.world, case))


class ScriptedJudge:
    """A judge whose script gives the result of each case. Without a script everything passes."""

    def __init__(self, script: Callable[[Case], Found] | None = None) -> None:
        self.script = script
        self.cases: list[Case] = []

    def judge(self, case: Case) -> Found:
        self.cases.append(case)
        found = self.script(case) if self.script else Found()
        return found if found.tree else msgspec.structs.replace(found, tree=case.tree)
