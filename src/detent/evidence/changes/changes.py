"""The paths that a step changed, each sorted as test, production code or configuration.

Which files are tests is looked up, not guessed, in this order: `[test] files`, the project's runner configuration, the files the runner
collected tests from, names, and folders (data, snapshots and helpers in a test folder count as tests). A code file that also contains tests
(doctests, `#[cfg(test)]`, in-source tests) stays code; `insource` separates its two parts. Also owns the overlay of one tree's tests over
another, and the value that names the trees to compare with. Must not know gates.
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
from detent.evidence.source.file_patterns import SOURCES, ask_patterns, is_below_tests, is_outside
from detent.evidence.source.file_text import bytes_of, text_of
from detent.git.repo import Git

MOST_READ = 500
HOLDS = {  # by suffix: text that only test files contain. Files of other suffixes do not become tests because tests were collected from them
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
PRODUCT_ONLY = (".go", ".rs", ".c", ".cc", ".cpp", ".cxx", ".h", ".hpp", ".cs", ".fs", ".vb")  # reports name some without tests too


class TestFiles(NamedTuple):
    """Decides which files are tests, in one tree or in the trees that are compared."""

    collected: frozenset[str]  # files that tests were collected from and that are not code
    patterns: tuple[str, ...]  # the project's, then those of `[test] files`; the last match wins
    named: Callable[[str], bool]  # the runner's naming rule
    is_config: Callable[[str], bool] = lambda path: False

    def is_test(self, path: str) -> bool:
        """Whether a file contains tests or is only used by tests."""
        if self.is_config(path):
            return False
        decided = ask_patterns(self.patterns, path)
        if decided is not None:
            return decided
        return path in self.collected or self.named(path) or is_below_tests(path)


def patterns_of(runner: Runner, files: Files, configured: tuple[str, ...], base: Command | None = None) -> tuple[str, ...]:
    """The project's test patterns, followed by those of `[test] files`; the last match wins."""
    return (*runner.test_patterns(base, files), *configured)


def looked_up(runner: Runner, patterns: tuple[str, ...], files: Files, collected: Iterable[str]) -> TestFiles:
    """The test files, by known patterns and by the files that tests were collected from."""
    plain = TestFiles(frozenset(), patterns, runner.is_test, runner.is_config)
    left = [path for path in dict.fromkeys(collected) if not is_outside(path) and not plain.is_test(path)]
    return plain._replace(collected=frozenset(path for path in left[:MOST_READ] if _is_file_of_tests(path, files)))


def _is_file_of_tests(path: str, files: Files) -> bool:
    """Whether a file that tests were collected from contains only tests: decided by its text, since code may contain tests too."""
    suffix = PurePosixPath(path).suffix
    if suffix in PRODUCT_ONLY or suffix not in HOLDS:
        return False
    text = files.read(path)
    if text is None:  # the file is only in the other tree
        return path.partition("/")[0] not in SOURCES
    return HOLDS[suffix].search(text) is not None and not IN_SOURCE.search(text)


LARGEST_DOCUMENT = 1_000_000  # bytes


class TreeFiles:
    """The files of a git tree, read on demand."""

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
    """The bytes of a regular file, never through a symlink; one byte more than the limit if it is too large."""
    try:
        if file.is_symlink() or not file.is_file():
            return None
        with file.open("rb") as source:
            return source.read(LARGEST_DOCUMENT + 1)
    except OSError:
        return None


LONGEST_TARGET = 4096  # of a link
Sort = Literal["test", "production", "config", "list", "unknown"]
LETTERS: Mapping[str, Literal["added", "modified", "deleted"]] = {"A": "added", "D": "deleted"}


