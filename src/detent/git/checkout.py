"""Clean checkouts: the files of a tree in a folder of their own, without a git dir. For runs that must see the tree and nothing else."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from detent.git.repo import Git


@contextmanager
def clean_checkout(git: Git, tree: str, name: str = "") -> Iterator[Path]:
    """The tree in a new folder, gone afterwards. Its name says nothing of what it is for: tests may read it."""
    folder = Path(tempfile.mkdtemp(prefix=""))
    named = folder / (name or git.place.root.name)
    try:
        write_tree(git, tree, named)
        yield named
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def write_tree(git: Git, tree: str, to: Path) -> None:
    """Write the files of a tree below a folder."""
    to.mkdir(parents=True)
    index = to.parent / "index"
    git.run("read-tree", tree, index=index)
    git.run("checkout-index", "-a", "-f", f"--prefix={to}/", index=index)
