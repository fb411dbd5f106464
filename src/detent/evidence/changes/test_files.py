"""The files of a tree as adapters see a project, and which of them are tests: looked up, not guessed.

`[test] files` is asked first, then what the project configures for its runner, what the runner collected from, names, and folders: data,
snapshots and helpers below a folder of tests belong to the tests. A file of code that also holds tests (doctests, `#[cfg(test)]`,
in-source tests) stays code; `insource` tells its two parts apart. Pure but for reading files through `Files`.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from detent.evidence.runners.adapter import LARGEST_READ, Command, Files, Runner
from detent.evidence.source.file_patterns import SOURCES, is_outside, said
from detent.git.repo import Git

MOST_READ = 500
FOLDER = re.compile(
    r"tests?|__tests?__|__mocks__|__snapshots__|__fixtures__|testdata|test[-_](?:data|files|fixtures|resources)|cassettes|e2e"
    r"|(?:unit|integration|functional|acceptance|system|smoke|regression|api|e2e|end-to-end|type|typing|types|mypy|pyright|compat|contract|component"
    r"|browser|property|fuzz|conformance|golden|snapshot|doc|docs|perf|performance|stress|cli)[-_]?tests?|tests[-_][\w-]+"
)
ALWAYS_DATA = (".snap", ".ambr", ".snapshot")  # snapshots of vitest, jest and insta, of syrupy, of node
HOLDS = {  # what only a file of tests says, by the end of its name; a file of another kind is not told by what was collected from it
    ".py": re.compile(r"^(?:async )?def test|^class \w*Test|^class .*\bTestCase\b|^(?:import|from) (?:pytest|unittest)\b", re.MULTILINE),
    ".rb": re.compile(r"^\s*(?:RSpec\.)?(?:describe|context|feature)\b|< (?:Minitest::Test|Test::Unit)", re.MULTILINE),
    ".php": re.compile(r"\bextends\s+[\w\\]*TestCase\b|^\s*(?:it|test)\(", re.MULTILINE),
    ".java": re.compile(r"@Test\b|\bextends\s+TestCase\b|@ParameterizedTest\b"),
    **dict.fromkeys((".kt", ".groovy", ".scala"), re.compile(r"@Test\b|: \w*Spec\b|\bextends\s+\w*(?:Spec|Suite|TestCase)\b")),
    **dict.fromkeys(
        (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx"),
        re.compile(r"^\s*(?:describe|it|test|suite|context)(?:\.\w+)*\s*[(`]", re.MULTILINE),
    ),
}
IN_SOURCE = re.compile(r"\bimport\.meta\.vitest\b")
PRODUCT_ONLY = (".go", ".rs", ".c", ".cc", ".cpp", ".cxx", ".h", ".hpp", ".cs", ".fs", ".vb")  # what was not built stands in reports too


class TestFiles(NamedTuple):
    """The test files of one tree, or of the trees that are compared."""

    collected: frozenset[str]  # files that tests were collected from, without those that are code
    patterns: tuple[str, ...]  # the project's own, those of the user last: the last one that fits decides
    named: Callable[[str], bool]  # the runner's own rule
    is_config: Callable[[str], bool] = lambda path: False

    def is_test(self, path: str) -> bool:
        """Whether a file is a test or serves tests only."""
        if self.is_config(path):
            return False
        decided = said(self.patterns, path)
        if decided is not None:
            return decided
        return path in self.collected or self.named(path) or is_below_tests(path)


def patterns_of(runner: Runner, files: Files, configured: tuple[str, ...], base: Command | None = None) -> tuple[str, ...]:
    """The project's own patterns, and those of `[test] files` after them: the last one that fits decides."""
    return (*runner.test_patterns(base, files), *configured)


def looked_up(runner: Runner, patterns: tuple[str, ...], files: Files, collected: Iterable[str]) -> TestFiles:
    """Which files are tests, by patterns that are known already."""
    plain = TestFiles(frozenset(), patterns, runner.is_test, runner.is_config)
    left = [path for path in dict.fromkeys(collected) if not is_outside(path) and not plain.is_test(path)]
    return plain._replace(collected=frozenset(path for path in left[:MOST_READ] if _is_file_of_tests(path, files)))


def is_below_tests(path: str) -> bool:
    """Whether a folder above a file is one of tests by its name, or the file is a snapshot, or the folder itself (as a link)."""
    where = PurePosixPath(path)
    if path.startswith("src/main/") or "/src/main/" in path:
        return False  # Maven's word for the product, whatever its packages are called
    if any(FOLDER.fullmatch(part) for part in where.parts[:-1]) or path.endswith(ALWAYS_DATA):
        return True
    return bool(where.parts) and FOLDER.fullmatch(where.parts[-1]) is not None  # no folder stands in a list of files, but a link to one


def _is_file_of_tests(path: str, files: Files) -> bool:
    """Whether a file that tests were collected from is nothing but tests: by what it says, since code may hold tests too."""
    suffix = PurePosixPath(path).suffix
    if suffix in PRODUCT_ONLY or suffix not in HOLDS:
        return False
    text = files.read(path)
    if text is None:  # of another tree
        return path.partition("/")[0] not in SOURCES
    return HOLDS[suffix].search(text) is not None and not IN_SOURCE.search(text)


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