class Changes:
    """The changed paths between the last good tree and the judged one."""

    def __init__(self, git: Git, collect: Collects, good: str, tree: str, preflight: tuple[str, ...] = ()) -> None:
        self.git, self.collect, self.good, self.tree, self.preflight = git, collect, good, tree, preflight
        self._all: tuple[Changed, ...] | None = None
        self._files: TestFiles | None = None

    def all(self) -> tuple[Changed, ...]:
        if self._all is None:
            self._all = tuple(self._change(letter, path) for letter, path in self._compared[0])
        return self._all

    def patch(self) -> bytes:
        """The patch between the two trees, without context lines."""
        return self._compared[1]

    @cached_property
    def _compared(self) -> tuple[list[tuple[str, str]], bytes]:
        """The status letter of each changed path, and the patch."""
        return self.git.patch(self.good, self.tree)

    def text(self, path: str) -> Callable[[str], str]:
        """A function from a tree to the text of `path` in it."""
        return lambda tree: text_of(self.git.read(tree, path) or b"")

    @cached_property
    def moves(self) -> dict[str, str]:
        """The files that were only renamed: old path to new path."""
        deleted, added = ([c.path for c in self.all() if c.how == how] for how in ("deleted", "added"))
        if not deleted or not added:
            return {}
        from detent.evidence.source.renamed_files import moves  # few changes have any

        return moves({path: self.text(path)(self.good) for path in deleted}, {path: self.text(path)(self.tree) for path in added})

    def overlay(self, tree: str) -> dict[str, bytes]:
        """The tests that the step changed, to be laid over another tree: whole test files, and the test part of code files."""
        found = {}
        for change in self.all():
            if change.sort == "test" and change.how != "deleted" and not change.inside:
                data = self.git.read(self.tree, change.path) or b""
                if not self._is_link(change.path, data):  # the files that it leads to are laid themselves
                    found[change.path] = data
            elif change.inside and (laid := self._laid(change.path, tree)):
                found[change.path] = bytes_of(laid)
        return found

    def _is_link(self, path: str, data: bytes) -> bool:
        return 0 < len(data) < LONGEST_TARGET and b"\n" not in data and self.git.is_link(self.tree, path)

    def _laid(self, path: str, tree: str) -> str | None:
        from detent.evidence.source.insource import lay_over  # few code files contain tests

        return lay_over(path, self.text(path)(tree), self.text(path)(self.tree))

    def sort(self, path: str) -> Sort:
        base = self.collect.suite.base
        if (is_shared_config(path) or is_judging(path)) and self._runs_no_less(path):
            return "production"
        if base is None or not base.runner:
            return "config" if is_shared_config(path) or self._judges(path) else "unknown"
        runner = RUNNERS[base.runner]
        if is_beside(path) and self._is_of_an_example(path, base.argv):
            return "production"
        if path.rpartition("/")[2] == "conftest.py" and runner.is_config(path) and self._stays_plain(path):
            return "test"
        if runner.is_config(path):
            parts = [runner.runner_part(path, self.text(path)(tree)) for tree in (self.good, self.tree)]
            is_other = parts[0] != parts[1] and not self._asks_only_more(path, parts)
            return "config" if is_other or path.endswith("conftest.py") or self._judges(path) else "production"
        if path in {word.rpartition("=")[2].removeprefix("./") for word in base.argv if word not in base.paths}:
            return "config"  # a file named on the command line
        if path == "test-list.md" or self._is_test(path):
            return "list" if path == "test-list.md" else "test"
        return "config" if self._judges(path) else "production"

    def _runs_no_less(self, path: str) -> bool:
        from detent.evidence.changes.ci_versions import runs_no_less

        return runs_no_less(path, self.text(path)(self.good), self.text(path)(self.tree))

    def _asks_only_more(self, path: str, parts: list[str]) -> bool:
        from detent.evidence.changes.judging_parts import asks_only_more  # few changes touch such a file

        return asks_only_more(path, *parts)

    def _is_of_an_example(self, path: str, argv: tuple[str, ...]) -> bool:
        """Whether a file only configures an example or benchmark: no tests were collected below its folder, and no command names the folder."""
        folder, _, name = path.rpartition("/")
        commands = " ".join((*argv, *self.preflight))
        is_named = any(re.search(rf"\b{re.escape(part)}\b", commands) for part in folder.split("/"))
        tested = any(file.startswith(f"{folder}/") for file in self._held)
        return (
            name not in ("conftest.py", "CODEOWNERS")
            and not is_shared_config(path)
            and not is_named
            and not tested
            and path not in self._programs
        )

    def _stays_plain(self, path: str) -> bool:
        """Whether a change to a conftest.py touches only what tests request by name; it is then a shared test file, not configuration."""
        from detent.evidence.changes.conftest_hooks import stays_plain  # few changes touch such a file

        text = self.text(path)
        return bool(text(self.tree)) and stays_plain(text(self.good), text(self.tree))

    def _judges(self, path: str) -> bool:
        """Whether the changed part of a file judges the work beside the tests: tool configuration, or a program that preflight runs."""
        if is_judging(path):
            from detent.evidence.changes.judging_parts import judges  # few changes touch such a file

            return judges(path, self.text(path)(self.good), self.text(path)(self.tree), self.preflight)
        return path in self._programs

    @cached_property
    def _programs(self) -> frozenset[str]:
        """The files that preflight or the project's own check commands run or read as configuration, in the last good tree."""
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
        """The files that tests were collected from, according to the reports known so far."""
        known = (self.collect.known(tree) for tree in (self.good, self.tree))
        return frozenset(file for report in known if report for file in report.files.values())

    def _change(self, letter: str, path: str) -> Changed:
        """Sort a changed path. A code file of which only the in-source tests changed counts as a test."""
        how, sort = LETTERS.get(letter, "modified"), self.sort(path)
        if sort == "production" and how == "modified" and self._holds_tests(path):
            from detent.evidence.source.insource import only_tests_differ, split_tests

            old, new = map(self.text(path), (self.good, self.tree))
            inside = split_tests(path, old)[1] != split_tests(path, new)[1]
            return Changed(path, how, "test" if inside and only_tests_differ(path, old, new) else sort, inside)
        return Changed(path, how, sort)

    def _holds_tests(self, path: str) -> bool:
        """Whether a code file contains tests: the report names it, or it is Rust with test modules. Doctests count only if they are run."""
        known = self.collect.known(self.good)
        named = known is not None and path in known.files.values()
        if named or not path.endswith(".rs"):
            return named
        from detent.evidence.source.insource import holds_tests

        return holds_tests(path, self.text(path)(self.tree))


class ReferenceTrees(NamedTuple):
    """The trees and known failures of a run that evidence is compared with."""

    good: str  # the last good tree
    reds: tuple[str, ...]  # the trees of the RED steps
    base: str  # the commit the branch started from
    baseline: frozenset[str] = frozenset()
    owes_green: bool = False  # tests that failed before the work began must pass
