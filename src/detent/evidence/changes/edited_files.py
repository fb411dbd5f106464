"""The changed files with both versions of their text, and the line numbers added and removed. Reads trees; runs nothing."""

import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import PurePosixPath
from typing import Literal

from detent.evidence.changes.changes import Changes
from detent.evidence.source.diff import Changed, hunks
from detent.evidence.source.file_patterns import is_below_tests, is_document
from detent.evidence.source.insource import test_lines

LARGEST = 1_000_000  # bytes read of a file
NAMED_AS_TEST = re.compile(r"(?:test_.*|.*_(?:test|spec)|.*[._-](?:test|spec)|tests?|conftest|.*Tests?)\.\w+")


class EditedFile:
    """A changed file: both versions, and the numbers of the lines added and removed."""

    def __init__(self, changes: Changes, change: Changed, added: frozenset[int], removed: frozenset[int]) -> None:
        self.changes, self.path, self.how, self.all_added, self.removed = changes, change.path, change.how, added, removed
        self.sort: Literal["test", "production", "config", "list", "other", "unknown"] = change.sort

    @cached_property
    def before(self) -> str:
        return self._text(self.changes.good) if self.how != "added" else ""

    @cached_property
    def after(self) -> str:
        return self._text(self.changes.tree) if self.how != "deleted" else ""

    @cached_property
    def added(self) -> frozenset[int]:
        """The added lines, without those of in-source tests."""
        return self.all_added - test_lines(self.path, self.after) if self.all_added else frozenset()

    @property
    def suffix(self) -> str:
        return PurePosixPath(self.path).suffix

    @property
    def is_product(self) -> bool:
        """Whether the file is code and not a test; judged by its name where the runner does not know its files."""
        if is_document(self.path) or self.sort not in ("production", "unknown"):
            return False
        return self.sort == "production" or not is_named_as_test(self.path)

    @property
    def is_test(self) -> bool:
        return self.sort == "test" or (self.sort in ("unknown", "config") and is_named_as_test(self.path))

    @cached_property
    def _lines(self) -> list[str]:
        return self.after.split("\n")

    def line(self, number: int) -> str:
        return self._lines[number - 1].strip()[:200] if 0 < number <= len(self._lines) else ""

    def _text(self, tree: str) -> str:
        data = self.changes.git.read(tree, self.path) or b""
        return data[:LARGEST].decode("utf-8", "replace")


def read_edits(changes: Changes) -> tuple[EditedFile, ...]:
    """All changed files with their line numbers."""
    added, removed = dict[str, set[int]](), dict[str, set[int]]()
    for hunk in hunks(changes.patch()):
        added.setdefault(hunk.path, set()).update(range(hunk.at, hunk.at + len(hunk.new)))
        removed.setdefault(hunk.path, set()).update(range(hunk.line, hunk.line + len(hunk.removed)))
    return tuple(EditedFile(changes, c, frozenset(added.get(c.path, ())), frozenset(removed.get(c.path, ()))) for c in changes.all())


def is_named_as_test(path: str) -> bool:
    """Whether a file is a test by its name or folder, whatever the runner."""
    where = PurePosixPath(path)
    return is_below_tests(path) or NAMED_AS_TEST.fullmatch(where.name) is not None or bool({"spec", "specs"} & set(where.parts[:-1]))


def has_test_name(path: str) -> bool:
    name = path.rpartition("/")[2]
    return name != "conftest.py" and NAMED_AS_TEST.fullmatch(name) is not None


def product(files: tuple[EditedFile, ...]) -> Iterator[EditedFile]:
    return (file for file in files if file.is_product)
