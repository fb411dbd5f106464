"""Merging a run's branch into main: the merge is built and tested before any ref moves, and a failing or conflicting one moves nothing."""

import shlex
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from detent.effects.catalogue import Ways
from detent.errors import CannotTell, Parted
from detent.evidence.outcomes.claims import REF
from detent.git.by_hand import conflict_text, red_text
from detent.git.commits import main_branch, short
from detent.git.land_merge import Merge, advance, build_merge, fetch_main, go_to_main, is_in_main, may_follow, move_main, settle
from detent.git.notes import HANDOFFS, push_notes
from detent.git.remote import has_remote, push_branch
from detent.git.repo import Git
from detent.storage.state import read_sealed, write_sealed

TRIES = 5


class Landed(NamedTuple):
    """How a merge ended: merged, conflict, red-merge, or empty if a person has to merge."""

    outcome: str
    main: str = ""
    output: str = ""
    reports: Mapping[str, str] = {}  # tested tree -> the digest of its report


def land(
    git: Git,
    branch: str,
    at: str,
    ways: Ways,
    verify: Callable[[str], str | None],
    open_pr: Callable[[list[str]], object],
    note: str = "",
) -> Landed:
    """Bring a branch into main, or say why not. A branch that is already in main counts as merged, whoever merged it.

    `note` is added below the merge's message.
    """
    ref = main_branch(git, ways.main)
    tip = git.resolve(f"{branch}^{{commit}}")
    if not tip:
        raise CannotTell(f"the branch {short(branch)} is gone")
    try:
        return _land(git, branch, tip, ref, at, ways, verify, open_pr, note)
    except Parted as e:
        return Landed("conflict", ref, str(e))


def _land(
    git: Git,
    branch: str,
    tip: str,
    ref: str,
    at: str,
    ways: Ways,
    verify: Callable[[str], str | None],
    open_pr: Callable[[list[str]], object],
    note: str,
) -> Landed:
    message = f"Merge branch '{short(branch)}'" + (f"\n\n{note}\n" if note else "")
    for _ in range(TRIES):
        newest = fetch_main(git, ref, ways.remote)
        merge = build_merge(git, newest, tip, message, at)
        if git.is_ancestor(tip, newest) or (ways.merge != "auto" and is_in_main(git, merge, tip)):
            _catch_up(git, ref, newest)
            go_to_main(git, ref)
            return Landed("merged", ref)
        if ways.merge != "auto":
            fault = _offer(git, branch, ways, verify, open_pr)
            return Landed("red-merge", ref, f"{fault}\n\n{red_text(git, branch, ref, newest, ways.remote)}") if fault else Landed("")
        if merge.conflict:
            return Landed("conflict", ref, conflict_text(git, branch, ref, newest, merge.files, ways.remote, ways.push))
        if fault := verify(merge.tree):
            return Landed("red-merge", ref, f"{fault}\n\n{red_text(git, branch, ref, newest, ways.remote)}")
        if _push_merge(git, ref, merge, ways) and move_main(git, ref, merge):
            go_to_main(git, ref)
            return Landed("merged", ref)
    raise CannotTell(f"{short(ref)} moved {TRIES} times while the merge was tested; try again")


def _catch_up(git: Git, ref: str, newest: str) -> None:
    """Move our main up to what was merged at the remote, before anything is built on it."""
    settle(git, ref)
    now = git.resolve(ref)
    if now != newest and git.is_ancestor(now, newest):
        if reason := may_follow(git, ref, newest):
            raise CannotTell(reason)
        advance(git, ref, newest, now)


def _push_merge(git: Git, ref: str, merge: Merge, ways: Ways) -> bool:
    """Push the merge if configured; False if the remote had moved. The remote goes first, so that our main never lacks its commits."""
    if not ways.push or not has_remote(git, ways.remote):
        return True
    pushed = push_branch(git, ways.remote, merge.commit, ref)
    if not pushed.ok and fetch_main(git, ref, ways.remote) == merge.main:
        raise CannotTell(
            f"{ways.remote} does not accept {short(ref)}, although it has nothing newer (is the branch protected?): {pushed.output}"
        )
    return pushed.ok


def _offer(git: Git, branch: str, ways: Ways, verify: Callable[[str], str | None], open_pr: Callable[[list[str]], object]) -> str | None:
    """Test the branch once in a clean checkout and offer it to the person who merges; for a pull request, push it. What is wrong, or None."""
    mark, tip = offered(git, branch), git.resolve(f"{branch}^{{commit}}")
    if read_sealed(mark) == tip:
        return None
    if fault := verify(git.tree(tip)):
        return fault
    if ways.merge == "pull-request":
        _open(git, branch, ways, open_pr)
    write_sealed(mark, tip)
    return None


def offered(git: Git, branch: str) -> Path:
    """The sealed file that keeps the commit at which a branch was offered."""
    return git.place.common_dir / "detent" / "offered" / f"{sha256(branch.encode()).hexdigest()[:24]}.json"


def _open(git: Git, branch: str, ways: Ways, open_pr: Callable[[list[str]], object]) -> None:
    pushed = git.call("push", "--no-verify", "--", ways.remote, f"{branch}:{branch}", timeout=120)
    if pushed.code != 0:
        raise CannotTell(f"the branch could not be pushed: {pushed.err}")
    if fault := push_notes(git, ways.remote, REF, HANDOFFS):
        raise CannotTell(f"the notes could not be pushed with the branch: {fault}")
    open_pr([*shlex.split(ways.pr_command)])
