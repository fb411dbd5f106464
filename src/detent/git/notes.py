"""Notes on commits: one writer at a time, under a lock file that is never deleted, with the ref's old value as a guard.

When pushed or fetched they are always merged with the remote's. `git notes` silently loses concurrent writes. The evidence ref keeps trees
in the notes tree beside its notes: git keeps entries that are not notes, so the trees stay reachable, and one push carries both. Knows
the refs and texts, not what a text means.
"""

import fcntl
import hashlib
import os
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager

from detent.errors import DetentError
from detent.git.repo import ZERO, Git, GitError

TRIES = 5
HANDOFFS = "tdd-handoffs"  # the notes of the `tdd` workflow
UNFINISHED = "refs/notes/detent-unfinished"  # where notes are built before the real ref moves; the lock allows only one


@contextmanager
def alone(git: Git, name: str) -> Iterator[None]:
    """Hold a lock of this name, shared by all worktrees of this repository."""
    folder = git.place.common_dir / "detent"
    folder.mkdir(exist_ok=True)
    with (folder / f"{name}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextmanager
def locked(git: Git) -> Iterator[None]:
    """Hold the lock for writing notes."""
    with alone(git, "notes"):
        if (git.place.common_dir / UNFINISHED).exists():  # left by a writer that was killed
            git.call("update-ref", "-d", UNFINISHED)
        yield


def read_note(git: Git, ref: str, commit: str) -> str | None:
    """The note on a commit, or None."""
    out = git.call("notes", f"--ref={ref}", "show", commit)
    return out.raw.decode("utf-8", "replace") if out.code == 0 else None


def write_notes(git: Git, ref: str, notes: Mapping[str, str]) -> int:
    """Write notes, replacing existing ones; returns how many differed. Idempotent."""
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
    """The name that git gives to a blob with this text, in the hash of `commit`."""
    data = text.encode()
    return (hashlib.sha1 if len(commit) == 40 else hashlib.sha256)(b"blob %d\0" % len(data) + data).hexdigest()


def _with_notes(git: Git, full: str, old: str, notes: Mapping[str, str]) -> str:
    """A commit of the notes tree with these notes added, built beside the real ref."""
    if old:
        git.run("update-ref", UNFINISHED, old)
    try:
        for commit, text in notes.items():
            git.run("notes", f"--ref={UNFINISHED}", "add", "-f", "-F", "-", commit, stdin=text.encode(), also=git.identity())
        return git.resolve(UNFINISHED)
    finally:
        git.call("update-ref", "-d", UNFINISHED)


def list_notes(git: Git, ref: str) -> dict[str, str]:
    """Commit -> the blob of its note. GitError if the notes cannot be read; that is not the same as having none."""
    out = git.call("notes", f"--ref={ref}", "list")
    broken = not out.raw and (git.place.common_dir / "refs" / "notes" / ref).is_file() and not git.resolve(f"refs/notes/{ref}")
    if out.code != 0 or broken:
        raise GitError(f"the notes below refs/notes/{ref} cannot be read: {out.err}", "run `detent repair-notes`")
    rows = [line.split() for line in out.text.splitlines()]
    return {row[1]: row[0] for row in rows if len(row) == 2}


def put_aside(git: Git, ref: str) -> str:
    """Move an unusable notes ref out of the way; returns where to, or "" if there was nothing to move."""
    full, file = f"refs/notes/{ref}", git.place.common_dir / "refs" / "notes" / ref
    old = git.resolve(full)
    kept = f"refs/detent/notes-put-aside/{old[:12]}" if old else ""
    if old:
        git.update([(full, ZERO, old), *([] if git.resolve(kept) else [(kept, old, ZERO)])])
    elif file.is_file():
        kept = str(file.with_name(f"{ref}.broken"))
        os.replace(file, kept)
    return kept


HELD = "trees"  # the folder for trees in the notes tree; no note can have this name
MESSAGE = "Notes on accepted steps"


def publish(git: Git, ref: str, notes: Mapping[str, str], trees: Collection[str]) -> int:
    """Write notes and keep trees with them; returns how many notes differed. Idempotent."""
    full, reason = f"refs/notes/{ref}", ""
    with locked(git):
        for _ in range(TRIES):
            old = git.resolve(full)
            there, held = list_notes(git, ref), held_trees(git, old)
            wrong = {commit: text for commit, text in notes.items() if there.get(commit) != blob_name(text, commit)}
            if not wrong and held.issuperset(trees):
                return 0
            try:
                new = with_notes(git, wrong, set(trees) - held, [old] if old else [])
                git.update([(full, new, old or ZERO), (UNFINISHED, ZERO, new)])
            except GitError as e:
                reason = e.message
                git.call("update-ref", "-d", UNFINISHED)
                continue  # someone who does not take the lock was faster, or a git that outlived its driver; nothing of theirs is lost
            return len(wrong)
    raise DetentError(f"the evidence below {full} could not be written: {reason}", "run `detent repair-notes`")


def held_trees(git: Git, commit: str) -> set[str]:
    """The trees that a commit of the notes ref keeps reachable."""
    out = git.call("ls-tree", "-z", "--name-only", f"{commit}:{HELD}") if commit else None
    return set(out.items) if out is not None and out.code == 0 else set()


def with_notes(git: Git, notes: Mapping[str, str], trees: Collection[str], parents: list[str]) -> str:
    """A commit over its first parent with these notes and trees added, built in one call beside the real ref."""
    stream = [f"commit {UNFINISHED}", f"committer Detent <detent@localhost> {int(time.time())} +0000", f"data {len(MESSAGE)}", MESSAGE]
    stream += [f"{'merge' if n else 'from'} {parent}" for n, parent in enumerate(parents)]
    stream += [f"M 040000 {tree} {HELD}/{tree}" for tree in sorted(trees)]
    for commit, text in notes.items():
        stream += [f"N inline {commit}", f"data {len(text.encode('utf-8', 'surrogateescape'))}", text]
    whole = "\n".join([*stream, "done", ""]).encode("utf-8", "surrogateescape")
    git.run("fast-import", "--quiet", "--done", "--date-format=raw", stdin=whole)
    return git.resolve(UNFINISHED)


PATIENCE = 120


def push_notes(git: Git, remote: str, *refs: str) -> str:
    """Push notes, merged with those of the remote; returns what went wrong, or ""."""
    return next((fault for ref in refs if (fault := _push(git, remote, ref))), "")


def _push(git: Git, remote: str, ref: str) -> str:
    """Push one ref. Concurrent pushes make each other fail, so only tries between which the remote did not move are counted."""
    full, fault, last, left = f"refs/notes/{ref}", "", "", TRIES
    with alone(git, "notes-push"):
        while left and git.resolve(full):
            there = _fetched(git, remote, ref)
            pushed = git.call("push", "--no-verify", "--", remote, f"{full}:{full}", timeout=PATIENCE)
            if pushed.code == 0:
                return ""
            fault, left, last = pushed.err, left - (there == last), there
    return fault


def _fetched(git: Git, remote: str, ref: str) -> str:
    """Fetch and merge the remote's notes; returns the commit they are at, or ""."""
    if git.call("fetch", "--no-tags", "--", remote, f"+refs/notes/{ref}:{_seen(ref)}", timeout=PATIENCE).code != 0:
        return ""
    there = git.resolve(_seen(ref))
    try:
        _join(git, ref)
    except GitError:
        return ""  # a git that outlived its driver is at work; the next try looks again
    return there


def fetch_notes(git: Git, ref: str, remote: str) -> None:
    """Merge the remote's notes into ours. DetentError if the remote cannot be asked; it may have none."""
    if git.call("remote", "get-url", remote).code != 0:
        return
    full = f"refs/notes/{ref}"
    there = git.call("ls-remote", "--", remote, full, timeout=PATIENCE)
    got = (
        git.call("fetch", "--no-tags", "--", remote, f"+{full}:{_seen(ref)}", timeout=PATIENCE) if there.code == 0 and there.text else there
    )
    if got.code != 0:
        raise DetentError(
            f"the notes of {remote} could not be fetched: {got.err}",
            "fix that and try again, or continue with the notes that are here: DETENT_GIT_REMOTE= detent resume",
        )
    if there.text:
        _join(git, ref)


def _seen(ref: str) -> str:
    """Where the remote's notes are kept while they are merged."""
    return f"refs/notes/{ref}-seen"


def _join(git: Git, ref: str) -> None:
    """Merge the fetched notes into ours. If both have a note on a commit, ours wins."""
    full = f"refs/notes/{ref}"
    with locked(git):
        ours, theirs = git.resolve(full), git.resolve(_seen(ref))
        if ours and git.is_ancestor(theirs, ours):
            return
        new = theirs if not ours or git.is_ancestor(ours, theirs) else _joined(git, ref, ours, theirs)
        git.call("update-ref", "-d", UNFINISHED)
        git.update([(full, new, ours or ZERO), (_seen(ref), ZERO, theirs)])


def _joined(git: Git, ref: str, ours: str, theirs: str) -> str:
    there = list_notes(git, f"{ref}-seen")
    mine = {
        commit: blob for commit, blob in list_notes(git, ref).items() if there.get(commit) != blob and git.resolve(f"{commit}^{{commit}}")
    }
    texts = {commit: git.run("cat-file", "blob", blob).raw.decode("utf-8", "surrogateescape") for commit, blob in mine.items()}
    return with_notes(git, texts, held_trees(git, ours) - held_trees(git, theirs), [theirs, ours])
