"""What git makes of two commits, as a tree: no checkout, index or ref is touched. With any git from 2.30 on."""

from typing import NamedTuple

from detent.errors import CannotTell
from detent.git.repo import Git
from detent.storage.state import scratch_folder

UNKNOWN_OPTION = 129  # how a git ends that does not know what it was asked


class TreeMerge(NamedTuple):
    """A merge of two commits; where it conflicts, with the files in which it does."""

    tree: str  # where it conflicts: with the marks of the conflict in its files
    files: tuple[str, ...] = ()
    clean: bool = True


def merge_trees(git: Git, ours: str, theirs: str) -> TreeMerge:
    """Merge two commits. CannotTell if git can make nothing of them."""
    out = git.call("merge-tree", "--write-tree", "--no-messages", "--name-only", "-z", ours, theirs)
    if out.code == UNKNOWN_OPTION:
        return merged_in_files(git, ours, theirs)
    if out.code not in (0, 1) or not out.items:
        raise CannotTell(f"git could not merge: {out.err}")
    return TreeMerge(out.items[0], tuple(dict.fromkeys(out.items[1:])), out.code == 0)


def merged_in_files(git: Git, ours: str, theirs: str) -> TreeMerge:
    """The same for a git before 2.38, which merges in files only: in a folder and with an index that are gone afterwards."""
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
