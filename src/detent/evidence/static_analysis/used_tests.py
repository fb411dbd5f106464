"""Files in test folders that the product itself imports or loads by path: a change to one changes the product. Reads only."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from detent.evidence.changes.edited_files import NAMED_AS_TEST, EditedFile
from detent.kernel.model import Flag

FOLDERS = frozenset({"tests", "test", "__tests__", "spec", "specs"})
TOOLING = frozenset({"setup.py", "noxfile.py", "tasks.py", "dodo.py"})  # programs that deal with tests
LISTS = re.compile(
    r"(?:^|/)\.|(?:^|/)MANIFEST\.in$|\.gemspec$"
)  # files that list others without loading them: tool settings and packaging lists
MOST_READ = 20  # product files


def used_by_product(files: tuple[EditedFile, ...]) -> Iterator[Flag]:
    """Flags for changed files in a test folder that contain no tests and that product code names."""
    asked = {word: file for file in files if file.sort == "test" and file.how != "deleted" for word in _words(file.path)}
    if not asked:
        return
    changes, flagged = files[0].changes, set[str]()
    found = changes.git.call("grep", "-I", "-l", "-z", "-F", *(part for word in asked for part in ("-e", word)), changes.tree, "--")
    paths = [each.partition(":")[2] for each in found.items] if found.code == 0 else []
    for path in [path for path in paths if _loads(path) and changes.sort(path) == "production"][:MOST_READ]:
        text = changes.text(path)(changes.tree)
        for file in (file for word, file in asked.items() if word in text and file.path not in flagged):
            flagged.add(file.path)
            yield Flag(
                "shadow", f"{file.path} is among the tests, but {path} of the product imports it, so it counts as product code", file.path
            )


def _loads(path: str) -> bool:
    """Whether a file may load others for the product."""
    return PurePosixPath(path).name not in TOOLING and not LISTS.search(path)


def _words(path: str) -> Iterator[str]:
    """How code refers to a file: from the test folder on, as a path or a Python module."""
    where = PurePosixPath(path)
    at = next((n for n, part in enumerate(where.parts[:-1]) if part in FOLDERS), -1)
    if at < 0 or NAMED_AS_TEST.fullmatch(where.name):
        return
    inner = where.parts[at:-1]
    if where.suffix != ".py":
        yield "/".join((*inner, where.name))
        if where.suffix in (".js", ".mjs", ".cjs", ".ts", ".tsx", ".jsx"):
            yield from (f"{'/'.join((*inner, where.stem))}{quote}" for quote in "\"'")
    elif where.stem != "__init__":
        yield from (".".join((*inner, where.stem)), f"{'.'.join(inner)} import {where.stem}")
