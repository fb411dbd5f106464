"""The evidence ref: notes on commits, and beside them the trees that the notes name, so that pushing one ref carries both.

git keeps what lies in a notes tree and is no note; a tree that lies there is reachable. Knows the ref and the text, not what the text means.
"""

import time
from collections.abc import Collection, Mapping

from detent.errors import DetentError
from detent.git.notes import TRIES, UNFINISHED, blob_name, list_notes, locked
from detent.git.repo import ZERO, Git, GitError

HELD = "trees"  # the folder in the notes tree; no note can have this name
SEEN = "detent-evidence-seen"  # what the remote has, while it is joined with what is here
MESSAGE = "Evidence of accepted steps"


def publish(git: Git, ref: str, notes: Mapping[str, str], trees: Collection[str]) -> int:
    """Put notes on commits and keep trees with them; how many notes were not as they should be. Doing it again changes nothing."""
    full = f"refs/notes/{ref}"
    with locked(git):
        for _ in range(TRIES):
            old = git.resolve(full)
            there, held = list_notes(git, ref), held_trees(git, old)
            wrong = {commit: text for commit, text in notes.items() if there.get(commit) != blob_name(text, commit)}
            if not wrong and held.issuperset(trees):
                return 0
            new = _with(git, wrong, set(trees) - held, [old] if old else [])
            try:
                git.update([(full, new, old or ZERO), (UNFINISHED, ZERO, new)])
            except GitError:
                git.call("update-ref", "-d", UNFINISHED)
                continue  # someone who does not take the lock was faster; nothing of theirs is lost
            return len(wrong)
    raise DetentError(f"the evidence below {full} could not be written", "run `detent repair-notes`")


def held_trees(git: Git, commit: str) -> set[str]:
    """The trees that a state of the ref keeps reachable."""
    out = git.call("ls-tree", "-z", "--name-only", f"{commit}:{HELD}") if commit else None
    return set(out.items) if out is not None and out.code == 0 else set()


def _with(git: Git, notes: Mapping[str, str], trees: Collection[str], parents: list[str]) -> str:
    """A commit over the first of its parents with these notes in it, and these trees beside them: made by one call, beside the real ref."""
    stream = [f"commit {UNFINISHED}", f"committer Detent <detent@localhost> {int(time.time())} +0000", f"data {len(MESSAGE)}", MESSAGE]
    stream += [f"{'merge' if n else 'from'} {parent}" for n, parent in enumerate(parents)]
    stream += [f"M 040000 {tree} {HELD}/{tree}" for tree in sorted(trees)]
    for commit, text in notes.items():
        stream += [f"N inline {commit}", f"data {len(text.encode('utf-8', 'surrogateescape'))}", text]
    whole = "\n".join([*stream, "done", ""]).encode("utf-8", "surrogateescape")
    git.run("fast-import", "--quiet", "--done", "--date-format=raw", stdin=whole)
    return git.resolve(UNFINISHED)


def push_evidence(git: Git, ref: str, remote: str) -> str:
    """Bring the evidence to the remote, joined with what others brought there; what went wrong, or an empty text."""
    full = f"refs/notes/{ref}"
    said = ""
    for _ in range(TRIES):
        if not git.resolve(full):
            return ""
        fetched = git.call("fetch", "--no-tags", "--", remote, f"+{full}:refs/notes/{SEEN}", timeout=120)
        if fetched.code == 0:
            _join(git, ref)
        pushed = git.call("push", "--no-verify", "--", remote, f"{full}:{full}", timeout=120)
        if pushed.code == 0:
            return ""
        said = pushed.err
    return said


def _join(git: Git, ref: str) -> None:
    """Make the ref here hold what is there too. Where both have a note on a commit, ours stays."""
    full = f"refs/notes/{ref}"
    with locked(git):
        ours, theirs = git.resolve(full), git.resolve(f"refs/notes/{SEEN}")
        if git.is_ancestor(theirs, ours):
            return
        new = theirs if git.is_ancestor(ours, theirs) else _joined(git, ref, ours, theirs)
        git.call("update-ref", "-d", UNFINISHED)
        git.update([(full, new, ours), (f"refs/notes/{SEEN}", ZERO, theirs)])


def _joined(git: Git, ref: str, ours: str, theirs: str) -> str:
    there = list_notes(git, SEEN)
    mine = {
        commit: blob for commit, blob in list_notes(git, ref).items() if there.get(commit) != blob and git.resolve(f"{commit}^{{commit}}")
    }
    texts = {commit: git.run("cat-file", "blob", blob).raw.decode("utf-8", "surrogateescape") for commit, blob in mine.items()}
    return _with(git, texts, held_trees(git, ours) - held_trees(git, theirs), [theirs, ours])
