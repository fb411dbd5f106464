"""Notes at a remote: pushed and fetched, and always joined with what others brought there. Knows refs, not what the notes mean."""

from detent.errors import DetentError
from detent.git.notes import TRIES, UNFINISHED, alone, held_trees, list_notes, locked, with_notes
from detent.git.repo import ZERO, Git, GitError

PATIENCE = 120


def push_notes(git: Git, remote: str, *refs: str) -> str:
    """Bring notes to the remote, joined with what others brought there; what went wrong, or an empty text."""
    return next((said for ref in refs if (said := _push(git, remote, ref))), "")


def _push(git: Git, remote: str, ref: str) -> str:
    """Many may push at once, and each of them goes on from the one before: only tries at which the remote stood still are counted."""
    full, said, last, left = f"refs/notes/{ref}", "", "", TRIES
    with alone(git, "notes-push"):
        while left and git.resolve(full):
            there = _fetched(git, remote, ref)
            pushed = git.call("push", "--no-verify", "--", remote, f"{full}:{full}", timeout=PATIENCE)
            if pushed.code == 0:
                return ""
            said, left, last = pushed.err, left - (there == last), there
    return said


def _fetched(git: Git, remote: str, ref: str) -> str:
    """Take in what a remote has; the commit that it is at, or an empty text."""
    if git.call("fetch", "--no-tags", "--", remote, f"+refs/notes/{ref}:{_seen(ref)}", timeout=PATIENCE).code != 0:
        return ""
    there = git.resolve(_seen(ref))
    try:
        _join(git, ref)
    except GitError:
        return ""  # a git that outlived its driver is at it; the next try looks again
    return there


def fetch_notes(git: Git, ref: str, remote: str) -> None:
    """Take in the notes of the remote beside those that are here. DetentError if it cannot be asked; one that has none is fine."""
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
    """What the remote has, while it is joined with what is here."""
    return f"refs/notes/{ref}-seen"


def _join(git: Git, ref: str) -> None:
    """Make the ref here hold what is there too. Where both have a note on a commit, ours stays."""
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
