"""`uninstall`: finds everything that Detent wrote for a repository, except client registrations; removes it only when asked.

Never touches branches, commits or worktrees of people. Branches that runs made hold work and stay.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

from detent.effects.publish import EXCLUDED, MARK, write_whole
from detent.errors import DetentError
from detent.git import fingerprint
from detent.git.place import Place
from detent.git.repo import ZERO, Git
from detent.git.workspace import remove_workspace, workspace_place, workspaces_of
from detent.journal.anchor import anchor_file
from detent.storage.state import state_dir

NOTES = ("refs/notes/detent-evidence", "refs/notes/tdd-handoffs", "refs/notes/detent-unfinished")
SHARED = ("anchors", "fingerprints", "checkouts")  # folders of the state folder with a file for each repository


class Piece(NamedTuple):
    """One thing to remove: its kind, its name, and how to remove it."""

    kind: str  # file, exclude, ref, workspace, state
    what: str
    remove: Callable[[], None]


def pieces(place: Place, env: dict[str, str]) -> list[Piece]:
    """Everything to remove, in order; the state that vouches for the rest goes last."""
    git = Git(place, env)
    return [*_published(git), *_exclude(place), *_workspaces(git), *_refs(git), *_git_dirs(place), *_state(place)]


def kept_branches(git: Git) -> list[str]:
    """The branches that runs made, which stay because they hold work."""
    names = git.run("for-each-ref", "--format=%(refname:short)", "refs/heads/").text.split()
    refs = (ref.split("/", 5) for ref in git.run("for-each-ref", "--format=%(refname)", "refs/detent/").text.split())
    made = {parts[5] for parts in refs if len(parts) == 6 and parts[3] == "branch"}
    return [name for name in names if name.startswith("detent/") or name in made]


def _published(git: Git) -> Iterator[Piece]:
    """Published files at the root: excluded from git by Detent, and not tracked."""
    root = git.place.root
    if MARK not in _text(git.place.common_dir / "info" / "exclude").splitlines():
        return
    tracked = set(git.run("ls-files", "-z").items)
    for pattern in EXCLUDED:
        for found in sorted(root.glob(pattern.strip("/"))):
            name = str(found.relative_to(root))
            if name not in tracked and not any(each.startswith(f"{name}/") for each in tracked):
                yield Piece("file", name, partial(_away, found))


def _exclude(place: Place) -> Iterator[Piece]:
    file = place.common_dir / "info" / "exclude"
    if MARK not in _text(file).splitlines():
        return
    yield Piece("exclude", f"{len(EXCLUDED)} lines in {_below(file, place)}", lambda: write_whole(file, without_ours(_text(file))))


def without_ours(text: str) -> str:
    """An exclude file without Detent's lines, which follow its mark; equal lines before the mark are a person's."""
    lines = text.splitlines(keepends=True)
    at = next((i for i, line in enumerate(lines) if line.strip() == MARK), len(lines))
    return "".join(lines[:at] + [line for line in lines[at:] if line.strip() not in (MARK, *EXCLUDED)])


def _workspaces(git: Git) -> Iterator[Piece]:
    for root in workspaces_of(git.place.common_dir):
        yield Piece("workspace", str(root), partial(remove_workspace, workspace_place(git.place.common_dir, root)))


def _refs(git: Git) -> Iterator[Piece]:
    lines = git.run("for-each-ref", "--format=%(objectname) %(refname)", "refs/detent/", "refs/notes/").text.splitlines()
    ours = [(ref, commit) for commit, _, ref in (line.partition(" ") for line in lines) if _is_ours(ref)]
    for name in sorted({_group(ref) for ref, _ in ours}):
        mine = [(ref, commit) for ref, commit in ours if _group(ref) == name]
        shown = name if len(mine) == 1 and mine[0][0] == name else f"{name}/… ({len(mine)})"
        yield Piece("ref", shown, partial(git.update, [(ref, ZERO, commit) for ref, commit in mine]))


def _is_ours(ref: str) -> bool:
    return ref.startswith("refs/detent/") or ref.removesuffix("-seen") in NOTES


def _group(ref: str) -> str:
    return "/".join(ref.split("/")[:3])


def _git_dirs(place: Place) -> Iterator[Piece]:
    """Detent's folders in the git dir and in those of linked worktrees."""
    linked = place.common_dir / "worktrees"
    for folder in (place.common_dir, *(sorted(linked.iterdir()) if linked.is_dir() else ())):
        if (folder / "detent").is_dir():
            shown = f"{_below(folder / 'detent', place)} ({_kept_in(folder / 'detent')})"
            yield Piece("state", shown, partial(shutil.rmtree, folder / "detent"))


def _kept_in(folder: Path) -> str:
    """What such a folder holds, in words; after only `check` it has no journal."""
    whole = (folder / "journal.db").exists()
    return "journal, evidence, transcripts" if whole else "what was seen before, so that the same is not run twice"


def _state(place: Place) -> Iterator[Piece]:
    """This repository's files in the user's state folder; the whole folder if no other repository uses it."""
    home = state_dir()
    own = [file for file in (anchor_file(place.journal), *fingerprint.files_of(place)) if file.exists()]
    others = [each for name in SHARED if (home / name).is_dir() for each in (home / name).iterdir() if each not in own]
    spaces = [each for each in (home / "workspaces").glob("*") if each not in workspaces_of(place.common_dir)]
    if not _beyond_git(home):
        return
    if not others and not spaces:
        yield Piece(
            "state", f"{home} (keys, anchors, caches; no other repository uses it)", lambda: shutil.rmtree(home, ignore_errors=True)
        )
        return
    for file in own:
        yield Piece("state", str(file), partial(file.unlink, missing_ok=True))


def _beyond_git(home: Path) -> bool:
    """Whether the state folder has more than the git settings that every call of Detent writes there."""
    return home.is_dir() and any(each.name != "git" for each in home.iterdir())


def forget_this_call() -> None:
    """Remove the state folder if this call alone created it."""
    if state_dir().is_dir() and not _beyond_git(state_dir()):
        shutil.rmtree(state_dir(), ignore_errors=True)


def open_here(place: Place) -> list[str]:
    """The open runs of this repository; none if the journal cannot be read."""
    from detent.app.opened import open_journal

    try:
        journal = open_journal(place)
    except DetentError:
        return []
    try:
        return [head.run for head in journal.heads() if not head.ended and not head.parent]
    finally:
        journal.close()


def _away(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _text(file: Path) -> str:
    try:
        return file.read_text("utf-8", "surrogateescape")
    except OSError:
        return ""


def _below(path: Path, place: Place) -> str:
    return os.path.relpath(path, place.root) if path.is_relative_to(place.root) else str(path)
