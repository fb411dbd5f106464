"""Merging a branch into the current main: built as objects first; the ref moves last, and only if main is still where it was."""

from typing import NamedTuple

from detent.errors import CannotTell, Parted
from detent.git.by_hand import RESUME, parted_text
from detent.git.commits import short, switch
from detent.git.remote import unreached
from detent.git.repo import ZERO, Git, GitError
from detent.git.tree_merge import merge_trees
from detent.git.workspace import checked_out_elsewhere

FOLLOW = "refs/detent/landing/follow"  # where main was, until its checkout has been updated


ITEMS = ".beads/issues.jsonl"  # where beads keeps items in a checkout
AROUND = 3  # lines shown around a conflict


class Merge(NamedTuple):
    """A merge that is built but not landed."""

    commit: str
    tree: str  # after a conflict: files contain conflict markers
    main: str  # the main commit that it was built on
    conflict: str = ""
    files: tuple[str, ...] = ()  # the files with conflicts


def fetch_main(git: Git, main: str, remote: str, then: str = RESUME) -> str:
    """The newest main: the remote's if it is ahead, else ours. CannotTell if the remote does not answer; Parted if both have moved.

    `then` is the command for the person to run once they have merged the two.
    """
    local = git.resolve(f"{main}^{{commit}}")
    if not remote or git.call("remote", "get-url", remote).code != 0:
        return local
    name = short(main)
    out = git.call(
        "fetch", "--no-tags", "--no-recurse-submodules", "--", remote, f"+refs/heads/{name}:refs/remotes/{remote}/{name}", timeout=120
    )
    if out.code != 0:
        if "couldn't find remote ref" in out.err:
            return local
        raise unreached(remote, out.err)
    theirs = git.resolve(f"refs/remotes/{remote}/{name}^{{commit}}")
    if not theirs or git.is_ancestor(theirs, local):
        return local
    if not git.is_ancestor(local, theirs):
        raise Parted(parted_text(git, main, theirs, remote, then))
    return theirs


def build_merge(git: Git, main: str, branch: str, message: str, at: str) -> Merge:
    """Merge two commits without touching a file or ref."""
    made = merge_trees(git, main, branch)
    if not made.clean:
        return Merge("", made.tree, main, ", ".join(made.files) or "the branches conflict", made.files)
    return Merge(git.commit(made.tree, [main, branch], message, at), made.tree, main)


def is_in_main(git: Git, merge: Merge, tip: str) -> bool:
    """Whether main already has the branch's changes in commits of its own, as after a squash or rebase.

    False for a conflicting merge, whose tree proves nothing, and for a branch that changes nothing.
    """
    if merge.conflict or merge.tree != git.tree(merge.main):
        return False
    return git.tree(git.run("merge-base", merge.main, tip).text) != git.tree(tip)


def conflicts(git: Git, merge: Merge, most: int) -> str:
    """The conflicting hunks of a merge with their markers and a few lines around them, cut at `most` characters."""
    found = []
    for path in merge.files:
        out = git.call("cat-file", "blob", f"{merge.tree}:{path}")
        lines = out.raw.decode("utf-8", "replace").splitlines() if out.code == 0 else []
        found += [f"{path}, line {first + 1}:\n" + "\n".join(lines[first:last]) for first, last in _marked(lines)]
    text = "\n\n".join(found)
    return text if len(text) <= most else f"{text[:most]}\n[… {len(text) - most} characters left out]"


def _marked(lines: list[str]) -> list[tuple[int, int]]:
    """The line range of each conflict, with a few lines around it."""
    begins = [n for n, line in enumerate(lines) if line.startswith("<<<<<<< ")]
    ends = [n for n, line in enumerate(lines) if line.startswith(">>>>>>> ")]
    return [(max(0, first - AROUND), last + 1 + AROUND) for first, last in zip(begins, ends, strict=False)]


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


def checkout_of(git: Git, ref: str) -> str:
    """The folder where a branch is checked out, this one or another; empty if there is none."""
    return str(git.place.root) if git.branch() == ref else checked_out_elsewhere(git, ref)


def may_follow(git: Git, ref: str, new: str) -> str:
    """Why a branch's checkout could not be updated to a commit; empty if it can, or if there is none."""
    folder = checkout_of(git, ref)
    if not folder or (_is_clean(git, folder) and _follow(git, folder, git.resolve(ref), new, "-n")):
        return ""
    return f"{short(ref)} is checked out in {folder} with changes that are not committed; commit them, or switch it to another branch"


def advance(git: Git, ref: str, new: str, old: str) -> bool:
    """Fast-forward a branch and its checkout. False: the branch has moved. If killed midway, `settle` finishes it."""
    folder = checkout_of(git, ref)
    try:
        git.update([(ref, new, old), *([(FOLLOW, old, ZERO)] if folder else [])])
    except GitError:
        return False
    if folder:
        settle(git, ref)
    return True


def settle(git: Git, ref: str) -> None:
    """Update the checkout of a branch that was moved, if that is still owed. A person's changes in it are never touched."""
    old, new, folder = git.resolve(FOLLOW), git.resolve(ref), checkout_of(git, ref)
    if not old:
        return
    if folder and not _follow(git, folder, old, new):
        there = {"GIT_WORK_TREE": folder, "GIT_DIR": f"{folder}/.git"}
        git.call("update-index", "-q", "--refresh", also=there)
        before, after = (set(git.run("diff-index", "--name-only", "-z", commit, "--", also=there).items) for commit in (old, new))
        if before & after or (after and git.call("read-tree", "--reset", "-u", new, also=there).code != 0):
            raise CannotTell(
                f"{short(ref)} moved to {new[:12]}, and its checkout in {folder} could not follow: {', '.join(sorted(before & after)[:5])} "
                f"was changed there too. Keep what is yours, then `git reset --hard {new[:12]}` there, and `git update-ref -d {FOLLOW}`"
            )
    git.update([(FOLLOW, ZERO, old)])


def _follow(git: Git, folder: str, old: str, new: str, *also: str) -> bool:
    """Update a clean checkout from one commit to another; never touches uncommitted changes."""
    there = {"GIT_WORK_TREE": folder, "GIT_DIR": f"{folder}/.git"}
    return git.call("read-tree", *also, "-u", "-m", old, new, also=there).code == 0


def _is_clean(git: Git, folder: str) -> bool:
    """Whether a checkout has no uncommitted work of a person. The tracker's item file is ignored: it changes whenever items do."""
    asked = ("status", "--porcelain", "-z", "--ignore-submodules=all", "--", ":/", f":(top,exclude){ITEMS}")
    out = git.call(*asked, also={"GIT_WORK_TREE": folder, "GIT_DIR": f"{folder}/.git"})
    return out.code == 0 and not out.raw


def go_to_main(git: Git, ref: str) -> None:
    """Switch this checkout to main, if nothing would be lost; detached if another checkout already has main."""
    if git.branch() != ref:
        switch(git, ref, git.tree("HEAD"), detach=bool(checked_out_elsewhere(git, ref)))
