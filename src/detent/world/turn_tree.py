"""Where a workspace stood when a turn of a driven agent began. What a turn leaves that nobody judged is taken away and kept under a ref.
Its driver holds a lock while the agent works, so that others can wait for its end.

One ref per run, `refs/detent/RUN/turn`, says which turn is open: a commit whose tree is the workspace as it was, and whose message names the
attempt, the commit that was checked out, and the files that git did not know. Knows no agent.
"""

import fcntl
import json
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from detent.door import AnyRun
from detent.errors import DetentError
from detent.git.commits import back_to, bring_to, set_index
from detent.git.repo import ZERO, Git
from detent.world.work_tree import RepoWorld

UNKNOWN = ("ls-files", "-z", "--others", "--directory")  # also what is ignored; a folder that git knows nothing of is one entry
MOST_NAMED = 8


class Began(NamedTuple):
    """The workspace at the beginning of a turn."""

    attempt: str
    commit: str
    tree: str
    head: str
    unknown: frozenset[str]


class LeftBehind(NamedTuple):
    """What a turn left behind: the ref it is kept under, and its files."""

    ref: str
    paths: tuple[str, ...]

    @property
    def names(self) -> str:
        more = f" and {len(self.paths) - MOST_NAMED} more" if len(self.paths) > MOST_NAMED else ""
        return ", ".join(self.paths[:MOST_NAMED]) + more


def begin_turn(world: RepoWorld, run: AnyRun, attempt: str) -> None:
    """Remember how the workspace stands."""
    git, tree = world.git, world.snapshot(run)
    said = {"attempt": attempt, "at": _where(git), "head": git.head(), "unknown": sorted(git.run(*UNKNOWN).items)}
    commit = git.commit(tree, (), json.dumps(said), world.clock())
    git.update([(_turn_ref(run.id), commit, git.resolve(_turn_ref(run.id)) or ZERO)])


def open_attempt(git: Git, run: str) -> str:
    """The attempt of the turn that is open; empty if there is none."""
    began = _began(git, run)
    return began.attempt if began else ""


def undo_turn(world: RepoWorld, run: AnyRun) -> LeftBehind | None:
    """Bring the workspace back to where the open turn began, and close it; what it left, if that was anything. Doing it again does no harm."""
    git, began = world.git, _began(world.git, run.id)
    if began is None:
        return None
    kept, left = world.snapshot(run), None
    if kept != began.tree:
        left = _keep(git, run.id, began, kept, world.clock())
    if began.head and git.head() != began.head:
        back_to(git, run.id, run.seq, began.head)
    if left:
        bring_to(git, began.tree, kept)
        set_index(git, "HEAD")
    for path in sorted(set(git.run(*UNKNOWN).items) - began.unknown):
        _remove(world.place.root, path)
    git.update([(_turn_ref(run.id), ZERO, began.commit)])
    return left


def _keep(git: Git, run: str, began: Began, tree: str, at: str) -> LeftBehind:
    """Keep what a turn left as a commit over where it began, so that `git show` tells what it did."""
    over = began.head if began.head and git.tree(began.head) == began.tree else began.commit
    ref, commit = left_ref(run, began.attempt), git.commit(tree, [over], f"left behind by the turn {began.attempt}\n", at)
    git.update([(ref, commit, git.resolve(ref) or ZERO)])
    return _left(git, ref)


def left_ref(run: str, attempt: str) -> str:
    return f"refs/detent/{run}/left/{attempt.rpartition('.')[2]}"


def left_by(git: Git, run: str) -> dict[str, LeftBehind]:
    """What turns of a run left behind that was taken away, by attempt."""
    prefix = f"refs/detent/{run}/left/"
    refs = git.run("for-each-ref", "--format=%(refname)", prefix).text.splitlines()
    return {f"{run}.{ref.removeprefix(prefix)}": _left(git, ref) for ref in refs}


def _left(git: Git, ref: str) -> LeftBehind:
    return LeftBehind(ref, tuple(path for _, path in git.changes(f"{ref}^", ref)))


def _turn_ref(run: str) -> str:
    return f"refs/detent/{run}/turn"


def _began(git: Git, run: str) -> Began | None:
    commit = git.resolve(_turn_ref(run))
    if not commit:
        return None
    said = json.loads(git.message(commit))
    if said["at"] != _where(git):
        return None  # that workspace is gone, and what a turn did there with it
    return Began(said["attempt"], commit, git.tree(commit), said["head"], frozenset(said["unknown"]))


def _where(git: Git) -> str:
    """This very folder: one that is made again, here or on another machine, is another."""
    return f"{git.place.root} {git.place.root.stat().st_ino}"


def _remove(root: Path, path: str) -> None:
    """Remove what a turn made and no snapshot holds: an ignored file, a cache, a repository inside. Never through a link."""
    file = root / path.rstrip("/")
    if os.path.realpath(file.parent) != os.path.normpath(Path(os.path.realpath(root)) / Path(path.rstrip("/")).parent):
        return
    if file.is_dir() and not file.is_symlink():
        shutil.rmtree(file, ignore_errors=True)
    else:
        file.unlink(missing_ok=True)


PATIENCE = 60.0  # seconds; a driver looks about once a second whether its turn is still wanted
LOOK = 0.05


def _file(common: Path, run: str) -> Path:
    return common / "detent" / f"turn-{run}.lock"


@contextmanager
def turn(common: Path, run: str) -> Iterator[None]:
    """Hold the turn. It goes with the process, as the agent does."""
    with _file(common, run).open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def wait_for_end(common: Path, run: str) -> None:
    """Wait until no agent works for a run any more. DetentError if its driver does not hear."""
    file, end = _file(common, run), time.monotonic() + PATIENCE
    if not file.exists():
        return
    with file.open("a") as lock:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                if time.monotonic() > end:
                    raise DetentError(
                        f"the agent of {run} is still at work", "its driver stops it as soon as it can; check again"
                    ) from None
                time.sleep(LOOK)
