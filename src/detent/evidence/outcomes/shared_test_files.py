"""Files that tests share and that hold none themselves: helpers, data, snapshots. Whoever changes one changes what every test says that uses it.

Owns which files these are, whose tests they are, and what is said of them; runs nothing.
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
    """The files of the tests that a change modified or took out, and that hold no test; and a new conftest.py, whose fixtures older tests may get in
    the place of others. `holding`: those that hold tests."""
    ours = [c.path for c in changed if c.sort == "test" and not c.inside and (c.how != "added" or c.path.endswith("conftest.py"))]
    return tuple(sorted(path for path in ours if path not in holding))


def is_shared_code(path: str) -> bool:
    """Whether such a file is code."""
    return PurePosixPath(path).suffix in CODE


def speaks_of(text: str, path: str) -> bool:
    """Whether a file of tests names a helper: by the name of its file, or that of its folder where it is a package."""
    where = PurePosixPath(path)
    stem = where.parent.name if where.stem in ("__init__", "index") or where.suffix == ".go" else where.stem
    return re.search(rf"\b{re.escape(stem)}\b", text) is not None


def out_of_reach(
    tests: Mapping[str, str], changed: Iterable[Changed], holding: Collection[str], read: Callable[[str], str]
) -> frozenset[str]:
    """Of tests by their files: those that the tests of a change cannot have made fail. Their file is as it was, imports none that was changed and
    is not built with one, and nothing else below the tests was changed. Where such a test failed all the same, it did so by itself."""
    every = tuple(changed)
    ours = {c.path for c in every if c.sort == "test" or c.inside}
    if any(c.sort == "config" for c in every) or not ours <= {*holding}:
        return frozenset()
    texts = {file: read(file) for file in {*tests.values()} - ours}
    alone = {file for file, text in texts.items() if not any(_is_with(file, text, path) for path in ours)}
    return frozenset(test for test, file in tests.items() if file in alone)


def _is_with(file: str, text: str, path: str) -> bool:
    """Whether a file of tests is built with another one, or imports it."""
    one, other = PurePosixPath(file), PurePosixPath(path)
    built = other.suffix in (".go", ".rs", ".java", ".kt", ".cs") and other.suffix == one.suffix
    return built or re.search(rf"(?:[\"'`/.]|\bimport\s+|\bfrom\s+){re.escape(other.stem)}\b", text) is not None


def flag_shared_files(patch: bytes, shared: Collection[str], broken: Collection[str], alone: bool) -> list[Flag]:
    """What is said where older tests fail with what they shared as it was. `alone`: no new test asks for the same change of behaviour."""
    if not broken:
        return []
    some = min(broken) + (f" and {len(broken) - 1} more" if len(broken) > 1 else "")
    found = [hunk for hunk in hunks(patch) if hunk.path in shared][:MOST_SHOWN]
    said = f"code shared by older tests changed: with the old version, {some} {'fail' if len(broken) > 1 else 'fails'} with this change"
    return [
        Flag(
            "rewritten-test",
            said,
            f"{hunk.path}:{max(hunk.at, 1)}",
            "\n".join(hunk.gone[:MOST_LINES]),
            "\n".join(hunk.new[:MOST_LINES]),
            level="ask" if alone else "note",
        )
        for hunk in found
    ] or [Flag("rewritten-test", said, min(shared), level="ask" if alone else "note")]
