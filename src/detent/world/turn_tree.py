"""Records the workspace at the beginning of a driven agent's turn, and restores it; unjudged work is kept under a ref. Knows no agent.

The driver holds a lock while the agent works, so that others can wait for its end.
The ref `refs/detent/RUN/turn` marks the open turn: a commit with the workspace's tree, whose message names the attempt, HEAD, and the
untracked files.
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

UNKNOWN = ("ls-files", "-z", "--others", "--directory")  # untracked and ignored files; a wholly untracked folder is one entry
MOST_NAMED = 8


class Began(NamedTuple):
    """The workspace at the beginning of a turn."""

    attempt: str
    commit: str
    tree: str
    head: str
    unknown: frozenset[str]


class LeftBehind(NamedTuple):
    """The kept work of an undone turn: its ref and its files."""

    ref: str
    paths: tuple[str, ...]

    @property
    def names(self) -> str:
        more = f" and {len(self.paths) - MOST_NAMED} more" if len(self.paths) > MOST_NAMED else ""
        return ", ".join(self.paths[:MOST_NAMED]) + more


def begin_turn(world: RepoWorld, run: AnyRun, attempt: str) -> None:
    """Record the workspace, and open a turn."""
    git, tree = world.git, world.snapshot(run)
    record = {"attempt": attempt, "at": _where(git), "head": git.head(), "unknown": sorted(git.run(*UNKNOWN).items)}
    commit = git.commit(tree, (), json.dumps(record), world.clock())
    git.update([(_turn_ref(run.id), commit, git.resolve(_turn_ref(run.id)) or ZERO)])


def open_attempt(git: Git, run: str) -> str:
    """The attempt of the open turn, or ""."""
    began = _began(git, run)
    return began.attempt if began else ""


def undo_turn(world: RepoWorld, run: AnyRun) -> LeftBehind | None:
    """Restore the workspace to the beginning of the open turn, and close it; returns its kept work, if any. Idempotent."""
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
    """Commit a turn's work on top of where it began, so that `git show` shows it."""
    over = began.head if began.head and git.tree(began.head) == began.tree else began.commit
    ref, commit = left_ref(run, began.attempt), git.commit(tree, [over], f"left behind by the turn {began.attempt}\n", at)
    git.update([(ref, commit, git.resolve(ref) or ZERO)])
    return _left(git, ref)


def left_ref(run: str, attempt: str) -> str:
    return f"refs/detent/{run}/left/{attempt.rpartition('.')[2]}"


def left_by(git: Git, run: str) -> dict[str, LeftBehind]:
    """The kept work of a run's undone turns, by attempt."""
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
    record = json.loads(git.message(commit))
    if record["at"] != _where(git):
        return None  # that workspace is gone, with the turn's work
    return Began(record["attempt"], commit, git.tree(commit), record["head"], frozenset(record["unknown"]))


def _where(git: Git) -> str:
    """The identity of this folder, which changes if it is made again, here or on another machine."""
    return f"{git.place.root} {git.place.root.stat().st_ino}"


def _remove(root: Path, path: str) -> None:
    """Remove a path of a turn that no snapshot has: an ignored file, a cache, a nested repository. Never follows a symlink."""
    file = root / path.rstrip("/")
    if os.path.realpath(file.parent) != os.path.normpath(Path(os.path.realpath(root)) / Path(path.rstrip("/")).parent):
        return
    if file.is_dir() and not file.is_symlink():
        shutil.rmtree(file, ignore_errors=True)
    else:
        file.unlink(missing_ok=True)


PATIENCE = 60.0  # seconds; a driver checks about once a second whether its turn is still wanted
LOOK = 0.05


def _file(common: Path, run: str) -> Path:
    return common / "detent" / f"turn-{run}.lock"


@contextmanager
def turn(common: Path, run: str) -> Iterator[None]:
    """Hold the turn's lock, which the kernel releases with the process."""
    with _file(common, run).open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def wait_for_end(common: Path, run: str) -> None:
    """Wait until no agent works on a run. DetentError if its driver does not stop in time."""
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
