"""Files that tests share but that contain no tests: helpers, data, snapshots. A change to one changes every test that uses it.

Owns which files these are, which tests use them, and the flags about them. Runs nothing.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import PurePosixPath

from detent.evidence.source.diff import Changed, hunks
from detent.kernel.model import Flag

CODE = frozenset({".py", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".go", ".rb", ".php", ".rs", ".java", ".kt", ".cs"})
MOST_LINES = 12
MOST_SHOWN = 3


def shared_files(changed: Iterable[Changed], holding: Collection[str]) -> tuple[str, ...]:
    """The shared test files that a change modified or deleted, and any new conftest.py, since its fixtures may override those that older tests use.
    `holding`: the files that contain tests."""
    ours = [c.path for c in changed if c.sort == "test" and not c.inside and (c.how != "added" or c.path.endswith("conftest.py"))]
    return tuple(sorted(path for path in ours if path not in holding))


def is_shared_code(path: str) -> bool:
    """Whether a shared test file is code, by its suffix."""
    return PurePosixPath(path).suffix in CODE


def speaks_of(text: str, path: str) -> bool:
    """Whether a test file's text names a helper: by its file name, or by its folder if it is a package."""
    where = PurePosixPath(path)
    stem = where.parent.name if where.stem in ("__init__", "index") or where.suffix == ".go" else where.stem
    return re.search(rf"\b{re.escape(stem)}\b", text) is not None


def out_of_reach(
    tests: Mapping[str, str], changed: Iterable[Changed], holding: Collection[str], read: Callable[[str], str]
) -> frozenset[str]:
    """The tests (of `tests`: id to file) that the change's test files cannot have broken: their file is unchanged, neither imports a changed test file
    nor is built with one, and no shared test file or configuration changed. If such a test fails all the same, it has another cause."""
    every = tuple(changed)
    ours = {c.path for c in every if c.sort == "test" or c.inside}
    if any(c.sort == "config" for c in every) or not ours <= {*holding}:
        return frozenset()
    texts = {file: read(file) for file in {*tests.values()} - ours}
    alone = {file for file, text in texts.items() if not any(_is_with(file, text, path) for path in ours)}
    return frozenset(test for test, file in tests.items() if file in alone)


def _is_with(file: str, text: str, path: str) -> bool:
    """Whether a test file is built together with another file, or imports it."""
    one, other = PurePosixPath(file), PurePosixPath(path)
    built = other.suffix in (".go", ".rs", ".java", ".kt", ".cs") and other.suffix == one.suffix
    return built or re.search(rf"(?:[\"'`/.]|\bimport\s+|\bfrom\s+){re.escape(other.stem)}\b", text) is not None


def flag_shared_files(patch: bytes, shared: Collection[str], broken: Collection[str], alone: bool) -> list[Flag]:
    """Flags if older tests fail with the old version of the shared files. `alone`: no new test asks for the same change of behaviour."""
    if not broken:
        return []
    some = min(broken) + (f" and {len(broken) - 1} more" if len(broken) > 1 else "")
    found = [hunk for hunk in hunks(patch) if hunk.path in shared][:MOST_SHOWN]
    sentence = f"code shared by older tests changed: with the old version, {some} {'fail' if len(broken) > 1 else 'fails'} with this change"
    return [
        Flag(
            "rewritten-test",
            sentence,
            f"{hunk.path}:{max(hunk.at, 1)}",
            "\n".join(hunk.removed[:MOST_LINES]),
            "\n".join(hunk.new[:MOST_LINES]),
            level="ask" if alone else "note",
        )
        for hunk in found
    ] or [Flag("rewritten-test", sentence, min(shared), level="ask" if alone else "note")]
