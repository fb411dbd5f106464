"""Workspaces: checkouts of the machine's own, with their git dirs outside of them. Creating and removing one can be repeated.

A workspace is a linked worktree of the person's repository, locked, so that no `git worktree prune` removes it. We write git's layout
ourselves, since a `git worktree add` that is killed midway needs repair.
"""

import glob
import hashlib
import os
import shutil
from pathlib import Path

from detent.git.place import Place
from detent.git.repo import ZERO, Git
from detent.git.snapshot import BORROWED
from detent.storage.state import state_dir

OURS = "in use by detent\n"


def is_own(place: Place) -> bool:
    """Whether a checkout is a workspace of the machine's, not a person's."""
    lock = place.git_dir / "locked"
    return lock.is_file() and lock.read_text("utf-8", "replace") == OURS


def checked_out_elsewhere(git: Git, ref: str) -> str:
    """The folder of another worktree where this branch is checked out; empty if there is none."""
    folder = ""
    asked = ("worktree", "list", "--porcelain")
    out = git.call(*asked, "-z")
    for line in out.items if out.code == 0 else git.run(*asked).text.splitlines():  # git before 2.36 has no -z here
        if line.startswith("worktree "):
            folder = line.removeprefix("worktree ")
        if line == f"branch {ref}" and Path(folder).resolve() != git.place.root:
            return folder
    return ""


def workspace_place(common: Path, root: Path) -> Place:
    """The Place of a workspace; its git dir has the same name."""
    return Place(root, common / "worktrees" / root.name, common)


def choose_root(place: Place, run: str) -> Path:
    """Where a new workspace goes: in the user's state folder, named after the project, this clone and the run.

    Two clones may share a name and have runs of the same name, so the git dir's path and inode are part of it.
    """
    return state_dir() / "workspaces" / f"{place.root.name}-{_own(place.common_dir)}-{run}"


def _own(common: Path) -> str:
    """A short id of this clone."""
    return hashlib.sha256(f"{common.resolve()} {common.stat().st_ino}".encode("utf-8", "surrogateescape")).hexdigest()[:8]


def local_root(common: Path, stored: str, run: str) -> Path:
    """The path of a run's workspace for this clone. A path stored by another clone, here or on another machine, is not used:
    that clone may still be working there, and the path may mean something else here.
    """
    path = Path(stored)
    if f"-{_own(common)}-" not in path.name:
        return state_dir() / "workspaces" / f"{common.parent.name}-{_own(common)}-{run}"
    return path if path.parent.is_dir() else state_dir() / "workspaces" / path.name


def runs_here(common: Path) -> list[str]:
    """The runs that have a workspace of this clone."""
    names = sorted(folder.name for folder in (common / "worktrees").glob(f"*-{_own(common)}-*"))
    return sorted({name.partition(f"-{_own(common)}-")[2].partition(".")[0] for name in names})


def workspaces_of(common: Path) -> list[Path]:
    """The paths of this clone's workspaces."""
    found = sorted((common / "worktrees").glob(f"*-{_own(common)}-*"))
    return [
        Path((folder / "gitdir").read_text("utf-8", "surrogateescape").strip()).parent for folder in found if (folder / "gitdir").is_file()
    ]


def make_workspace(git: Git, root: Path, branch: str, commit: str) -> Git:
    """Create a workspace on a branch (created at the commit if new) or detached at the commit; returns its Git.

    Calling it again creates what is missing.
    """
    place = workspace_place(git.place.common_dir, root)
    fresh = not (place.git_dir / "index").exists() or not (root / ".git").exists()
    root.mkdir(parents=True, exist_ok=True)
    place.git_dir.mkdir(parents=True, exist_ok=True)
    if branch and not git.resolve(branch):
        git.update([(branch, commit, ZERO)])
    _write(place.git_dir / "locked", OURS)
    _write(place.git_dir / "commondir", "../..\n")
    _write(place.git_dir / "gitdir", f"{root / '.git'}\n")
    if fresh:
        _write(place.git_dir / "HEAD", f"ref: {branch}\n" if branch else f"{commit}\n")
    _write(root / ".git", f"gitdir: {place.git_dir}\n")
    inner = Git(place, git.env)
    if fresh:
        inner.run("-c", "checkout.workers=0", "read-tree", "-u", "--reset", "HEAD")  # one worker per core
    return inner


def borrow(home: Path, root: Path) -> None:
    """Link the dependency folders of a person's checkout into a workspace. Snapshots leave these links out."""
    for name in BORROWED:
        if (home / name).is_dir() and not os.path.lexists(root / name):
            (root / name).symlink_to(home / name)


def remove_workspace(place: Place) -> None:
    """Remove a workspace's folder and git dir; its branch and snapshots stay."""
    if place.git_dir.parent.name != "worktrees":
        return  # never a person's own checkout
    shutil.rmtree(place.root, ignore_errors=True)
    shutil.rmtree(place.git_dir, ignore_errors=True)


def remove_beside(place: Place) -> None:
    """Remove the workspaces of a run's children, whose names start with the run's own and a dot."""
    for folder in (place.root.parent, place.git_dir.parent):
        for each in folder.glob(f"{glob.escape(place.root.name)}.*"):
            remove_workspace(workspace_place(place.common_dir, place.root.parent / each.name))


def _write(file: Path, text: str) -> None:
    if file.is_symlink() or not file.is_file() or file.read_text("utf-8", "surrogateescape") != text:
        scratch = file.with_name(f"{file.name}.new")
        scratch.unlink(missing_ok=True)
        scratch.write_text(text, "utf-8", "surrogateescape")
        os.replace(scratch, file)
