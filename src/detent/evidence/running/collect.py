"""Collecting evidence, memoised by tree: the suite runs once per tree. Only complete passes are reused as proof.

A kept report is keyed by tree, command, settings and toolchain. One that is no pass is kept only to compare later trees with, never to skip a
run. A kept file could be edited, so it is believed only if the journal has its digest for its tree.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Set
from contextlib import contextmanager, suppress
from copy import copy
from fcntl import LOCK_EX, LOCK_NB, flock
from hashlib import sha256
from pathlib import Path
from shutil import rmtree
from threading import get_ident
from typing import Protocol

import msgspec

from detent.errors import CannotTell, Disturbed
from detent.evidence.report import TestReport
from detent.evidence.runners import RUNNERS, Folder
from detent.evidence.runners.build_caches import builds, folder_of
from detent.evidence.running.canary import left_planted, made_by_tests, note_made, planted_file, thin_out
from detent.evidence.running.installed import Bytecode, fingerprint, python_behind, read_only, scratch_folder, version_of, without
from detent.evidence.running.project_site import Site, write_in_checkout
from detent.evidence.running.suite import (
    BYTECODE,
    ProgressReader,
    Say,
    Suite,
    environment,
    forget_bytecode,
    preflight,
    quietly,
    run_command,
    run_line,
    run_suite,
)
from detent.git.repo import Git
from detent.git.snapshot import looked_over, stamp, untracked
from detent.kernel.redact import redactor, secrets_of
from detent.sandbox.process import Ran
from detent.storage import state

Wanted = Callable[[], bool]
Stands = Callable[[str, str], bool]  # whether the journal has this digest for the report of this tree
Overlay = Mapping[str, bytes | None]  # files laid over a tree; None removes one
Near = tuple[str, ...] | None  # changed test files, next to which the canary is put; None: no canary


class ReportStore(Protocol):
    """The reports of test runs, kept by tree."""

    digests: dict[str, str]  # of each kept or believed report, by tree

    def known(self, tree: str) -> TestReport | None: ...
    def keep(self, tree: str, report: TestReport) -> TestReport: ...


class Collects(ReportStore, Protocol):
    """Runs the project's tests for a look: in the workspace, or only in clean checkouts."""

    suite: Suite

    def here(self, tree: str, wanted: Wanted, command: str = "", near: Near = ()) -> TestReport: ...
    def clean(
        self,
        tree: str,
        wanted: Wanted,
        selectors: tuple[str, ...] = (),
        overlay: Overlay | None = None,
        near: Near = (),
    ) -> TestReport: ...
    def selection(self, tree: str, selectors: tuple[str, ...], wanted: Wanted, command: str = "", near: Near = ()) -> TestReport: ...
    def probe(
        self, tree: str, wanted: Wanted, selectors: tuple[str, ...], overlay: Overlay, seconds: float, name: str = ""
    ) -> TestReport: ...
    def preflight(self, tree: str, commands: tuple[str, ...], wanted: Wanted) -> tuple[str | None, str]: ...


class KeptReport(msgspec.Struct, frozen=True):
    """A report as it is stored."""

    key: str
    report: TestReport
    clean: bool = False  # it ran in a clean checkout


def believe_none(tree: str, digest: str) -> bool:
    """Believe no kept report."""
    return False


