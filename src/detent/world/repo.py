"""One checkout, real: its snapshots, its stamps, and how a submit is judged in it. Who performs an effect or a job is handed in."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple, Protocol

import msgspec

from detent.blocks.proved import Fold
from detent.door import AnyEvent, AnyRun, Case, always
from detent.effects.publish import edited, where
from detent.errors import CannotTell
from detent.evidence.bite import Marks
from detent.evidence.collect import Collector, Stands, nothing_stands
from detent.evidence.eyes import RepoLook, Scene
from detent.evidence.own_traces import planted_file
from detent.gates.judge import judge as run_gates
from detent.git import fingerprint
from detent.git.repo import Git, GitError
from detent.git.snapshot import Snapshot, stamp, take
from detent.git.workspace import local_root, remove_beside, remove_workspace
from detent.kernel.model import Flag, Found, Sent
from detent.kernel.redact import Redact, keys_of, redactor, secrets_of
from detent.world.kit import Kit
from detent.world.reviewer import Asking

if TYPE_CHECKING:
    from detent.evidence.own_gates import GatedTree

FINDINGS = "FINDINGS.json"
NOWHERE = Path("/nonexistent")
ITEM_FOLDER = ".detent/"  # where the text of a work item lies in its workspace; no part of any tree


Effects = Mapping[str, Callable[["RepoWorld", AnyEvent], None]]
Jobs = Mapping[str, Callable[["RepoWorld", AnyRun], Sent | None]]


def no_reviewer(run: AnyRun) -> Asking:
    raise CannotTell("there is no reviewer to ask")


class Carried(Protocol):
    """What is asked of the workflow of a run: who performs what, its published files, and what its events may claim."""

    @property
    def effects(self) -> Effects: ...
    @property
    def jobs(self) -> Jobs: ...
    @property
    def files(self) -> Callable[[AnyRun], Mapping[str, str | None]]: ...
    @property
    def claims(self) -> Fold: ...
    @property
    def being_written(self) -> Callable[[AnyRun], tuple[str, ...]]: ...


class Gear(NamedTuple):
    """What the composition root hands to a world: how to make a run's configuration and files, its history, and who performs what."""

    outer: Mapping[str, str]
    kit_of: Callable[[AnyRun], Kit]
    workflow: Callable[[str], Carried]
    clock: Callable[[], str]
    history: Callable[[str], Iterable[AnyEvent]]
    wanted: Callable[[], bool] = always  # whoever asked still waits
    family: Callable[[str], Sequence[AnyRun]] = lambda run: ()  # a run and its children as they stand, oldest first
    when: Callable[[str, int], str] = lambda run, seq: ""  # the time of an event
    stands: Stands = nothing_stands  # whether an event has this digest for the report of a tree
    reviewer: Callable[[AnyRun], Asking] = no_reviewer  # how the reviewer of a run is asked


def is_apart(run: AnyRun) -> bool:
    """Whether a run works in a workspace of its own, beside others of its session."""
    return bool(getattr(run.data, "start_tree", ""))


def root_of(common: Path, run: AnyRun) -> Path:
    """Where the workspace of a run stands for this clone. A child that does not work apart has its parent's."""
    own = run.id if is_apart(run) or not run.parent else run.parent
    return local_root(common, run.data.setup.workspace, own)


