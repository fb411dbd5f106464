"""The evidence ref: notes on commits, and beside them the trees that the notes name, so that pushing one ref carries both.

git keeps what lies in a notes tree and is no note; a tree that lies there is reachable. Knows the ref and the text, not what the text means.
"""

import time
from collections.abc import Collection, Mapping

from detent.errors import DetentError
from detent.git.notes import TRIES, UNFINISHED, blob_name, list_notes, locked
from detent.git.repo import ZERO, Git, GitError

HELD = "trees"  # the folder in the notes tree; no note can have this name
MESSAGE = "Notes on accepted steps"


def publish(git: Git, ref: str, notes: Mapping[str, str], trees: Collection[str]) -> int:
    """Put notes on commits and keep trees with them; how many notes were not as they should be. Doing it again changes nothing."""
    full, said = f"refs/notes/{ref}", ""
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
                said = e.message
                git.call("update-ref", "-d", UNFINISHED)
                continue  # someone who does not take the lock was faster, or a git that outlived its driver; nothing of theirs is lost
            return len(wrong)
    raise DetentError(f"the evidence below {full} could not be written: {said}", "run `detent repair-notes`")


def held_trees(git: Git, commit: str) -> set[str]:
    """The trees that a state of the ref keeps reachable."""
    out = git.call("ls-tree", "-z", "--name-only", f"{commit}:{HELD}") if commit else None
    return set(out.items) if out is not None and out.code == 0 else set()


def with_notes(git: Git, notes: Mapping[str, str], trees: Collection[str], parents: list[str]) -> str:
    """A commit over the first of its parents with these notes in it, and these trees beside them: made by one call, beside the real ref."""
    stream = [f"commit {UNFINISHED}", f"committer Detent <detent@localhost> {int(time.time())} +0000", f"data {len(MESSAGE)}", MESSAGE]
    stream += [f"{'merge' if n else 'from'} {parent}" for n, parent in enumerate(parents)]
    stream += [f"M 040000 {tree} {HELD}/{tree}" for tree in sorted(trees)]
    for commit, text in notes.items():
        stream += [f"N inline {commit}", f"data {len(text.encode('utf-8', 'surrogateescape'))}", text]
    whole = "\n".join([*stream, "done", ""]).encode("utf-8", "surrogateescape")
    git.run("fast-import", "--quiet", "--done", "--date-format=raw", stdin=whole)
    return git.resolve(UNFINISHED)
