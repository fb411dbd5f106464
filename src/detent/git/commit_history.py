"""What a range has: its commits, the oldest first, and the files that differ between its ends."""

from typing import NamedTuple

from detent.git.repo import Git


class Commit(NamedTuple):
    """A commit of a range."""

    hash: str
    tree: str
    parents: tuple[str, ...]
    subject: str


def commits_between(git: Git, base: str, tip: str) -> list[Commit]:
    out = git.run("log", "--reverse", "--topo-order", "--format=%H%x00%T%x00%P%x00%s", f"{base}..{tip}", "--").text
    rows = (line.split("\0") for line in out.split("\n") if line)
    return [Commit(row[0], row[1], tuple(row[2].split()), row[3]) for row in rows]


def paths_between(git: Git, before: str, after: str) -> tuple[str, ...]:
    """The files that differ between two trees."""
    return tuple(git.run("diff-tree", "-r", "-z", "--name-only", before, after).items)
