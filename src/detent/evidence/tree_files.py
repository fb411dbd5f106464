"""The files of a tree, as adapters see a project: read from git, whatever lies in the folder."""

from collections.abc import Iterator

from detent.evidence.runners.adapter import LARGEST_READ
from detent.git.repo import Git


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
