"""Notes on commits, written one at a time: under a lock that is never deleted, and guarded by the ref's old value.

`git notes` itself loses concurrent writes silently. Knows the ref and the text, not what the text means.
"""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager

from detent.errors import DetentError
from detent.git.repo import ZERO, Git, GitError

TRIES = 5


@contextmanager
def _locked(git: Git) -> Iterator[None]:
    """One writer of notes at a time in this repository, whichever worktree it is in."""
    folder = git.place.common_dir / "detent"
    folder.mkdir(exist_ok=True)
    with (folder / "notes.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def read_note(git: Git, ref: str, commit: str) -> str | None:
    """The note on a commit, or None."""
    out = git.call("notes", f"--ref={ref}", "show", commit)
    return out.raw.decode("utf-8", "replace") if out.code == 0 else None


def write_note(git: Git, ref: str, commit: str, text: str) -> None:
    """Put a note on a commit, in place of one that is there. Writing the same again changes nothing."""
    full = f"refs/notes/{ref}"
    with _locked(git):
        for _ in range(TRIES):
            if read_note(git, ref, commit) == text:
                return
            old = git.resolve(full)
            new = _with_note(git, full, old, commit, text)
            try:
                git.update([(full, new, old or ZERO)])
            except GitError:
                continue  # someone who does not take the lock was faster; nothing of theirs is lost
            return
    raise DetentError(f"the note on {commit[:12]} could not be written", "run `detent repair-notes`")


def _with_note(git: Git, full: str, old: str, commit: str, text: str) -> str:
    """A commit of the notes tree with this note in it, made beside the real ref."""
    scratch = f"refs/notes/detent-scratch/{commit}"
    git.run("update-ref", scratch, old) if old else git.call("update-ref", "-d", scratch)
    try:
        git.run("notes", f"--ref={scratch}", "add", "-f", "-F", "-", commit, stdin=text.encode(), also=git.identity())
        return git.resolve(scratch)
    finally:
        git.call("update-ref", "-d", scratch)


def list_notes(git: Git, ref: str) -> dict[str, str]:
    """Every commit with a note, and the object that holds it."""
    out = git.call("notes", f"--ref={ref}", "list")
    rows = [line.split() for line in out.text.splitlines()] if out.code == 0 else []
    return {row[1]: row[0] for row in rows if len(row) == 2}
