"""Merging two commits into a tree, without a checkout, index or ref. Works with git 2.30 and later."""

from typing import NamedTuple

from detent.errors import CannotTell
from detent.git.repo import Git
from detent.storage.state import scratch_folder

UNKNOWN_OPTION = 129  # git's exit code for an unknown option


class TreeMerge(NamedTuple):
    """The merge of two commits, and the files with conflicts."""

    tree: str  # after a conflict: files contain conflict markers
    files: tuple[str, ...] = ()
    clean: bool = True


def merge_trees(git: Git, ours: str, theirs: str) -> TreeMerge:
    """Merge two commits. CannotTell if git cannot."""
    out = git.call("merge-tree", "--write-tree", "--no-messages", "--name-only", "-z", ours, theirs)
    if out.code == UNKNOWN_OPTION:
        return merged_in_files(git, ours, theirs)
    if out.code not in (0, 1) or not out.items:
        raise CannotTell(f"git could not merge: {out.err}")
    return TreeMerge(out.items[0], tuple(dict.fromkeys(out.items[1:])), out.code == 0)


def merged_in_files(git: Git, ours: str, theirs: str) -> TreeMerge:
    """Merge two commits with a git before 2.38, which needs files to do so: in a temporary folder and index."""
    bases = git.call("merge-base", "--all", ours, theirs).text.split()
    if not bases:
        raise CannotTell("git could not merge: the two have no commit in common")
    with scratch_folder() as folder:
        (files := folder / "files").mkdir()
        index, there = folder / "index", {"GIT_WORK_TREE": str(files)}
        git.run("read-tree", ours, index=index, also=there)
        git.run("checkout-index", "--all", "--quiet", "--index", index=index, also=there)
        out = git.call("merge-recursive", *bases, "--", ours, theirs, index=index, also=there)
        if out.code not in (0, 1):
            raise CannotTell(f"git could not merge: {out.err or out.text}")
        rows = git.run("ls-files", "--unmerged", "-z", index=index, also=there).items
        git.run("add", "--all", "--force", "--", ".", index=index, also=there)
        tree = git.run("write-tree", index=index, also=there).text
    return TreeMerge(tree, tuple(dict.fromkeys(row.partition("\t")[2] for row in rows)), out.code == 0)
