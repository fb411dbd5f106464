"""A real checkout, as the door needs it: snapshots, judging a submit, effects and jobs (which workflows provide), stamps of briefings."""

import errno
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import msgspec

from detent.door import AnyEvent, AnyRun, Case, always
from detent.effects.publish import restore_edited, where
from detent.errors import Away, CannotTell
from detent.evidence.changes.changes import ReferenceTrees
from detent.evidence.looks.repo_look import RepoLook
from detent.evidence.looks.subject import Subject
from detent.evidence.running.canary import planted_file
from detent.evidence.running.collect import Collector
from detent.gates.judge import judge as run_gates
from detent.git import fingerprint
from detent.git.repo import Git, GitError
from detent.git.snapshot import Snapshot, stamp, take
from detent.git.workspace import local_root, remove_beside, remove_workspace
from detent.kernel.model import Flag, Found, Sent
from detent.kernel.redact import Redact, keys_of, redactor, secrets_of
from detent.world.known_runs import RunConfig, Runs

if TYPE_CHECKING:
    from detent.evidence.looks.own_gates import GatedTree

FINDINGS = "FINDINGS.json"
FULL_DISK = os.strerror(errno.ENOSPC)  # as in git's messages
NOWHERE = Path("/nonexistent")
ITEM_FOLDER = ".detent/"  # the folder of an item's text in its workspace; in no tree


Effects = Mapping[str, Callable[["RepoWorld", AnyEvent], None]]
Jobs = Mapping[str, Callable[["RepoWorld", AnyRun], Sent | None]]


def is_parallel_task(run: AnyRun) -> bool:
    """Whether a run is a parallel task, with a workspace beside its session's."""
    return bool(getattr(run.data, "start_tree", ""))


def root_of(common: Path, run: AnyRun) -> Path:
    """The folder of a run's workspace. A child that is no parallel task uses its parent's."""
    own = run.id if is_parallel_task(run) or not run.parent else run.parent
    return local_root(common, run.data.setup.workspace, own)


class RepoWorld:
    """One checkout; the World of the door."""

    def __init__(self, git: Git, runs: Runs) -> None:
        self.git, self.runs = git, runs
        self.outer, self.config_of, self.clock = runs.outer, runs.config_of, runs.clock
        self.place = git.place
        self.newest = Snapshot("")

    def files_of(self, run: AnyRun) -> Mapping[str, str | None]:
        """The published files of a run as they should be."""
        return self.runs.workflow(run.workflow).files(run)

    def collector(self, run: AnyRun) -> Collector:
        config = self.config_of(run)
        collect = Collector(
            self.git,
            config.suite,
            run.id,
            self.outer,
            config.home,
            self.runs.journal.has_report,
            lambda folder: self._furnish(config, folder),
        )
        collect.say = self.runs.say
        collect.expected = lambda: len(known.ids) if run.data.good_tree and (known := collect.known(run.data.good_tree)) else 0
        return collect

    def _furnish(self, config: RunConfig, folder: Path) -> None:
        if config.settings.get("workspace.setup") or config.settings.get("workspace.copy", "[]") != "[]":
            from detent.world.furnish import furnish_checkout  # few projects need it

            furnish_checkout(self.git, config, folder)

    # -- the World of the door -----------------------------------------------------------------------------------------------

    def snapshot(self, run: AnyRun) -> str:
        fingerprint.check(self.place)
        collect = self.collector(run)
        with _or_cannot_tell():
            collect.sweep()
            self.newest = take(self.git, run.id, collect.created(), run.data.good_tree)
        return self.newest.tree

    def settle(self, effect: str, event: AnyEvent) -> None:
        self.runs.workflow(event.run.workflow).effects[effect](self, event)

    def perform(self, job: str, run: AnyRun) -> Sent | None:
        fingerprint.check(self.place)
        try:
            return self.runs.workflow(run.workflow).jobs[job](self, run)
        except GitError as e:
            if FULL_DISK in e.message:
                raise Away("disk", e.message) from e
            raise
        except OSError as e:
            raise _trouble(e) from e

    def stamps(self, run: AnyRun) -> dict[str, str]:
        """The stamps of all files that a stored briefing depends on: published files, findings, configuration, hooks, HEAD and its ref."""
        git, common = self.place.git_dir, self.place.common_dir
        named = [where(self.place, n) for n in (*self.files_of(run), FINDINGS)]
        head = (git / "HEAD").read_text("utf-8", "replace").removeprefix("ref: ").strip()
        files = [
            *named,
            self.place.root / "detent.toml",
            common / "config",
            common / "hooks",
            git / "HEAD",
            common / head,
            common / "packed-refs",
        ]
        return {**{str(f): stamp(f) for f in files}, str(planted_file(self.place)): ""}  # must not exist

    # -- judging -------------------------------------------------------------------------------------------------------------

    def judge(self, case: Case) -> Found:
        """Run the gates of a row on the case's tree."""
        try:
            with _or_cannot_tell():
                found = run_gates(case.row, self.look(case.run, case.sent, case.tree, case.stands))
        except CannotTell as e:
            found = Found(unclear=str(e), away=getattr(e, "thing", ""), tree=case.tree)
        return _without_keys(found, redactor(secrets_of(self.outer)))

    def look(self, run: AnyRun, sent: Sent, tree: str, wanted: Callable[[], bool] = always) -> RepoLook:
        """A look at a tree of this checkout."""
        config, collect, reference = self.config_of(run), self.collector(run), _reference(run, self.git)
        if tree == self.newest.tree:
            collect.there = self.newest.unknown
        subject = Subject(
            git=self.git,
            collect=collect,
            run=run,
            sent=sent,
            tree=tree,
            reference=reference,
            settings=config.settings,
            preflight=config.preflight,
            published=lambda name: self._published_at(name, run),
            tampered=lambda: self.restore(run),
            left_out=self.newest.left_out,
            wanted=wanted,
            own=self.gated(run, tree, reference.good, wanted) if config.gates else None,
            red_preflight=tuple(c for c in run.data.setup.red_preflight if c not in run.fixed),
            toolchain=lambda: self._toolchain(run),
            keys=keys_of(self.outer),
        )
        return RepoLook(subject)

    def gated(self, run: AnyRun, tree: str, before: str | None = None, wanted: Callable[[], bool] | None = None) -> "GatedTree":
        """A tree for the project's own gates, compared with `before`, or else with the tree of the run's base."""
        from detent.evidence.looks.own_gates import GatedTree  # few projects have gates of their own

        since = self.git.tree(run.data.base) if before is None and run.data.base else before or ""
        return GatedTree(self.config_of(run).gates, self.collector(run), tree, since, wanted or self.runs.wanted)

    def _toolchain(self, run: AnyRun) -> tuple[str, ...] | None:
        """The files of the test runner that changed since the run began and that no person accepted."""
        if not run.data.setup.toolchain:
            return ()
        from detent.evidence.running.toolchain import changed, is_accepted, listing, place_of, records

        config, collect = self.config_of(run), self.collector(run)
        digest, _, place = run.data.setup.toolchain.partition("@")
        if place != place_of(config.home):
            return ()  # on another machine, or in a copy
        now = listing(config.suite.base, config.home, {"PATH": config.suite.path}, collect.store)
        since = changed(digest, now, records(self.place.common_dir))
        return () if since != () and is_accepted(config.home, now) else since

    def _published_at(self, name: str, run: AnyRun) -> Path | None:
        session = getattr(run.data, "session", "")
        if (session and name.startswith(f"{session}/")) or name.startswith(ITEM_FOLDER):
            return self.place.root / name if stays_inside(self.place.root, name) else NOWHERE
        return where(self.place, name) if name in (*self.files_of(run), FINDINGS) else None

    def restore(self, run: AnyRun) -> tuple[str, ...]:
        """Restore published files that were edited by hand, except those that the agent is to write now; returns their names.

        Also removes what a killed test run left behind.
        """
        if planted_file(self.place).exists():
            self.collector(run).sweep()
        theirs = self.runs.workflow(run.workflow).being_written(run)
        return restore_edited(self.place, {n: t for n, t in self.files_of(run).items() if n not in theirs})


