"""Landing: a branch merged on the then-current main, as objects first; the ref moves last, and only from where it was seen."""

from pathlib import Path
from typing import NamedTuple

from detent.errors import CannotTell
from detent.git.commits import short, switch
from detent.git.repo import Git, GitError


class Merge(NamedTuple):
    """A merge that is built and not yet landed."""

    commit: str
    tree: str  # where it conflicts: with the marks of the conflict in its files
    main: str  # where main was
    conflict: str = ""


def fetch_main(git: Git, main: str, remote: str) -> str:
    """The newest main: the remote's, where there is one and it is ahead. CannotTell if the remote does not answer."""
    local = git.resolve(f"{main}^{{commit}}")
    if not remote or git.call("remote", "get-url", remote).code != 0:
        return local
    name = short(main)
    out = git.call("fetch", "--no-tags", "--no-recurse-submodules", remote, f"+refs/heads/{name}:refs/remotes/{remote}/{name}", timeout=120)
    if out.code != 0:
        if "couldn't find remote ref" in out.err:
            return local
        raise CannotTell(
            f'the remote {remote} cannot be reached: {out.err.splitlines()[0] if out.err else out.code} (set [git] remote = "" to work without it)'
        )
    theirs = git.resolve(f"refs/remotes/{remote}/{name}^{{commit}}")
    return theirs if theirs and git.is_ancestor(local, theirs) else local


def build_merge(git: Git, main: str, branch: str, message: str, at: str) -> Merge:
    """Merge two commits without touching any file or ref."""
    out = git.call("merge-tree", "--write-tree", "--no-messages", "--name-only", main, branch)
    lines = out.text.splitlines()
    if out.code == 1:
        return Merge("", lines[0] if lines else "", main, ", ".join(lines[1:]) or "the branches conflict")
    if out.code != 0:
        raise CannotTell(f"git could not merge: {out.err}")
    return Merge(git.commit(lines[0], [main, branch], message, at), lines[0], main)


def move_main(git: Git, ref: str, merge: Merge) -> bool:
    """Move main to the merge, if it is still where the merge was built. False: someone else was faster."""
    now = git.resolve(ref)
    if now == merge.commit:
        return True
    if git.branch() == ref:
        raise CannotTell(f"{short(ref)} is checked out here; it is moved only from another branch")
    if now != merge.main and not git.is_ancestor(now, merge.main):
        return False
    where = checked_out_elsewhere(git, ref)
    if where and not (_is_clean(git, where) and _follow(git, where, now, merge.commit, "-n")):
        raise CannotTell(
            f"{short(ref)} is checked out in {where} with changes that are not committed; commit them, or switch it to another branch"
        )
    try:
        git.update([(ref, merge.commit, now)])
    except GitError:
        return False
    if where:
        _follow(git, where, now, merge.commit)
    return True


def _follow(git: Git, folder: str, old: str, new: str, *also: str) -> bool:
    """Bring a clean checkout of a branch to where the branch went; nothing that is not committed is touched."""
    there = {"GIT_WORK_TREE": folder, "GIT_DIR": f"{folder}/.git"}
    return git.call("read-tree", *also, "-u", "-m", old, new, also=there).code == 0


def checked_out_elsewhere(git: Git, ref: str) -> str:
    """The folder of another worktree that has this branch checked out."""
    folder = ""
    for line in git.run("worktree", "list", "--porcelain", "-z").items:
        if line.startswith("worktree "):
            folder = line.removeprefix("worktree ")
        if line == f"branch {ref}" and Path(folder).resolve() != git.place.root:
            return folder
    return ""


def _is_clean(git: Git, folder: str) -> bool:
    out = git.call("status", "--porcelain", "-z", "--ignore-submodules=all", also={"GIT_WORK_TREE": folder, "GIT_DIR": f"{folder}/.git"})
    return out.code == 0 and not out.raw


def go_to_main(git: Git, ref: str) -> None:
    """Leave the branch for main in this checkout, if nothing would be lost. Where another checkout has main, only its commit is taken."""
    if git.branch() != ref:
        switch(git, ref, git.tree("HEAD"), detach=bool(checked_out_elsewhere(git, ref)))