class Collector:
    """Runs the project's tests for one run, and keeps the reports."""

    def __init__(
        self,
        git: Git,
        suite: Suite,
        run: str,
        outer: Mapping[str, str],
        home: Path | None = None,
        stands: Stands = believe_none,
        furnish: Callable[[Path], None] = lambda folder: None,
        site: Site | None = None,
    ) -> None:
        self.git, self.run, self.stands, self.furnish = git, run, stands, furnish
        self.digests: dict[str, str] = {}
        self.root = git.place.root
        self.site = site or Site(home or self.root, self.root)
        self.suite = suite._replace(whole=self.site.whole)
        self.home = self.site.home(suite.base) if site else home or self.root  # the project's own checkout, with its environment
        self.store = git.place.common_dir / "detent" / "evidence"  # a tree is the same in every checkout of the repository
        self.env = environment(suite, outer, git.place.git_dir / "detent" / "pycache", folder_of(git.place.common_dir, outer))
        self.redact = redactor(secrets_of(outer))  # removes keys from what is kept
        self.began = ""  # the tree that the work began from; later runs may reuse what its run built
        self.say: Say = quietly  # reports progress
        self.expected: Callable[[], int] = lambda: 0  # how many tests there were last time
        self.runs = 0  # how often the suite really ran
        self.made_in = get_ident()
        self.there: Set[str] | None = None  # untracked files after our last run, or when the tree was taken

    # -- kept reports --------------------------------------------------------------------------------------------------------

    def key(self, tree: str) -> str:
        base, home = self.suite.base, self.of(tree).home
        parts = [
            tree,
            base.text if base else "",
            str(self.suite.timeout),
            *(f"{name}={self.env.get(name, '')}" for name in self.suite.also),
            self.suite.path,
            *(["clean"] if self.suite.clean else []),
            *self.site.words(tree),
        ]
        return sha256("\n".join([*parts, fingerprint(base, home, self.env, self.store)]).encode()).hexdigest()

    def of(self, tree: str) -> "Collector":
        """This collector for a tree with its own dependencies, else itself."""
        if tree not in self.site.installed:
            return self
        own = copy(self)
        own.site = self.site.of(tree)
        own.home = own.site.home(self.suite.base)
        return own

    def known(self, tree: str) -> TestReport | None:
        """The newest complete report of a tree, passed or not."""
        kept = self._kept(tree)
        return kept.report if kept else None

    def passed(self, tree: str, clean: bool = False) -> TestReport | None:
        """The report of a tree, if it is a complete pass under exactly these conditions; with `clean`, from a clean checkout."""
        kept = self._kept(tree)
        if (
            not kept
            or not kept.report.ids
            or kept.report.bad
            or kept.report.partial
            or kept.report.exit_code != 0
            or (clean and not kept.clean)
        ):
            return None
        return kept.report if kept.key == self.key(tree) else None

    def _kept(self, tree: str) -> KeptReport | None:
        try:
            data = (self.store / f"{tree}.json").read_bytes()
            digest = sha256(data).hexdigest()
            if self.digests.get(tree) != digest and not self.stands(tree, digest):
                return None
            self.digests[tree] = digest
            return msgspec.json.decode(data, type=KeptReport)
        except (OSError, msgspec.DecodeError):
            return None

    def keep(self, tree: str, report: TestReport, clean: bool = False) -> TestReport:
        if not report.complete:
            return report
        base = self.suite.base
        version = version_of(base, self.of(tree).home, self.env, self.store) if base and base.runner else ""
        report = msgspec.structs.replace(report, tree=tree, version=version)
        self.store.mkdir(parents=True, exist_ok=True)
        data, scratch = msgspec.json.encode(KeptReport(self.key(tree), report, clean)), self.store / f".{tree}.{os.getpid()}.{get_ident()}"
        scratch.write_bytes(data)
        os.replace(scratch, self.store / f"{tree}.json")
        self.digests[tree] = sha256(data).hexdigest()
        thin_out(self.store)
        return report

    # -- running -------------------------------------------------------------------------------------------------------------

    def here(self, tree: str, wanted: Wanted, command: str = "", near: Near = ()) -> TestReport:
        """Run the suite in the workspace, which holds the judged tree. Changes in the workspace meanwhile void the run.

        `near`: changed test files, next to which the canary is put.
        """
        if not command and (known := self.passed(tree)) is not None:
            return known
        if self.suite.clean:
            return self.clean(tree, wanted, near=near, command=command)
        report = self.selection(tree, (), wanted, command, near)
        return report if command else self.keep(tree, report)

    def clean(
        self,
        tree: str,
        wanted: Wanted,
        selectors: tuple[str, ...] = (),
        overlay: Overlay | None = None,
        near: Near = (),
        command: str = "",
        name: str = "",
    ) -> TestReport:
        """Run the suite in a clean checkout of a tree. An overlay makes it a probe, which tests cannot tell from a plain run."""
        own = self.of(tree)
        with own.checkout(tree, overlay or {}, name) as folder:
            self.runs += 1
            plain = tree == self.began and not (overlay or selectors or command)
            report = (own._filling() if plain else own)._run(selectors, folder, wanted, command, near)
        if overlay and report.canary == "broken" and not report.outcomes:
            raise CannotTell(report.canary_said)  # a probe without a report gives no answer
        return report if overlay or selectors or command else self.keep(tree, report, clean=True)

    def _filling(self) -> "Collector":
        """A copy of this collector whose builds are kept."""
        filling = copy(self)
        filling.suite = self.suite._replace(fills=True)
        return filling

    @property
    def warm(self) -> bool:
        """Whether the builds kept of the base are there for later runs; also true if none are kept."""
        base = self.suite.base
        return base is None or all(each.holds() for each in builds(base.runner, self.env, self.suite.also).values())

    def away(self, folder: Path) -> Mapping[str, str]:
        """The environment of programs in a clean checkout."""
        return self._reading(self._env(folder))

    @contextmanager
    def checkout(self, tree: str, overlay: Overlay | None = None, name: str = "") -> Iterator[Path]:
        """A tree in a folder of its own, with installed dependencies and configured files lent to it, and nothing else of the workspace."""
        with self.site.checkout(self.git, tree, name) as folder:
            self.furnish(self.site.whole(folder))
            for path, data in (overlay or {}).items():
                write_in_checkout(folder, path, data)
            self.site.link_packages(tree, folder)
            yield folder

    def probe(self, tree: str, wanted: Wanted, selectors: tuple[str, ...], overlay: Overlay, seconds: float, name: str = "") -> TestReport:
        """Run some tests on a mutant, in a clean checkout and with a short limit. `name` replaces the folder's name."""
        self.say(f"probing whether the tests notice (try {self.runs + 1})")
        short, self.runs = copy(self), self.runs + 1
        short.say = quietly

        def run(limit: float) -> TestReport:
            short.suite = self.suite._replace(timeout=min(self.suite.timeout, limit))
            return short.clean(tree, wanted, selectors, overlay, name=name)

        from detent.evidence.running.busy import run_within  # imported late: only probes need it

        return run_within(seconds, run)

    def preflight(self, tree: str, commands: tuple[str, ...], wanted: Wanted) -> tuple[str | None, str]:
        """Run the preflight in the workspace or a clean checkout of its tree: what is wrong, and the output."""
        if self.suite.clean and commands:
            with self.checkout(tree, {}) as folder:
                return preflight(commands, self.suite, self.home, folder, self.away(folder), wanted)
        for command in commands:
            self.say(f"running `{command}`")
            with self._our_run(f"`{command}`"):
                result = preflight((command,), self.suite, self.home, self.root, self.away(self.root), wanted)
            if result[0]:
                return result
        return None, ""

    def line(self, command: str, folder: Path, wanted: Wanted) -> Ran:
        """Run one command line in a clean checkout, with the environment of tests."""
        ran = run_line(command, self.suite, folder, self.away(folder), wanted)
        return ran._replace(output=self.redact(ran.output))

    def selection(self, tree: str, selectors: tuple[str, ...], wanted: Wanted, command: str = "", near: Near = ()) -> TestReport:
        """Run selected tests in the workspace, which holds this tree."""
        if self.suite.clean:
            return self.clean(tree, wanted, selectors, near=near, command=command)
        self.runs += 1
        with self._our_run("the tests"):
            return self._run(selectors, self.root, wanted, command, near)

    @contextmanager
    def _our_run(self, what: str) -> Iterator[None]:
        """Wrap a run in the workspace: remember the files that it creates, and raise Disturbed if its files change meanwhile."""
        with self._planting():
            self._remove_planted()
            before, ours = set(untracked(self.git)) if self.there is None else self.there, self.created()
            try:
                yield
            finally:
                self._remove_planted()
                unknown, changed = looked_over(self.git, self.run)
                self.there = set(unknown)  # the next run starts with these, if it follows at once
                self._created((self.there - before) | ours)
        if changed:
            raise Disturbed(f"{changed[0]} changed while {what} ran, so the run does not count; stop what writes there, and submit again")

    def _run(self, selectors: tuple[str, ...], cwd: Path, wanted: Wanted, command: str = "", near: Near = ()) -> TestReport:
        report = self._ran(selectors, cwd, wanted, command, near)
        messages = {i: self.redact(text) for i, text in report.messages.items()}
        return msgspec.structs.replace(report, output=self.redact(report.output), messages=messages, fault=self.redact(report.fault))

    def _ran(self, selectors: tuple[str, ...], cwd: Path, wanted: Wanted, command: str, near: Near) -> TestReport:
        base, suite = self.suite.base, self.suite
        if self.say is not quietly and get_ident() == self.made_in:  # parallel runs report no progress and may not ask the journal
            total = 0 if selectors else self.expected()
            suite = suite._replace(seen=ProgressReader(self.say, "running some tests" if selectors else "running the tests", total).feed)
        with self._bytecode(self._env(cwd), cwd, not selectors) as env:
            forget_bytecode(env, cwd)
            if base is not None and base.runner:
                canary = "" if near is None else RUNNERS[base.runner].canary(base, selectors, Folder(cwd), near)
                if cwd == self.root and not isinstance(canary, str):
                    state.write_sealed(self._planted, json.dumps([canary_file.path for canary_file in canary.canary_files]), durable=False)
                return run_suite(suite, selectors, self.home, cwd, env, wanted, canary)
            if not command and base is None:
                raise CannotTell("no test framework is recognised; set [test] command in detent.toml")
            return run_command(base.text if base else command, suite, cwd, env, wanted)

    def _env(self, cwd: Path) -> Mapping[str, str]:
        """Outside the project's own checkout, PYTHONPATH makes the code here win over the project's editable installs."""
        return self.env if cwd == self.home else {**self.env, "PYTHONPATH": os.pathsep.join(self.site.in_place(cwd))}

    # -- bytecode --------------------------------------------------------------------------------------------------------------

    @contextmanager
    def _bytecode(self, env: Mapping[str, str], cwd: Path, whole: bool) -> Iterator[Mapping[str, str]]:
        """The environment of a run, without bytecode that a test could have written. The first whole run of an environment shows what to compile."""
        kept = self._kept_bytecode() if whole else None
        if kept is None or kept.holds():
            yield self._reading(env) if kept is None else read_only(env, kept)
            return
        scratch = scratch_folder()
        try:
            yield {**env, BYTECODE: str(scratch)}
            kept.fill(scratch, cwd)
        finally:
            rmtree(scratch, ignore_errors=True)

    def _reading(self, env: Mapping[str, str]) -> Mapping[str, str]:
        if BYTECODE in self.suite.also:
            return env
        kept = self._kept_bytecode()
        return read_only(env, kept) if kept is not None and kept.folder.is_dir() and kept.holds() else without(env)

    def _kept_bytecode(self) -> Bytecode | None:
        """The kept bytecode of a Python runner; None for other runners, or if the person sets their own prefix."""
        base = self.suite.base
        if BYTECODE in self.suite.also or base is None or base.runner not in ("pytest", "unittest"):
            return None
        python = python_behind(base, self.home, self.env)
        kept = Bytecode(self.home, sha256(f"{fingerprint(base, self.home, self.env, self.store)}\n{python}".encode()).hexdigest(), python)
        return kept if kept.python else None

    # -- files that our runs leave in the workspace --------------------------------------------------------------------------

    def created(self) -> set[str]:
        return made_by_tests(self.git.place)

    @property
    def _planted(self) -> Path:
        return planted_file(self.git.place)

    @contextmanager
    def _planting(self, how: int = LOCK_EX) -> Iterator[None]:
        """Lock the canary files in the workspace. A killed process releases the lock."""
        self._planted.parent.mkdir(exist_ok=True)
        with self._planted.with_suffix(".lock").open("a") as lock:
            flock(lock, how)
            yield

    def sweep(self) -> None:
        """Remove the canary files of a killed run, but not those of one that still runs."""
        if self._planted.exists():
            with suppress(BlockingIOError), self._planting(LOCK_EX | LOCK_NB):
                self._remove_planted()

    def _remove_planted(self) -> None:
        for path in left_planted(self.git.place):
            (self.root / path).unlink(missing_ok=True)
        self._planted.unlink(missing_ok=True)

    def _created(self, paths: set[str]) -> None:
        if paths:
            note_made(self.git.place, {path: stamp(self.root / path) for path in paths})
