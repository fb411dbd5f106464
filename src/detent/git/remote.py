"""One branch and its remote: whether a name is free there, pushing without force, and replaying commits on what the remote has.

Objects first, refs last: whatever is cut in between is done again and comes to the same.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from detent.errors import CannotTell
from detent.git.commits import short
from detent.git.repo import Git

PATIENCE = 120  # seconds for one call over the network


class Pushed(NamedTuple):
    """How a push ended."""

    ok: bool
    output: str = ""


class Replayed(NamedTuple):
    """Commits on top of another one; or what conflicts."""

    tip: str
    commits: tuple[tuple[str, str], ...] = ()  # each as it was and as it is
    conflict: str = ""


def has_remote(git: Git, remote: str) -> bool:
    return bool(remote) and git.call("remote", "get-url", remote).code == 0


def names_at(git: Git, remote: str, prefix: str) -> frozenset[str]:
    """The branches of a remote that begin so. CannotTell if it does not answer."""
    out = git.call("ls-remote", "--heads", remote, f"refs/heads/{prefix}*", timeout=PATIENCE)
    if out.code != 0:
        raise CannotTell(_unreached(remote, out.err))
    return frozenset(short(line.split("\t")[1]) for line in out.text.splitlines() if "\t" in line)


def push_branch(git: Git, remote: str, commit: str, branch: str) -> Pushed:
    """Push a commit as a branch, never by force. CannotTell if the remote does not answer at all."""
    out = git.call("push", "--porcelain", "--no-verify", remote, f"{commit}:{branch}", timeout=PATIENCE)
    said = f"{out.text}\n{out.err}".strip()
    if out.code == 0:
        return Pushed(True, said)
    if re.search(r"^!\t", out.text, re.MULTILINE):
        return Pushed(False, said)
    raise CannotTell(_unreached(remote, out.err or out.text))


def fetch_branch(git: Git, remote: str, branch: str) -> str:
    """The commit that the remote has for a branch; empty if it has none. CannotTell if it does not answer."""
    name = short(branch)
    kept = f"refs/remotes/{remote}/{name}"
    out = git.call("fetch", "--no-tags", "--no-recurse-submodules", remote, f"+refs/heads/{name}:{kept}", timeout=PATIENCE)
    if out.code == 0:
        return git.resolve(f"{kept}^{{commit}}")
    if "couldn't find remote ref" in out.err:
        return ""
    raise CannotTell(_unreached(remote, out.err))


def replay(git: Git, base: str, tip: str, onto: str, at: str) -> Replayed:
    """The commits over a base, one by one, on top of another commit; no file and no ref is touched."""
    todo = git.run("rev-list", "--reverse", "--first-parent", f"{base}..{tip}", "--").text.split()
    made: list[tuple[str, str]] = []
    for commit in todo:
        parent = git.resolve(f"{commit}^")
        stand_in = git.commit(git.tree(onto), [parent], "stands in for the new parent", at)  # so that the old parent is the common base
        out = git.call("merge-tree", "--write-tree", "--no-messages", "--name-only", stand_in, commit)
        lines = out.text.splitlines()
        if out.code == 1:
            return Replayed("", (), f"{git.message(commit).splitlines()[0]}: {', '.join(lines[1:]) or 'the changes conflict'}")
        if out.code != 0:
            raise CannotTell(f"git could not rebase: {out.err}")
        onto = git.commit(lines[0], [onto], git.message(commit), at)
        made.append((commit, onto))
    return Replayed(onto, tuple(made))


def free_name(git: Git, wanted: str, taken: Sequence[str] | frozenset[str]) -> str:
    """The wanted branch, or with -retry2, -retry3, … if it is taken here or there."""
    for n in range(1, 1000):
        name = wanted if n == 1 else f"{wanted}-retry{n}"
        if git.call("check-ref-format", "--branch", name).code == 0 and name not in taken and not git.resolve(f"refs/heads/{name}"):
            return f"refs/heads/{name}"
    raise CannotTell(f"every branch from {wanted} to {wanted}-retry999 is taken; delete old ones")


def _unreached(remote: str, said: str) -> str:
    first = said.splitlines()[0] if said else "no answer"
    return f'the remote {remote} cannot be reached: {first} (set [git] remote = "" to work without it)'
