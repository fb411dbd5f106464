"""Where we are: the checkout and its git dirs, found by reading files. Starts no process, so that fast paths stay fast."""

import os
from pathlib import Path
from typing import NamedTuple

from detent.errors import DetentError


class Place(NamedTuple):
    """A checkout: its root, its own git dir, and the git dir shared by all linked worktrees."""

    root: Path
    git_dir: Path
    common_dir: Path

    @property
    def journal(self) -> Path:
        return self.common_dir / "detent" / "journal.db"


def find_place(start: Path) -> Place:
    """The checkout that a folder is in."""
    start = Path(os.path.realpath(start))
    for folder in (start, *start.parents):
        dot = folder / ".git"
        if dot.is_dir() and (dot / "HEAD").exists():
            return Place(folder, dot, _common(dot))
        if dot.is_file():
            git_dir = _linked(dot)
            return Place(folder, git_dir, _common(git_dir))
    raise DetentError(f"{start} is not in a git repository", "run `git init` there, or name the folder with -C DIR")


def branch_at(place: Place) -> str | None:
    """The full ref that HEAD names; empty if HEAD is detached; None if only git can tell (a symlink, or the reftable format)."""
    head = place.git_dir / "HEAD"
    if head.is_symlink():
        return None
    text = head.read_text("utf-8", "surrogateescape").strip()
    branch = text.removeprefix("ref:").strip() if text.startswith("ref:") else ""
    return None if branch == "refs/heads/.invalid" else branch


def _linked(dot: Path) -> Path:
    """The git dir that a `.git` file of a linked worktree or submodule names."""
    text = dot.read_text("utf-8", "surrogateescape")
    if not text.startswith("gitdir: "):
        raise DetentError(f"{dot} is not a git file", "the checkout is damaged; clone it again")
    git_dir = Path(os.path.normpath(dot.parent / text.removeprefix("gitdir: ").strip()))
    if not git_dir.is_dir():
        raise DetentError(f"{dot} names {git_dir}, which is not there", "the linked worktree was moved; see `git worktree repair`")
    return git_dir


def _common(git_dir: Path) -> Path:
    try:
        named = (git_dir / "commondir").read_text("utf-8", "surrogateescape").strip()
    except OSError:
        return git_dir
    return Path(os.path.normpath(git_dir / named))
