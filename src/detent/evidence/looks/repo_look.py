"""The Look at one submit in a real repository. Answers by running tests and reading the judged tree, and never trusts what an agent says."""

import shlex
from hashlib import sha256
from typing import TYPE_CHECKING, Literal

import msgspec

from detent.errors import CannotTell
from detent.evidence.changes.changes import LARGEST_DOCUMENT, Changes, TreeFiles, read_plain
from detent.evidence.look import PROBE_SECONDS, Branch, Probed
from detent.evidence.looks.subject import Subject
from detent.evidence.outcomes.outcomes import Outcomes, compare, laid_over
from detent.evidence.outcomes.reasons import Reason, reason
from detent.evidence.outcomes.settle import describe_outcomes, runnable, settled
from detent.evidence.report import TestReport
from detent.evidence.runners import RUNNERS, refuse
from detent.evidence.running.canary import TAMPERED
from detent.evidence.running.suite import check_timeout
from detent.evidence.source.diff import Changed, Rewritten, rewritten
from detent.evidence.source.test_ids import behind_links, selects
from detent.kernel.model import Evidence, Flag, OwnGate, Record, Tally, commands_of, gates_at
from detent.kernel.table import GateResult
from detent.storage.state import drawing_key

if TYPE_CHECKING:
    from detent.evidence.probes.context import ProbeContext

QUICK = 3.0  # least time limit in seconds for a probe while someone waits
STARTS, USUAL_START = 4, 1.0  # test runs whose start-up beyond the usual seconds is added to that limit
MOST_IDS = 20  # test ids that an event keeps; the report has all of them


