"""Chooses the checkout of a run: the person's own, or a workspace. The door calls this; it passes each call to one RepoWorld."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

from detent.app.opened import shared_url
from detent.app.registry import is_workflow, workflow_of
from detent.door import AnyEvent, AnyRun, Case
from detent.errors import TESTS, Away, CannotTell, DetentError, Outage, Unreached
from detent.git.place import Place
from detent.git.repo import Git
from detent.git.workspace import make_workspace, remove_beside, remove_workspace, workspace_place
from detent.kernel.model import Found, Sent
from detent.world.known_runs import Runs
from detent.world.work_tree import RepoWorld, is_parallel_task, root_of

LAID = "detent-laid"  # a file in the git dir of a parallel task's workspace: it is complete
SEEN = "detent-seen"  # a file in the git dir of a workspace: the last event of its run that this machine has seen
COMMITS = ("commit_judged_tree", "checkpoint", "commit_plan")  # effects that make commits
CHILD = "work"  # the name of an execution's inner run


class Worlds:
    """The RepoWorlds of one repository, made on demand."""

    def __init__(self, git: Git, runs: Runs) -> None:
        self.git, self.runs = git, runs
        self.own = RepoWorld(git, runs)
        runs.share = self._bring_out
        self._made: dict[Path, RepoWorld] = {}
        self._noted: dict[str, int] = {}

    def of(self, run: AnyRun) -> RepoWorld:
        """The RepoWorld of a run. A missing workspace is made again from the run's branch."""
        if not run.data.setup.workspace:
            return self.own
        root = root_of(self.git.place.common_dir, run)
        if root not in self._made or not root.is_dir():
            self._made[root] = RepoWorld(self._git(run, root), self.runs)
            self._furnish(run, self._made[root])
        self._note(run, self._made[root].place.git_dir)
        return self._made[root]

    def _note(self, run: AnyRun, folder: Path) -> None:
        """Record in the workspace's git dir how far this machine took a run that another machine may continue."""
        if self._noted.get(run.id, -1) < run.seq and self._shared(run):
            (folder / f"{SEEN}-{run.id}").write_text(str(run.seq))
            self._noted[run.id] = run.seq

    def _is_behind(self, run: AnyRun, folder: Path) -> bool:
        """Whether another machine has continued a run since. Events of people do not count; they change no file."""
        try:
            seen = int((folder / f"{SEEN}-{run.id}").read_text())
        except (OSError, ValueError):
            return False
        return any(event.run.seq > seen and event.sent.by != "human" for event in self.runs.history(run.id))

    def _furnish(self, run: AnyRun, world: RepoWorld) -> None:
        """Make a workspace ready; repeating it does what is missing. A failure is the machine's, not a verdict on the work."""
        workflow_of(run.workflow).lay(world.place.root, run)
        from detent.world.furnish import furnish

        try:
            if setup := self.runs.config_of(run).settings.get("workspace.setup"):
                self.runs.say(f"setting up the workspace: `{setup}`")
            furnish(world.git, self.runs.config_of(run), self.git.place.root, world.collector(run).env, self.runs.wanted)
        except CannotTell as e:
            message = f"the workspace cannot be made ready: {e}"
            if self._is_waited_for(TESTS, run):
                raise Outage(TESTS, message) from e
            raise DetentError(message, "fix [workspace] in detent.toml, then continue with `detent resume`") from e

    def leave(self, run: AnyRun) -> None:
        """Remove the workspaces of an ended run and its children, after a snapshot of each."""
        if not run.data.setup.workspace:
            return
        place = workspace_place(self.git.place.common_dir, root_of(self.git.place.common_dir, run))
        self._put_away(run, place)
        remove_beside(place)

    def _put_away(self, run: AnyRun, place: Place) -> None:
        """Remove a workspace after a snapshot of it."""
        if place.root.is_dir():
            if (place.git_dir / "index").exists() and (place.root / ".git").exists():
                RepoWorld(Git(place, self.git.env), self.runs).snapshot(run)
            remove_workspace(place)

    def _git(self, run: AnyRun, root: Path) -> Git:
        place = workspace_place(self.git.place.common_dir, root)
        laid = not is_parallel_task(run) or (place.git_dir / LAID).exists()
        here = laid and (place.git_dir / "index").exists() and (root / ".git").exists()
        if here and (is_parallel_task(run) or not self._shared(run) or not self._is_behind(run, place.git_dir)):
            return Git(place, self.git.env)
        if is_parallel_task(run):
            return self._apart(run, root)
        if self._shared(run):
            from detent.git.remote import take_in

            with _or_error():
                take_in(self.git, self.runs.config_of(run).ways.remote, _runs(run), run.data.branch)
        if here:  # stale: another machine has continued the run
            self._put_away(run, place)
        return make_workspace(self.git, root, run.data.branch, run.data.base or self._main(run))

    def _apart(self, run: AnyRun, root: Path) -> Git:
        """Make the workspace of a parallel task, beside its session's, and mark it once complete."""
        from detent.git.commits import bring_to
        from detent.world.furnish import begin_tree, start_of

        git = make_workspace(self.git, root, "", start_of(self.git, run.parent, run.data.base, run.data.start_tree))
        bring_to(git, begin_tree(run))
        (git.place.git_dir / LAID).touch()
        return git

    def _main(self, run: AnyRun) -> str:
        """The commit of main, where a workspace is between two branches."""
        from detent.git.commits import main_branch  # most runs are in the person's checkout

        return self.git.resolve(f"{main_branch(self.git, self.runs.config_of(run).ways.main)}^{{commit}}")

    # -- the World of the door -----------------------------------------------------------------------------------------------

    def snapshot(self, run: AnyRun) -> str:
        with self._patiently(run):
            return self.of(run).snapshot(run)

    def settle(self, effect: str, event: AnyEvent) -> None:
        with self._patiently(event.run):
            self._world_for(effect, event.run).settle(effect, event)
            if effect in COMMITS and self._shared(event.run):
                with _or_error():
                    self._share(event.run)

    @contextmanager
    def _patiently(self, run: AnyRun) -> Iterator[None]:
        """For a worker's execution, turn trouble with something unavailable into an Outage: nothing is recorded or counted."""
        try:
            yield
        except (Away, Unreached, OSError) as e:
            thing = thing_of(e)
            if isinstance(e, Outage) or not self._is_waited_for(thing, run):
                raise
            raise Outage(thing, str(e)) from e

    def _is_waited_for(self, thing: str, run: AnyRun) -> bool:
        """Whether a run waits for a thing that is unavailable. If tests can be run on main, the trouble is the work's own."""
        waits = bool(thing) and self.runs.patient and _is_execution(run)
        return waits and (thing != TESTS or not self.runs.tests_run())

    def _world_for(self, effect: str, run: AnyRun) -> RepoWorld:
        """The world to perform an effect in. Most effects of an execution need no workspace, so none is made for them."""
        needs = workflow_of(run.workflow).in_workspace
        if needs is None:
            return self.of(run)
        there = run.data.setup.workspace and root_of(self.git.place.common_dir, run).is_dir()
        removed = effect == "snapshot" and not there  # a removed workspace was snapshotted before
        return self.of(run) if effect in needs and not removed else self.own

    def perform(self, job: str, run: AnyRun) -> Sent | None:
        """Do a job. A branch that it starts from a merge is shared before the event is recorded, since no other machine has that merge."""
        with self._patiently(run):
            sent = self.of(run).perform(job, run)
            if sent is not None and sent.facts.get("onto") and self._shared(run):
                self._share(run, sent.facts["branch"])
            return sent

    def judge(self, case: Case) -> Found:
        """Judge by the gates. With several machines, a passed tree is shared before the event is recorded, so that it is not lost with one."""
        with self._patiently(case.run):
            found = self._judged(case)
        if self._is_waited_for(found.away, case.run):
            raise Outage(found.away, found.unclear)
        return found

    def _judged(self, case: Case) -> Found:
        found = self.of(case.run).judge(case)
        if found.tree and not (found.failed or found.refused or found.unclear) and self._shared(case.run):
            try:
                self._share(case.run)
            except CannotTell as e:
                return Found(unclear=str(e), away=getattr(e, "thing", ""), tree=found.tree)
        return found

    def _shared(self, run: AnyRun) -> bool:
        """Whether another machine may continue a run: an execution, or its inner run, of a shared queue."""
        if not _is_execution(run) or not self._many_machines:
            return False
        from detent.git.remote import has_remote  # few queues are shared by machines

        return has_remote(self.git, self.runs.config_of(run).ways.remote)

    @cached_property
    def _many_machines(self) -> bool:
        """Whether several machines share the queue, by this machine's settings; a run does not record the address."""
        return bool(shared_url(self.git.place, self.runs.outer))

    def _bring_out(self, run: AnyRun) -> None:
        if self._shared(run):
            self._share(run)

    def _share(self, run: AnyRun, branch: str = "") -> None:
        from detent.git.remote import share

        share(self.git, self.runs.config_of(run).ways.remote, _runs(run), branch or self.of(run).git.branch())


@contextmanager
def _or_error() -> Iterator[None]:
    """Turn trouble with the remote, outside a verdict, into an error: nothing is recorded, and the run can continue from here."""
    try:
        yield
    except Away as e:
        raise Outage(e.thing, str(e)) from e
    except CannotTell as e:
        raise DetentError(str(e), "the run continues from its last event once the remote answers") from e


def thing_of(e: Away | Unreached | OSError) -> str:
    """The thing that is unavailable, or "". A tracker that names a time to retry does not count as unavailable."""
    if isinstance(e, Unreached):
        return "" if e.until else "tracker"
    return e.thing if isinstance(e, Away) else "disk" if e.errno in (errno.ENOSPC, errno.EDQUOT) else ""


def _runs(run: AnyRun) -> tuple[str, ...]:
    """The ids of an execution and its inner run."""
    root = run.parent or run.id
    return root, f"{root}.{CHILD}"


def _is_execution(run: AnyRun) -> bool:
    """Whether a run or its parent is an execution; an id begins with its workflow's name."""
    name = (run.parent or run.id).partition("-")[0]
    return is_workflow(name) and workflow_of(name).items is not None
