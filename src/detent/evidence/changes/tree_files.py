"""The files of a tree, as adapters see a project: read from git, whatever lies in the folder."""

from collections.abc import Iterator
from pathlib import Path

from detent.evidence.runners.adapter import LARGEST_READ
from detent.git.repo import Git

LARGEST_DOCUMENT = 1_000_000  # bytes


class TreeFiles:
    """A tree, read when it is asked for."""

    def __init__(self, git: Git, tree: str) -> None:
        self.git, self.tree = git, tree

    def exists(self, path: str) -> bool:
        return bool(self.git.resolve(f"{self.tree}:{path}"))

    def read(self, path: str) -> str | None:
        data = self.git.read(self.tree, path)
        return data[:LARGEST_READ].decode("utf-8", "replace") if data is not None else None

    def paths(self) -> Iterator[str]:
        yield from self.git.run("ls-tree", "-r", "-z", "--name-only", self.tree).items

    def which(self, name: str) -> str | None:
        return None


def read_plain(file: Path) -> bytes | None:
    """A file that lies there itself, and is no link; of one that is too large, as much as shows that."""
    try:
        if file.is_symlink() or not file.is_file():
            return None
        with file.open("rb") as source:
            return source.read(LARGEST_DOCUMENT + 1)
    except OSError:
        return None