@contextmanager
def _or_cannot_tell() -> Iterator[None]:
    """Turn errors of git and the disk into CannotTell: they are not the fault of the judged work."""
    try:
        yield
    except GitError as e:
        raise (Away("disk", e.message) if FULL_DISK in e.message else CannotTell(e.message)) from e
    except OSError as e:
        raise _trouble(e) from e


def _trouble(e: OSError) -> CannotTell:
    message = f"{e.strerror}: {e.filename}" if e.filename else f"{e.strerror}"
    return Away("disk", message) if e.errno in (errno.ENOSPC, errno.EDQUOT) else CannotTell(message)


def _without_keys(found: Found, redact: Redact) -> Found:
    """A Found with secrets redacted in all its texts."""
    texts = {name: tuple(map(redact, getattr(found, name))) for name in ("refused", "failed")}
    flagged = tuple(without_keys(flag, redact) for flag in found.flagged)
    return msgspec.structs.replace(found, **texts, flagged=flagged, unclear=redact(found.unclear), output=redact(found.output))


def without_keys(flag: Flag, redact: Redact) -> Flag:
    texts = {name: redact(getattr(flag, name)) for name in ("sentence", "place", "before", "after")}
    return msgspec.structs.replace(flag, **texts)


def _reference(run: AnyRun, git: Git) -> ReferenceTrees:
    """The trees to compare with. Between two pull requests that is HEAD, or what the run took over at its start."""
    data = run.data
    good = data.good_tree or data.setup.before_first(lambda: git.tree("HEAD"))
    return ReferenceTrees(good, data.reds, data.base, frozenset(data.setup.baseline) - set(run.fixed), data.setup.owes_green)


def stays_inside(root: Path, path: str) -> bool:
    """Whether a path stays inside a checkout: no symlink on the way, no `..`."""
    file = root / path
    inside = ".." not in PurePosixPath(path).parts and not path.startswith("/")
    return inside and os.path.realpath(file.parent) == os.path.normpath(Path(os.path.realpath(root)) / Path(path).parent)


def keep_snapshot(world: RepoWorld, event: AnyEvent) -> None:
    """The effect that keeps a snapshot when a person ends a run."""
    world.snapshot(event.run)


def leave(world: RepoWorld, event: AnyEvent) -> None:
    """The effect that removes a run's workspace; a person's checkout stays."""
    if event.run.data.setup.workspace and not event.run.parent:
        remove_workspace(world.place)
        remove_beside(world.place)


def outcome(name: str, output: str = "", findings: str = "", **facts: str) -> Sent:
    return Sent("outcome", by="system", outcome=name, output=output, findings=findings, facts=facts)


def undo(world: RepoWorld, event: AnyEvent, strays: Callable[..., list[str]] | None) -> None:
    """The effect that restores files that an attempt was not allowed to write, and leaves the rest for the next. Takes a snapshot first."""
    run = event.run
    if strays is None or not (run.data.setup.agent and run.data.good_tree):
        return
    kept = world.snapshot(run)
    if paths := strays(world.look(run, Sent("due"), kept)):
        from detent.git.commits import bring_back  # few attempts leave any

        bring_back(world.git, run.data.good_tree, kept, paths)
