"""The files of a JVM project: which are tests, which classes they declare, and which a selection names. Starts no process.

Knows the folder layout of Maven and Gradle, but neither's commands.
"""

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from itertools import pairwise
from pathlib import Path, PurePosixPath

from detent.evidence.runners.adapter import is_below
from detent.evidence.runners.wrapper import source_files

CODE = frozenset({".java", ".kt", ".groovy", ".scala"})
TEST_NAME = re.compile(r"Test.*|.+(?:Test|Tests|TestCase|IT|ITCase|Spec)")
RUN_BY_DEFAULT = re.compile(r"Test.*|.+(?:Test|Tests|TestCase)")
TEST_SET = re.compile(r"test|it|tests|.+Test|testFixtures|test[A-Z].*")  # the folder below `src`
PACKAGE = re.compile(r"^\s*package\s+([\w.]+)", re.MULTILINE)
DECLARED = re.compile(r"\b(?:class|interface|record|enum|object)\s+(\w+)")


def is_test_file(path: str) -> bool:
    """Whether a file is in a test source set, or outside production sources has a test name."""
    where = PurePosixPath(path)
    parts = where.parts[:-1]
    sets = [inner for outer, inner in pairwise(parts) if outer == "src"]
    if any(TEST_SET.fullmatch(each) for each in sets):
        return True
    named = where.suffix in CODE and TEST_NAME.fullmatch(where.stem) is not None
    return (named and "main" not in sets) or (bool(parts) and parts[0] in ("test", "tests"))


def test_sources(root: Path) -> list[str]:
    return [path for path in source_files(root) if PurePosixPath(path).suffix in CODE and is_test_file(path)]


def classes(root: Path, sources: Iterable[str]) -> dict[str, list[str]]:
    """The files that declare each class, by qualified name."""
    found: dict[str, list[str]] = {}
    for path in sources:
        text = (root / path).read_text("utf-8", "replace")
        package = PACKAGE.search(text)
        prefix = f"{package[1]}." if package else ""
        for name in dict.fromkeys([PurePosixPath(path).stem, *DECLARED.findall(text)]):
            found.setdefault(f"{prefix}{name}", []).append(path)
    return found


def file_of(name: str, module: str, declared: dict[str, list[str]]) -> str:
    """The file of a class, preferably in its own module and with its own name; "" if none declares it."""
    outer = name.partition("$")[0]
    stem = outer.rpartition(".")[2]
    files = declared.get(outer, [])
    return min(
        files, key=lambda path: (not path.startswith(f"{module}/" if module else "src/"), PurePosixPath(path).stem != stem), default=""
    )


def selected(paths: Iterable[str], sources: Iterable[str]) -> list[str]:
    """The test sources that files and folders select; of a folder those that run by default."""
    plain = [path.removeprefix("./").rstrip("/") for path in paths]

    def runs(source: str) -> bool:
        return RUN_BY_DEFAULT.fullmatch(PurePosixPath(source).stem) is not None and any(is_below(source, path) for path in plain)

    return [source for source in sources if source in plain or runs(source)]


def dotted(source: str) -> list[str]:
    """The qualified name of a test file's class, and a pattern for its inner classes."""
    parts = PurePosixPath(source).with_suffix("").parts
    at = next((n + 3 for n, part in enumerate(parts[:-2]) if part == "src"), len(parts) - 1)
    name = ".".join(parts[at:])
    return [name, f"{name}$*"]


def named(source: str, names: str) -> bool:
    """Whether a selection by test names can include this file."""
    stem = PurePosixPath(source).stem
    each = [re.split(r"#", name.strip())[0] for name in names.split(",")]
    wanted = [name for name in each if name and not name.startswith("!")]
    return not wanted or any(fnmatchcase(stem, part) for name in wanted for part in re.split(r"[./]", name.removesuffix(".java")))