class RepoWorld:
    """One checkout, as the door sees it."""

    def __init__(self, git: Git, gear: Gear) -> None:
        self.git, self.gear = git, gear
        self.outer, self.kit_of, self.clock = gear.outer, gear.kit_of, gear.clock
        self.place = git.place
        self.newest = Snapshot("")

    def files_of(self, run: AnyRun) -> Mapping[str, str | None]:
        """The published files of a run as they should be."""
        return self.gear.workflow(run.workflow).files(run)

    def collector(self, run: AnyRun) -> Collector:
        kit = self.kit_of(run)
        return Collector(self.git, kit.suite, run.id, self.outer, kit.home, self.gear.stands, lambda folder: self._furnish(kit, folder))

    def _furnish(self, kit: Kit, folder: Path) -> None:
        if kit.settings.get("workspace.setup") or kit.settings.get("workspace.copy", "[]") != "[]":
            from detent.world.furnish import furnish_checkout  # few projects need it

            furnish_checkout(self.git, kit, folder)

    # -- what the door asks for ----------------------------------------------------------------------------------------------

    def snapshot(self, run: AnyRun) -> str:
        fingerprint.check(self.place)
        collect = self.collector(run)
        with _or_cannot_tell():
            collect.sweep()
            self.newest = take(self.git, run.id, collect.created(), run.data.good_tree)
        return self.newest.tree

    def settle(self, effect: str, event: AnyEvent) -> None:
        self.gear.workflow(event.run.workflow).effects[effect](self, event)

    def perform(self, job: str, run: AnyRun) -> Sent | None:
        fingerprint.check(self.place)
        try:
            return self.gear.workflow(run.workflow).jobs[job](self, run)
        except OSError as e:
            raise CannotTell(f"{e.strerror}: {e.filename}") from e

    def stamps(self, run: AnyRun) -> dict[str, str]:
        """What a stored briefing depends on outside the journal: published files, findings, configuration, hooks, HEAD and its ref, what a run left."""
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
        return {**{str(f): stamp(f) for f in files}, str(planted_file(self.place)): ""}  # which must not be there

    # -- judging -------------------------------------------------------------------------------------------------------------

    def judge(self, case: Case) -> Found:
        """The gates of a row, over a look at this checkout."""
        try:
            with _or_cannot_tell():
                found = run_gates(case.row, self.look(case.run, case.sent, case.tree, case.stands))
        except CannotTell as e:
            found = Found(unclear=str(e), tree=case.tree)
        return _without_keys(found, redactor(secrets_of(self.outer)))

    def look(self, run: AnyRun, sent: Sent, tree: str, wanted: Callable[[], bool] = always) -> RepoLook:
        """Eyes on a tree of this checkout."""
        kit, collect, marks = self.kit_of(run), self.collector(run), _marks(run, self.git)
        if tree == self.newest.tree:
            collect.there = self.newest.unknown
        scene = Scene(
            git=self.git,
            collect=collect,
            run=run,
            sent=sent,
            tree=tree,
            marks=marks,
            settings=kit.settings,
            preflight=kit.preflight,
            published=lambda name: self._published_at(name, run),
            tampered=lambda: self.restore(run),
            left_out=self.newest.left_out,
            wanted=wanted,
            own=self.gated(run, tree, marks.good, wanted) if kit.gates else None,
            red_preflight=tuple(c for c in run.data.setup.red_preflight if c not in run.fixed),
            toolchain=lambda: self._toolchain(run),
            keys=keys_of(self.outer),
        )
        return RepoLook(scene)

    def gated(self, run: AnyRun, tree: str, before: str | None = None, wanted: Callable[[], bool] | None = None) -> "GatedTree":
        """A tree for the gates that the run's project configures, and the one that it is compared with: that of the run's base unless another is named."""
        from detent.evidence.own_gates import GatedTree  # few projects have gates of their own

        since = self.git.tree(run.data.base) if before is None and run.data.base else before or ""
        return GatedTree(self.kit_of(run).gates, self.collector(run), tree, since, wanted or self.gear.wanted)

    def _toolchain(self, run: AnyRun) -> tuple[str, ...] | None:
        """The files of the test runner that are neither as the run found them nor as a person accepted them since."""
        if not run.data.setup.toolchain:
            return ()
        from detent.evidence.toolchain import changed, is_accepted, listing, place_of, records

        kit, collect = self.kit_of(run), self.collector(run)
        digest, _, place = run.data.setup.toolchain.partition("@")
        if place != place_of(kit.home):
            return ()  # on another machine, or in a copy
        now = listing(kit.suite.base, kit.home, {"PATH": kit.suite.path}, collect.store)
        since = changed(digest, now, records(self.place.common_dir))
        return () if since != () and is_accepted(kit.home, now) else since

    def _published_at(self, name: str, run: AnyRun) -> Path | None:
        session = getattr(run.data, "session", "")
        if (session and name.startswith(f"{session}/")) or name.startswith(ITEM_FOLDER):
            return self.place.root / name if is_plain(self.place.root, name) else NOWHERE
        return where(self.place, name) if name in (*self.files_of(run), FINDINGS) else None

    def restore(self, run: AnyRun) -> tuple[str, ...]:
        """Published files that were edited by hand, restored. While the agent is asked to write the plan, the plan is its own.

        What a test run that was killed left behind is taken away.
        """
        if planted_file(self.place).exists():
            self.collector(run).sweep()
        theirs = self.gear.workflow(run.workflow).being_written(run)
        return edited(self.place, {n: t for n, t in self.files_of(run).items() if n not in theirs})


@contextmanager
def _or_cannot_tell() -> Iterator[None]:
    """Trouble with the disk or with git is not the fault of what is judged: nothing can be told."""
    try:
        yield
    except GitError as e:
        raise CannotTell(e.message) from e
    except OSError as e:
        raise CannotTell(f"{e.strerror}: {e.filename}") from e


def _without_keys(found: Found, redact: Redact) -> Found:
    """What is written down of a judgement says no secret, whatever the tests or the tree said."""
    texts = {name: tuple(map(redact, getattr(found, name))) for name in ("refused", "failed")}
    flagged = tuple(without_keys(flag, redact) for flag in found.flagged)
    return msgspec.structs.replace(found, **texts, flagged=flagged, unclear=redact(found.unclear), output=redact(found.output))


def without_keys(flag: Flag, redact: Redact) -> Flag:
    texts = {name: redact(getattr(flag, name)) for name in ("sentence", "place", "before", "after")}
    return msgspec.structs.replace(flag, **texts)


def _marks(run: AnyRun, git: Git) -> Marks:
    """What a tree is compared with. Between two pull requests that is what is committed, or what was taken over when the run began."""
    data = run.data
    good = data.good_tree or data.setup.before_first(lambda: git.tree("HEAD"))
    return Marks(good, data.reds, data.base, frozenset(data.setup.baseline) - set(run.fixed), data.setup.owes_green)


def is_plain(root: Path, path: str) -> bool:
    """Whether a path leads straight down from a checkout: no link on the way, no step up."""
    file = root / path
    inside = ".." not in PurePosixPath(path).parts and not path.startswith("/")
    return inside and os.path.realpath(file.parent) == os.path.normpath(Path(os.path.realpath(root)) / Path(path).parent)


def keep_snapshot(world: RepoWorld, event: AnyEvent) -> None:
    """The effect that every workflow owes when a person ends a run."""
    world.snapshot(event.run)


def leave(world: RepoWorld, event: AnyEvent) -> None:
    """Give up the machine's own checkout; a person's stays."""
    if event.run.data.setup.workspace and not event.run.parent:
        remove_workspace(world.place)
        remove_beside(world.place)


def outcome(name: str, output: str = "", findings: str = "", **facts: str) -> Sent:
    return Sent("outcome", by="system", outcome=name, output=output, findings=findings, facts=facts)