class RepoLook:
    """Everything the gates may ask about one submit; each answer is computed once."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.run, self.sent, self.tree = subject.run, subject.sent, subject.tree
        self._tests: TestReport | None = None
        self._outcomes: Outcomes | None = None
        self._first: TestReport | None = None  # the report of the base
        self._part: TestReport | None = None  # the part that was run, if not the whole suite
        self._picked: TestReport | None = None
        self._tampered: tuple[str, ...] | None = None
        self._output = ""
        self._passing: tuple[str, ...] = ()  # preflight commands and gates that failed before the work began and pass now
        self._branch: Branch | None = None
        judging = (*subject.preflight, *commands_of(subject.own.gates if subject.own else ()))
        self.changes = Changes(subject.git, subject.collect, subject.reference.good, subject.tree, judging)
        self._runner = subject.collect.suite.base.runner if subject.collect.suite.base else ""  # empty: only an exit code can be read
        self._head = subject.git.commit_shown("HEAD")  # commit, tree and message, read at the same moment
        self._read: dict[str, str] = {"HEAD": self._head[0]}

    # -- settings and documents ----------------------------------------------------------------------------------------------

    def setting(self, name: str) -> str:
        return self.subject.settings.get(name, "")

    def read(self, path: str) -> str | None:
        """A file of the judged tree, a published file, or one of an earlier tree (GOOD:path, BASE:path; not recorded among the documents)."""
        earlier = {"GOOD": self.subject.reference.good, "BASE": self.subject.reference.base}
        tree, _, name = path.rpartition(":")
        if self.sent.by == "human" and (written := self.sent.documents.get(path)) is not None:
            self._read[path] = written
            return written
        file = self.subject.published(path)
        data = read_plain(file) if file else self._at(earlier[tree], name) if tree in earlier else self.subject.git.read(self.tree, path)
        if data is None:
            return None
        if len(data) > LARGEST_DOCUMENT:
            raise CannotTell(f"{path} has {len(data)} bytes, which is too large for a plan")
        text = data.decode("utf-8", "replace")
        if tree not in earlier:
            self._read[path] = text
        return text

    def _at(self, tree: str, path: str) -> bytes | None:
        return self.subject.git.read(tree, path) if tree else None

    def documents(self) -> dict[str, str]:
        return {**self._read, "HEAD^{tree}": self._head[1]}

    def tampered(self) -> tuple[str, ...]:
        if self._tampered is None:
            self._tampered = self.subject.tampered()
        return self._tampered

    def toolchain(self) -> tuple[str, ...] | None:
        return self.subject.toolchain()

    # -- tests ---------------------------------------------------------------------------------------------------------------

    def tests(self) -> TestReport:
        if self._tests is None:
            try:
                seen = self.subject.collect.here(self.tree, self.subject.wanted, self._own_command(), self._near())
                self._tests = self._check_timeout(self._believed(seen))
            except CannotTell as e:
                self._tests = self._blame(e)
            self._output = self._tests.output
        return self._tests

    def run_changed(self) -> TestReport:
        """Run only the changed test files and take all other results from the tree before; the whole suite if that is not possible."""
        if self._tests is None and (files := runnable(self.changed(), self.tests_before())):
            deleted = {c.path for c in self.changed() if c.how == "deleted"}
            try:
                seen = self.subject.collect.selection(self.tree, files, self.subject.wanted, near=self._near())
                part = self._check_timeout(self._believed(seen))
            except CannotTell as e:
                part = self._blame(e)
            if part.fault:
                self._output, self._tests = part.output, part
            elif part.ids:
                self._output, self._part = part.output, part
                self._tests = self.subject.collect.keep(self.tree, laid_over(self.tests_before(), part, {*files, *deleted}))
        return self.tests()

    def outcomes(self) -> Outcomes:
        if self._outcomes is None:
            self._outcomes = settled(compare(self.tests_before(), self.tests()), self, self.why)
        return self._outcomes

    def why(self, test: str) -> Reason:
        is_test, read = (lambda path: self.changes.sort(path) == "test"), (lambda path: self.changes.text(path)(self.tree))
        return reason(self.tests(), test, is_test, self._is_third_party, read)

    def _at_start(self) -> TestReport:
        """The known report of the base; empty if there is none."""
        if self._first is None:
            base = self.subject.reference.base
            tree = self._head[1] if base == self._head[0] else ""
            known = self.subject.collect.known(tree or self.subject.git.tree(base)) if base and self._runner else None
            self._first = known or TestReport()
        return self._first

    def known_failures(self) -> frozenset[str]:
        reference = self.subject.reference
        known = reference.baseline if reference.owes_green else reference.baseline | self._at_start().bad
        return known - set(self.subject.run.fixed)

    def known_skips(self) -> frozenset[str]:
        return self._at_start().having("skipped")

    def rewritten(self) -> tuple[Rewritten, ...]:
        return rewritten(self.changes.patch(), lambda path: self.changes.sort(path) == "test")

    def weakened(self) -> tuple[str, ...]:
        replaced = self.outcomes().replaced if self._runner else {}
        if not self._runner or not (replaced or any(c.sort == "test" and c.how != "added" for c in self.changed())):
            return ()  # no older test was changed, nor anything it uses
        from detent.evidence.probes.weakened import weakened

        return weakened(self.probe_context(), self.tests(), self.tests_before(), replaced)

    def _is_third_party(self, name: str) -> bool:
        """Whether a missing module is a third-party package. A name that exists in either tree is the project's own."""
        files, here = (TreeFiles(self.subject.git, tree) for tree in (self.subject.reference.good, self.tree))
        top = name.partition(".")[0].partition("/")[0]
        if top and any(files.exists(path) for path in (top, f"{top}.py", f"src/{top}", f"src/{top}.py", f"lib/{top}")):
            return False
        from detent.evidence.changes.dependencies import declared_dependencies, is_foreign  # only needed if a test lacks a module

        return is_foreign(declared_dependencies(files) | declared_dependencies(here))(name)

    def restoring(self, path: str) -> str:
        return f"git restore --source={self.subject.reference.good[:12]} -- {shlex.quote(path)}"

    def _own_command(self) -> str:
        """The agent's test command, if the project has none."""
        return "" if self.subject.collect.suite.base else self.sent.test_command

    def _blame(self, trouble: CannotTell) -> TestReport:
        from detent.evidence.running.good_tree import blamed

        return blamed(trouble, self.subject.collect, self.subject.reference.good, self.subject.wanted)

    def _check_timeout(self, report: TestReport) -> TestReport:
        return check_timeout(report, self.tests_before(), self.subject.collect.suite.timeout) if report.late else report

    def _near(self) -> tuple[str, ...]:
        """The changed files that tests depend on: the best places for a canary."""
        return tuple(c.path for c in self.changed() if c.sort in ("test", "config") and c.how != "deleted")

    def _believed(self, report: TestReport) -> TestReport:
        """A broken canary is the change's fault if the canary holds without the change at the same place; else the project does not support canaries.

        If it is known to have held on the last good tree, the base is asked instead, since no agent wrote that.
        """
        if report.canary != "broken":
            return report
        reference = self.subject.reference
        known = self.subject.collect.known(reference.good)
        good = self.subject.git.tree(reference.base) if known is not None and known.canary == "held" and reference.base else reference.good
        if self.subject.collect.clean(good, self.subject.wanted, near=self._near()).canary != "held":
            return msgspec.structs.replace(report, canary="unsupported")
        return report if report.outcomes else msgspec.structs.replace(report, fault=f"{TAMPERED}: {report.canary_said}")

    def tests_before(self) -> TestReport:
        if not self._runner:
            return TestReport()  # an exit code has no tests to compare
        known = self.subject.collect.known(self.subject.reference.good)
        if known is not None:
            return known
        from detent.evidence.running.good_tree import run_good  # most steps follow one that was tested

        return run_good(self.subject.collect, self.subject.reference.good, self.subject.wanted)

    def selected(self) -> TestReport:
        if self._picked is None:
            self._picked = self._select()
        return self._picked

    def _select(self) -> TestReport:
        base, whole = self.subject.collect.suite.base, self.tests()
        if base is None or not base.runner or whole.fault:
            return whole
        wanted = RUNNERS[base.runner].parse(self.sent.test_command, base).selectors
        if any(w.startswith("-") for w in wanted):
            return self._believed(self.subject.collect.selection(self.tree, wanted, self.subject.wanted, near=self._near()))
        places = [name for w in wanted for name in (w, behind_links(w, self.subject.git.place.root))]
        ids = [i for i in whole.ids if not wanted or any(selects(w, i) for w in places)]
        return msgspec.structs.replace(whole, outcomes={i: whole.outcomes[i] for i in ids})

    def tests_laid_over(self, tree: str) -> TestReport:
        overlay = self.changes.overlay(tree)
        return self.subject.collect.clean(tree, self.subject.wanted, tuple(overlay), overlay)

    def tests_when_clean(self) -> TestReport | None:
        return self.subject.collect.clean(self.tree, self.subject.wanted) if self.subject.collect.suite.base else None

    def again(self, tests: frozenset[str], watched: bool = True) -> TestReport:
        """Run these tests again, with all others in their files, in the same workspace and on the same tree."""
        base, whole = self.subject.collect.suite.base, self.tests()
        files = tuple(sorted({whole.files.get(i, i.partition("::")[0]) for i in tests}))
        if base is None or not base.runner or not files:
            return whole
        seen = self.subject.collect.selection(self.tree, files, self.subject.wanted, near=files if watched else None)
        return self._believed(seen)

    def late(self) -> bool:
        return self._tests is not None and self._tests.late

    def _quick(self) -> float:
        """Time limit of a probe while someone waits: a few seconds or half the suite, plus a few starts if starting the tests alone is slow."""
        seen = self.tests()
        return max(QUICK, seen.seconds / 2) + STARTS * max(0.0, seen.wall - seen.seconds - USUAL_START)

    def probe_context(self, seconds: float = 0.0) -> "ProbeContext":
        """The context for a probe. Without `seconds`, the time limit depends on whether someone waits."""
        from detent.evidence.probes.context import ProbeContext

        subject = self.subject
        seconds = seconds or (self._quick() if subject.quick else PROBE_SECONDS)
        key = drawing_key(self.tree)
        return ProbeContext(
            subject.git, subject.collect, subject.wanted, self.changes.sort, self.tree, subject.reference, self.changed(), seconds, key
        )

    def changed_tests_still_fail(self) -> bool:
        from detent.evidence.probes.mutant_kills import changed_tests_still_fail

        return changed_tests_still_fail(self.probe_context(), frozenset(self.tests().files.values()))

    def kills_mutant(self, about: tuple[str, ...] = ()) -> bool:
        from detent.evidence.probes.mutant_kills import new_tests_kill_mutant

        # there is no other proof where this is asked, so it gets the full time
        return new_tests_kill_mutant(self.probe_context(PROBE_SECONDS), about)

    def passing_inverted(self) -> tuple[str, ...]:
        from detent.evidence.probes.test_probes import passing_inverted

        return passing_inverted(self.probe_context(), self.tests(), self.tests_before()) if self._runner else ()

    def probed(self) -> Probed:
        from detent.evidence.probes.test_probes import probe

        return probe(self.probe_context(self._asked("vacuous-test")), self.tests(), self.tests_before()) if self._runner else Probed()

    def _asked(self, kind: str) -> float:
        """The full time limit if a flag of this kind fails the step, since people who configure that accept the wait; else 0, for the default."""
        return PROBE_SECONDS if self.setting(f"flags.{kind}") == "fail" else 0.0

    def refactored(self) -> Probed:
        from detent.evidence.probes.test_probes import probe_refactored

        context = self.probe_context(self._asked("unnoticed"))
        return probe_refactored(context, self.tests(), self.changes.patch()) if self._runner else Probed()

    def untested(self, all_of_it: bool = True) -> tuple[str, ...]:
        """The changed places in code that no test proves, and files that no test needs; without `all_of_it`, only such files, since a RED proves the code."""
        from detent.evidence.probes.unproved import code_of, unneeded_files, unproved

        code = code_of(self.changes)
        return unproved(self.probe_context(), code) if all_of_it else unneeded_files(self.probe_context(), code) if len(code) > 1 else ()

    def preflight(self) -> str | None:
        """What is wrong by the project's preflight commands. Those that failed before the work began are shown but do not count."""
        from detent.evidence.running.checks import ChecksAsked, own_checks  # only needed for a step whose tests pass

        subject = self.subject
        seen = own_checks(
            ChecksAsked(subject.preflight, subject.red_preflight, {c.path for c in self.changed()}),
            lambda commands: subject.collect.preflight(self.tree, commands, subject.wanted),
        )
        self._passing, self._output = seen.passing, seen.output or self._output
        return seen.wrong

    def own_gates(self, *steps: str) -> tuple[OwnGate, ...]:
        return gates_at(self.subject.own.gates, *steps) if self.subject.own else ()

    def own_gate(self, gate: OwnGate) -> GateResult:
        assert self.subject.own is not None, "only a gate of `own_gates` is asked"
        seen = self.subject.own.judged(gate, gate.known_as in self.subject.red_preflight)
        self._passing, self._output = (*self._passing, *seen.fixed), seen.output or self._output
        return seen.result

    def fixed(self) -> tuple[str, ...]:
        passed = self._tests.having("passed") if self._tests else frozenset[str]()
        return (*sorted(self.subject.reference.baseline & passed), *self._passing)

    def refused_command(self, command: str) -> str | None:
        return refuse(command, self.subject.collect.suite.base)

    # -- the tree and the branch ---------------------------------------------------------------------------------------------

    def changed(self) -> tuple[Changed, ...]:
        return self.changes.all()

    def only_stubs(self, path: str) -> bool:
        from detent.evidence.source.stubs import only_stubs

        base = self.subject.collect.suite.base
        return base is not None and only_stubs(base.runner, *map(self.changes.text(path), (self.subject.reference.good, self.tree)))

    def keys_added(self) -> tuple[str, ...]:
        from detent.evidence.source.secret_keys import keys_added

        return keys_added(self.changes.patch(), self.subject.keys)

    def substance(self) -> tuple[Changed, ...]:
        from detent.evidence.changes.no_substance import is_no_substance

        return tuple(c for c in self.changed() if c.sort in ("production", "unknown") and not is_no_substance(self.changes, c))

    def read_through(self) -> tuple[Flag, ...]:
        from detent.evidence.static_analysis.static_flags import static_flags

        return static_flags(self.changes, self.subject.keys)

    def branch(self) -> Branch:
        if self._branch is None:
            git, base = self.subject.git, self.subject.reference.base
            head, tree, message = self._head
            over = git.count(base, head) if base and head else 0
            self._branch = Branch(git.branch(), head, tree, message, over, tree == self.tree)
        return self._branch

    # -- what the verdict shows and the event records ------------------------------------------------------------------------

    def output(self) -> str:
        outcomes = describe_outcomes(self._outcomes, self.why) if self._outcomes and self._runner else ""
        left = f"\n[not part of the change: {', '.join(self.subject.left_out)}]" if self.subject.left_out else ""
        known = "".join(
            f"\n[`{command}` failed before the work began, so it does not count]"
            for command in self.subject.red_preflight
            if command not in self._passing
        )
        mute = self._tests.canary_said if self._tests and self._runner and self._tests.canary == "unsupported" else ""
        open_ = getattr(self.subject.collect.suite.sandbox, "because", "") if self._tests or self._part else ""
        walls = f"\n[the tests ran with your full permissions: {open_}; see `detent doctor`]" if open_ else ""
        return (
            outcomes + self._output + left + known + walls + (f"\n[Detent could not add its own tests to this run: {mute}]" if mute else "")
        )

    def evidence(self) -> Evidence | None:
        seen = self._part or self._tests
        if seen is None:
            return None
        of = {o: len(seen.having(o)) for o in ("passed", "failed", "error", "skipped")}
        kind: Literal["report", "exit-code"] = "report" if self._runner else "exit-code"
        return Evidence(
            kind,
            seen.command,
            seen.exit_code,
            Tally(of["passed"], of["failed"], of["error"], of["skipped"]),
            self.tree,
            seen.canary,
            sandbox=self.subject.collect.suite.sandbox.name,
        )

    def record(self) -> Record | None:
        seen, kept = self._part or self._tests, dict(self.subject.collect.digests)
        if seen is None:
            return Record(reports=kept) if kept else None
        ids = [*sorted(seen.bad), *sorted(seen.ids - seen.bad)][:MOST_IDS]
        output = sha256(seen.output.encode("utf-8", "surrogateescape")).hexdigest()
        return Record(f"{seen.runner} {seen.version}".strip(), seen.seconds, seen.wall, output, tuple(ids), kept)
