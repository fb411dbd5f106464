"""Collecting evidence, memoised by tree: the suite runs once per tree. Only complete passes are reused as proof.

A kept report is keyed by tree, command, settings and what the tests run on. A report that is not a pass is kept for comparing later
trees with, never for skipping a run.
"""

import json
import os
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path

import msgspec

from detent.errors import CannotTell, Disturbed
from detent.evidence.lend import lend_composer, lend_packages
from detent.evidence.look import TestReport
from detent.evidence.runners.kept import folder_of
from detent.evidence.suite import Suite, environment, forget_bytecode, interpreter, preflight, run_command, run_suite
from detent.git.checkout import clean_checkout
from detent.git.repo import Git
from detent.git.snapshot import differs, stamp, untracked
from detent.git.workspace import borrow

Wanted = Callable[[], bool]


class Kept(msgspec.Struct, frozen=True):
    """A report as it is kept."""

    key: str
    report: TestReport


class Collector:
    """Runs the project's tests for one run, and remembers what it saw."""

    def __init__(self, git: Git, suite: Suite, run: str, outer: Mapping[str, str], home: Path | None = None) -> None:
        self.git, self.suite, self.run = git, suite, run
        self.root = git.place.root
        self.home = home or self.root  # the project's own checkout: where its environment lies
        self.store = git.place.common_dir / "detent" / "evidence"  # a tree is the same in every checkout of the repository
        self.env = environment(suite, outer, git.place.git_dir / "detent" / "pycache", folder_of(git.place.common_dir, outer))
        self.runs = 0  # how often the suite was really run

    # -- what is kept --------------------------------------------------------------------------------------------------------

    def _key(self, tree: str) -> str:
        base = self.suite.base
        parts = [tree, base.text if base else "", str(self.suite.timeout), *self.suite.also, self.suite.path]
        return sha256("\n".join([*parts, interpreter(self.suite, self.home, self.env, self.store)]).encode()).hexdigest()

    def known(self, tree: str) -> TestReport | None:
        """The newest complete report of a tree, whatever it says."""
        kept = self._kept(tree)
        return kept.report if kept else None

    def passed(self, tree: str) -> TestReport | None:
        """The report of a tree, if it is a complete pass under the very same conditions."""
        kept = self._kept(tree)
        if kept and kept.report.ids and not kept.report.bad and kept.key == self._key(tree):
            return kept.report
        return None

    def _kept(self, tree: str) -> Kept | None:
        try:
            return msgspec.json.decode((self.store / f"{tree}.json").read_bytes(), type=Kept)
        except (OSError, msgspec.DecodeError):
            return None

    def _keep(self, tree: str, report: TestReport) -> TestReport:
        if report.complete:
            self.store.mkdir(parents=True, exist_ok=True)
            scratch = self.store / f".{tree}.{os.getpid()}"
            scratch.write_bytes(msgspec.json.encode(Kept(self._key(tree), report)))
            os.replace(scratch, self.store / f"{tree}.json")
        return report

    # -- running -------------------------------------------------------------------------------------------------------------

    def here(self, tree: str, wanted: Wanted, command: str = "") -> TestReport:
        """The suite in the workspace, which holds the judged tree. What changes in it meanwhile makes the run worthless."""
        if not command and (known := self.passed(tree)) is not None:
            return known
        report = self.selection((), wanted, command)
        if changed := differs(self.git, self.run):
            raise Disturbed(f"{changed[0]} changed while the tests ran, so the run says nothing; stop what writes there, and submit again")
        return report if command else self._keep(tree, report)

    def clean(self, tree: str, wanted: Wanted, selectors: tuple[str, ...] = (), overlay: Mapping[str, bytes] | None = None) -> TestReport:
        """The suite in a clean checkout of a tree, with other files laid over it where given."""
        with clean_checkout(self.git, tree) as folder:
            borrow(self.home, folder)
            for path, data in (overlay or {}).items():
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_bytes(data)
            lend_packages(self.root, folder)
            lend_composer(self.home, folder)
            self.runs += 1
            report = self._run(selectors, folder, wanted)
            forget_bytecode(self.env, folder)
        return report if overlay or selectors else self._keep(tree, report)

    def preflight(self, commands: tuple[str, ...], wanted: Wanted) -> tuple[str | None, str]:
        """What the project's own checks say of the workspace, and their output."""
        return preflight(commands, self.suite, self.home, self.root, self._env(self.root), wanted)

    def selection(self, selectors: tuple[str, ...], wanted: Wanted, command: str = "") -> TestReport:
        """Tests in the workspace. What they make there, and make anew, is remembered as theirs."""
        before, ours = set(untracked(self.git)), self.created()
        self.runs += 1
        try:
            return self._run(selectors, self.root, wanted, command)
        finally:
            self._created((set(untracked(self.git)) - before) | ours)

    def _run(self, selectors: tuple[str, ...], cwd: Path, wanted: Wanted, command: str = "") -> TestReport:
        env = self._env(cwd)
        base = self.suite.base
        forget_bytecode(env, cwd)
        if base is not None and base.runner:
            return run_suite(self.suite, selectors, self.home, cwd, env, wanted)
        if not command and base is None:
            raise CannotTell("no test framework is recognised; set [test] command in detent.toml")
        return run_command(command or " ".join(base.argv[2:]) if base else command, self.suite, cwd, env, wanted)

    def _env(self, cwd: Path) -> Mapping[str, str]:
        """Away from the project's own checkout, what is installed there in place must not be taken for the code here."""
        return self.env if cwd == self.home else {**self.env, "PYTHONPATH": os.pathsep.join([str(cwd), str(cwd / "src")])}

    # -- what our own runs leave in the workspace ----------------------------------------------------------------------------

    @property
    def _made(self) -> Path:
        return self.git.place.git_dir / "detent" / "made.json"

    def created(self) -> set[str]:
        """Files that test runs made and nobody touched since: they never belong to a change."""
        return {path for path, was in self._made_before().items() if was == stamp(self.root / path)}

    def _made_before(self) -> dict[str, str]:
        try:
            return {str(k): str(v) for k, v in json.loads(self._made.read_text("utf-8")).items()}
        except (OSError, ValueError):
            return {}

    def _created(self, paths: set[str]) -> None:
        if paths:
            made = {**self._made_before(), **{p: stamp(self.root / p) for p in paths}}
            self._made.parent.mkdir(exist_ok=True)
            self._made.write_text(json.dumps({p: s for p, s in made.items() if s}), "utf-8")
