"""Notes on commits, written one at a time: under a lock that is never deleted, and guarded by the ref's old value.

`git notes` itself loses concurrent writes silently. Knows the ref and the text, not what the text means.
"""

import fcntl
import hashlib
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from detent.errors import DetentError
from detent.git.repo import ZERO, Git, GitError

TRIES = 5
HANDOFFS = "tdd-handoffs"  # the notes of `tdd`
UNFINISHED = "refs/notes/detent-unfinished"  # where notes are made before the real ref moves; under the lock there is only one


@contextmanager
def alone(git: Git, name: str) -> Iterator[None]:
    """One at a time in this repository, whichever worktree it is in, for what a name stands for."""
    folder = git.place.common_dir / "detent"
    folder.mkdir(exist_ok=True)
    with (folder / f"{name}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextmanager
def locked(git: Git) -> Iterator[None]:
    """One writer of notes at a time."""
    with alone(git, "notes"):
        if (git.place.common_dir / UNFINISHED).exists():  # of a writer that was killed
            git.call("update-ref", "-d", UNFINISHED)
        yield


def read_note(git: Git, ref: str, commit: str) -> str | None:
    """The note on a commit, or None."""
    out = git.call("notes", f"--ref={ref}", "show", commit)
    return out.raw.decode("utf-8", "replace") if out.code == 0 else None


def write_notes(git: Git, ref: str, notes: Mapping[str, str]) -> int:
    """Put notes on commits, in place of what is there; how many were not as they should be. Doing it again changes nothing."""
    full = f"refs/notes/{ref}"
    with locked(git):
        for _ in range(TRIES):
            there = list_notes(git, ref)
            wrong = {commit: text for commit, text in notes.items() if there.get(commit) != blob_name(text, commit)}
            if not wrong:
                return 0
            old = git.resolve(full)
            new = _with_notes(git, full, old, wrong)
            try:
                git.update([(full, new, old or ZERO)])
            except GitError:
                continue  # someone who does not take the lock was faster; nothing of theirs is lost
            return len(wrong)
    raise DetentError(f"the notes below {full} could not be written", "run `detent repair-notes`")


def blob_name(text: str, commit: str) -> str:
    """The name git gives to an object that holds this text."""
    data = text.encode()
    return (hashlib.sha1 if len(commit) == 40 else hashlib.sha256)(b"blob %d\0" % len(data) + data).hexdigest()


def _with_notes(git: Git, full: str, old: str, notes: Mapping[str, str]) -> str:
    """A commit of the notes tree with these notes in it, made beside the real ref."""
    if old:
        git.run("update-ref", UNFINISHED, old)
    try:
        for commit, text in notes.items():
            git.run("notes", f"--ref={UNFINISHED}", "add", "-f", "-F", "-", commit, stdin=text.encode(), also=git.identity())
        return git.resolve(UNFINISHED)
    finally:
        git.call("update-ref", "-d", UNFINISHED)


def list_notes(git: Git, ref: str) -> dict[str, str]:
    """Every commit with a note, and the object that holds it. Notes that cannot be read are not taken for none."""
    out = git.call("notes", f"--ref={ref}", "list")
    broken = not out.raw and (git.place.common_dir / "refs" / "notes" / ref).is_file() and not git.resolve(f"refs/notes/{ref}")
    if out.code != 0 or broken:
        raise GitError(f"the notes below refs/notes/{ref} cannot be read: {out.err}", "run `detent repair-notes`")
    rows = [line.split() for line in out.text.splitlines()]
    return {row[1]: row[0] for row in rows if len(row) == 2}


def put_aside(git: Git, ref: str) -> str:
    """Move a notes ref that cannot be used out of the way; where to, or empty if there was nothing to move."""
    full, file = f"refs/notes/{ref}", git.place.common_dir / "refs" / "notes" / ref
    old = git.resolve(full)
    kept = f"refs/detent/notes-put-aside/{old[:12]}" if old else ""
    if old:
        git.update([(full, ZERO, old), *([] if git.resolve(kept) else [(kept, old, ZERO)])])
    elif file.is_file():
        kept = str(file.with_name(f"{ref}.broken"))
        os.replace(file, kept)
    return kept
