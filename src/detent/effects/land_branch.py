"""Landing one finished branch: merge it with the newest main, test the merge, push it, and only then move the local main.

Nothing is forced or deleted. Objects come first, then the remote's ref, then ours, so that after a crash the same steps find what is
there and finish. Knows no runs and no items.
"""

from collections.abc import Callable
from typing import Literal, NamedTuple

from detent.effects.catalogue import Ways
from detent.effects.merge import TRIES
from detent.errors import CannotTell
from detent.git.commits import main_branch, short
from detent.git.land_merge import Merge, advance, build_merge, conflicts, fetch_main, may_follow, settle
from detent.git.remote import has_remote, push_branch
from detent.git.repo import Git

Say = Callable[[str], None]
MOST_MARKED = 10_000  # characters of conflict markers that are reported


class Landing(NamedTuple):
    """How it ended: landed by us, in main already, or why the branch was left as it is."""

    outcome: Literal["landed", "already", "conflict", "red"]
    commit: str = ""  # where main is afterwards
    reason: str = ""  # one sentence
    output: str = ""
    marked: str = ""  # for a conflict: its hunks, with git's markers


def land_branch(
    git: Git, name: str, tip: str, at: str, ways: Ways, verify: Callable[[str, str], str | None], say: Say, note: str = ""
) -> Landing:
    """Bring a commit into main. `verify` gets the merged tree and main's commit, and says what is wrong, summary first; None if nothing is.

    `note` is added below the merge's message.
    """
    message = f"Merge branch '{short(name)}'" + (f"\n\n{note}\n" if note else "")
    ref = main_branch(git, ways.main)
    settle(git, ref)
    for _ in range(TRIES):
        newest = fetch_main(git, ref, ways.remote, "detent land")
        if git.is_ancestor(tip, newest):
            return _there_already(git, ref, newest, ways.remote)
        if reason := may_follow(git, ref, newest):
            raise CannotTell(reason)
        merge = build_merge(git, newest, tip, message, at)
        if merge.conflict:
            marked = conflicts(git, merge, MOST_MARKED)
            return Landing("conflict", newest, f"it conflicts with {short(ref)} in {merge.conflict}", marked=marked)
        say(f"merged with {short(ref)} {newest[:12]}; running its tests")
        if wrong := verify(merge.tree, newest):
            first, _, rest = wrong.partition("\n")
            return Landing("red", newest, f"merged with {short(ref)}, the tests fail: {first}", rest)
        if _publish(git, ref, merge, ways.remote, say):
            return Landing("landed", merge.commit)
        say(f"{short(ref)} moved in the meantime; trying again")
    raise CannotTell(f"{short(ref)} moved {TRIES} times while the merge was tested; try again")


def _there_already(git: Git, ref: str, newest: str, remote: str) -> Landing:
    """Main, here or at the remote, already has the branch; bring the other one up to date."""
    now = git.resolve(ref)
    if now != newest:
        if reason := may_follow(git, ref, newest):
            raise CannotTell(reason)
        advance(git, ref, newest, now)
    elif has_remote(git, remote) and git.resolve(f"refs/remotes/{remote}/{short(ref)}") != now:
        push_branch(git, remote, now, ref)
    return Landing("already", newest)


def _publish(git: Git, ref: str, merge: Merge, remote: str, say: Say) -> bool:
    """Push to the remote's main first, as a fast-forward only, then move ours. False: one of them had moved."""
    now = git.resolve(ref)
    if not git.is_ancestor(now, merge.commit):
        return False
    if reason := may_follow(git, ref, merge.commit):
        raise CannotTell(reason)
    if has_remote(git, remote):
        say(f"proved; pushing {short(ref)} to {remote}")
        pushed = push_branch(git, remote, merge.commit, ref)
        if not pushed.ok:
            _must_not_have_parted(git, ref, remote)
            return False
    return advance(git, ref, merge.commit, now) or has_remote(git, remote)  # what the remote has is landed; ours catches up


def _must_not_have_parted(git: Git, ref: str, remote: str) -> None:
    """Raise CannotTell if the remote rejected the push although it has nothing newer: retrying would not help."""
    fetch_main(git, ref, remote, "detent land")
    here, there = git.resolve(ref), git.resolve(f"refs/remotes/{remote}/{short(ref)}")
    if there and git.is_ancestor(there, here):
        raise CannotTell(f"{remote} rejected the push of {short(ref)} although it has nothing newer (is the branch protected?)")
