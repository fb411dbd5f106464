"""Merging a branch into main: built and tested before the ref moves. Red, conflicting or overtaken: nothing moved."""

import shlex
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from detent.errors import CannotTell
from detent.evidence.claims import REF
from detent.git.commits import main_branch, short
from detent.git.land_merge import build_merge, fetch_main, go_to_main, move_main
from detent.git.notes import HANDOFFS
from detent.git.notes_remote import push_notes
from detent.git.repo import Git
from detent.storage.seal import keep, kept

TRIES = 5


class Landed(NamedTuple):
    """How a merge ended: merged, conflict, red-merge, or empty if a person has to do it."""

    outcome: str
    main: str = ""
    output: str = ""
    reports: Mapping[str, str] = {}  # of each tree that was tested for it: the digest of the report


class Ways(NamedTuple):
    """How landing is configured."""

    main: str
    remote: str
    merge: str  # auto, branch, pull-request
    pr_command: str


def land(
    git: Git,
    branch: str,
    at: str,
    ways: Ways,
    verify: Callable[[str], str | None],
    open_pr: Callable[[list[str]], object],
    note: str = "",
) -> Landed:
    """Bring a branch into main, or say why not. A branch that is in main already is merged, whoever did it. `note` stands below the message."""
    message = f"Merge branch '{short(branch)}'" + (f"\n\n{note}\n" if note else "")
    ref = main_branch(git, ways.main)
    tip = git.resolve(f"{branch}^{{commit}}")
    if not tip:
        raise CannotTell(f"the branch {short(branch)} is gone")
    for _ in range(TRIES):
        newest = fetch_main(git, ref, ways.remote)
        if git.is_ancestor(tip, newest) or git.is_ancestor(tip, git.resolve(ref)):
            go_to_main(git, ref)
            return Landed("merged", ref)
        if ways.merge != "auto":
            said = _offered(git, branch, ways, verify, open_pr)
            return Landed("red-merge", ref, said) if said else Landed("")
        merge = build_merge(git, newest, tip, message, at)
        if merge.conflict:
            return Landed("conflict", ref, conflict_text(branch, ref, merge.conflict))
        if said := verify(merge.tree):
            return Landed("red-merge", ref, said)
        if move_main(git, ref, merge):
            go_to_main(git, ref)
            return Landed("merged", ref)
    raise CannotTell(f"{short(ref)} moved {TRIES} times while the merge was tested; try again")


def conflict_text(branch: str, main: str, files: str) -> str:
    """What a person is told when a merge conflicts."""
    return (
        f"ERROR: the automated merge of '{short(branch)}' into '{short(main)}' conflicts in: {files}. Nothing was moved. "
        f"Resolve it on the branch, merge it into {short(main)} by hand, then run `detent resume`."
    )


def _offered(git: Git, branch: str, ways: Ways, verify: Callable[[str], str | None], open_pr: Callable[[list[str]], object]) -> str | None:
    """A person merges: what is offered was tested in a clean checkout, once. With a pull request the branch is pushed too; then the run waits."""
    mark, tip = offered(git, branch), git.resolve(f"{branch}^{{commit}}")
    if kept(mark) == tip:
        return None
    if said := verify(git.tree(tip)):
        return said
    if ways.merge == "pull-request":
        _open(git, branch, ways, open_pr)
    keep(mark, tip)
    return None


def offered(git: Git, branch: str) -> Path:
    """Where it is kept, under a seal, at which commit a branch was offered."""
    return git.place.common_dir / "detent" / "offered" / f"{sha256(branch.encode()).hexdigest()[:24]}.json"


def _open(git: Git, branch: str, ways: Ways, open_pr: Callable[[list[str]], object]) -> None:
    pushed = git.call("push", "--no-verify", "--", ways.remote, f"{branch}:{branch}", timeout=120)
    if pushed.code != 0:
        raise CannotTell(f"the branch could not be pushed: {pushed.err}")
    if said := push_notes(git, ways.remote, REF, HANDOFFS):
        raise CannotTell(f"the notes could not be pushed with the branch: {said}")
    open_pr([*shlex.split(ways.pr_command)])
