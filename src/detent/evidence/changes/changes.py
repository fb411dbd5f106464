"""What a step changed, each path with its sort: test, code, configuration. By evidence: what the runner collected, what the project says.

Which files are tests is looked up, not guessed: `[test] files` is asked first, then what the project configures for its runner, what the runner
collected from, names, and folders: data, snapshots and helpers below a folder of tests belong to the tests. A file of code that also holds
tests (doctests, `#[cfg(test)]`, in-source tests) stays code; `insource` tells its two parts apart. Owns also the overlay of one tree's tests
over another, and the value that names the trees to compare with. Knows no gates.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, cached_property
from pathlib import Path, PurePosixPath
from typing import Literal, NamedTuple

from detent.evidence.changes.judging_config import is_judging
from detent.evidence.changes.projects import is_beside
from detent.evidence.runners import RUNNERS
from detent.evidence.runners.adapter import LARGEST_READ, Command, Files, Runner, is_shared_config
from detent.evidence.running.collect import Collects
from detent.evidence.source.diff import Changed
from detent.evidence.source.file_patterns import SOURCES, is_below_tests, is_outside, said
from detent.evidence.source.file_text import bytes_of, text_of
from detent.git.repo import Git

MOST_READ = 500
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
        return text_of(data[:LARGEST_READ]) if data is not None else None

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


Sort = Literal["test", "production", "config", "list", "unknown"]
LETTERS: Mapping[str, Literal["added", "modified", "deleted"]] = {"A": "added", "D": "deleted"}


class Changes:
    """The paths that differ between the last good tree and the judged one."""

    def __init__(self, git: Git, collect: Collects, good: str, tree: str, preflight: tuple[str, ...] = ()) -> None:
        self.git, self.collect, self.good, self.tree, self.preflight = git, collect, good, tree, preflight
        self._all: tuple[Changed, ...] | None = None
        self._files: TestFiles | None = None

    def all(self) -> tuple[Changed, ...]:
        if self._all is None:
            self._all = tuple(self._change(letter, path) for letter, path in self._compared[0])
        return self._all

    def patch(self) -> bytes:
        """The patch between the two, without context."""
        return self._compared[1]

    @cached_property
    def _compared(self) -> tuple[list[tuple[str, str]], bytes]:
        """How each path changed, and the patch."""
        return self.git.patch(self.good, self.tree)

    def text(self, path: str) -> Callable[[str], str]:
        """How a path reads in a tree."""
        return lambda tree: text_of(self.git.read(tree, path) or b"")

    @cached_property
    def moves(self) -> dict[str, str]:
        """The files that only got another name."""
        gone, came = ([c.path for c in self.all() if c.how == how] for how in ("deleted", "added"))
        if not gone or not came:
            return {}
        from detent.evidence.source.renamed_files import moves  # few changes have any

        return moves({path: self.text(path)(self.good) for path in gone}, {path: self.text(path)(self.tree) for path in came})

    def overlay(self, tree: str) -> dict[str, bytes]:
        """The tests that the step changed, as they are laid over another tree: whole files, and the test part of files of code."""
        found = {}
        for change in self.all():
            if change.sort == "test" and change.how != "deleted" and not change.inside:
                found[change.path] = self.git.read(self.tree, change.path) or b""
            elif change.inside and (laid := self._laid(change.path, tree)):
                found[change.path] = bytes_of(laid)
        return found

    def _laid(self, path: str, tree: str) -> str | None:
        from detent.evidence.source.insource import lay_over  # few files of code hold tests

        return lay_over(path, self.text(path)(tree), self.text(path)(self.tree))

    def sort(self, path: str) -> Sort:
        base = self.collect.suite.base
        if (is_shared_config(path) or is_judging(path)) and self._names_other_versions(path):
            return "production"
        if base is None or not base.runner:
            return "config" if is_shared_config(path) or self._judges(path) else "unknown"
        runner = RUNNERS[base.runner]
        if is_beside(path) and self._is_of_an_example(path, base.argv):
            return "production"
        if path.rpartition("/")[2] == "conftest.py" and runner.is_config(path) and self._stays_plain(path):
            return "test"
        if runner.is_config(path):
            parts = {runner.runner_part(path, self.text(path)(tree)) for tree in (self.good, self.tree)}
            return "config" if len(parts) > 1 or path.endswith("conftest.py") or self._judges(path) else "production"
        if path in {word.rpartition("=")[2].removeprefix("./") for word in base.argv if word not in base.paths}:
            return "config"  # a file that the command itself loads
        if path == "test-list.md" or self._is_test(path):
            return "list" if path == "test-list.md" else "test"
        return "config" if self._judges(path) else "production"

    def _names_other_versions(self, path: str) -> bool:
        from detent.evidence.changes.ci_versions import only_versions_differ

        return only_versions_differ(path, self.text(path)(self.good), self.text(path)(self.tree))

    def _is_of_an_example(self, path: str, argv: tuple[str, ...]) -> bool:
        """Whether a file configures an example or a benchmark alone: no test was collected below its folder, and no command names that."""
        folder, _, name = path.rpartition("/")
        said = " ".join((*argv, *self.preflight))
        is_named = any(re.search(rf"\b{re.escape(part)}\b", said) for part in folder.split("/"))
        tested = any(file.startswith(f"{folder}/") for file in self._held)
        return name != "conftest.py" and not is_shared_config(path) and not is_named and not tested and path not in self._programs

    def _stays_plain(self, path: str) -> bool:
        """Whether of a conftest.py only what tests ask for was changed: it is shared by tests then, and does not decide how they are run."""
        from detent.evidence.changes.conftest_hooks import stays_plain  # it reads Python, and few changes touch such a file

        text = self.text(path)
        return bool(text(self.tree)) and stays_plain(text(self.good), text(self.tree))

    def _judges(self, path: str) -> bool:
        """Whether what was changed in a file judges the work besides its tests: tools by their configuration, and what preflight runs."""
        if is_judging(path):
            from detent.evidence.changes.judging_parts import judges  # few changes touch such a file

            return judges(path, self.text(path)(self.good), self.text(path)(self.tree), self.preflight)
        return path in self._programs

    @cached_property
    def _programs(self) -> frozenset[str]:
        """The files that preflight, or what the project keeps for judging, runs or is configured by, as the last good tree has it."""
        from detent.evidence.changes.judging_programs import commands_kept, programs

        paths = {*TreeFiles(self.git, self.good).paths(), *(path for _, path in self._compared[0])} if self.good else set()
        read = cache(lambda path: self.text(path)(self.good))
        return programs((*self.preflight, *commands_kept(read, paths)), read, paths) if paths else frozenset()

    def _is_test(self, path: str) -> bool:
        if self._files is None:
            base = self.collect.suite.base
            assert base is not None, "only a known runner is asked"
            self._files = looked_up(RUNNERS[base.runner], self.collect.suite.patterns, TreeFiles(self.git, self.good), self._held)
        return self._files.is_test(path)

    @property
    def _held(self) -> frozenset[str]:
        """The files from which tests were collected, as far as that is known by now."""
        known = (self.collect.known(tree) for tree in (self.good, self.tree))
        return frozenset(file for report in known if report for file in report.files.values())

    def _change(self, letter: str, path: str) -> Changed:
        """A changed path. A file of code of which only its own tests changed is a test."""
        how, sort = LETTERS.get(letter, "modified"), self.sort(path)
        if sort == "production" and how == "modified" and self._holds_tests(path):
            from detent.evidence.source.insource import only_tests_differ, split

            old, new = map(self.text(path), (self.good, self.tree))
            inside = split(path, old)[1] != split(path, new)[1]
            return Changed(path, how, "test" if inside and only_tests_differ(path, old, new) else sort, inside)
        return Changed(path, how, sort)

    def _holds_tests(self, path: str) -> bool:
        """Whether tests stand in a file of code: the report names it, or its language says so. Docstrings are no tests unless they are run."""
        known = self.collect.known(self.good)
        named = known is not None and path in known.files.values()
        if named or not path.endswith(".rs"):
            return named
        from detent.evidence.source.insource import holds_tests

        return holds_tests(path, self.text(path)(self.tree))


class ReferenceTrees(NamedTuple):
    """What the run remembers that evidence is compared with."""

    good: str  # the last good tree
    reds: tuple[str, ...]  # the trees of the RED steps
    base: str  # the commit the branch started from
    baseline: frozenset[str] = frozenset()
    owes_green: bool = False  # what failed before the work began is to pass
