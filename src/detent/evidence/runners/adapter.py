"""What a test runner's adapter offers, and what it may look at. Adapters build and read; they start no process."""

import os
import shlex
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal, NamedTuple, Protocol, runtime_checkable

from detent.evidence.report import TestReport
from detent.kernel.model import Value

REPORTERS = Path(__file__).with_name("reporters")  # what runs inside the runners themselves and writes reports
LARGEST_READ = 1024 * 1024
MOST_PATHS = 20_000
NOT_THE_PROJECT = frozenset({"node_modules", "venv", "env", "site-packages", "build", "dist", "target", "vendor"})


class Files(Protocol):
    """The project as an adapter sees it. Paths are relative to the project's root, with `/`."""

    def exists(self, path: str) -> bool: ...
    def read(self, path: str) -> str | None: ...
    def paths(self) -> Iterator[str]: ...
    def which(self, name: str) -> str | None: ...


class Command(Value, frozen=True):
    """How the project's tests are run."""

    argv: tuple[str, ...]  # run without a shell, in the project's root; a first word such as `.venv/bin/python` is relative to it
    runner: str = ""  # the adapter that understands it; "" means: only its exit code says something
    source: Literal["configured", "environment", "uv", "tox", "path", "npm", "maven", "gradle", "dotnet"] = "configured"
    paths: tuple[str, ...] = ()  # the words of argv that select tests; they give way to the agent's selectors

    @property
    def text(self) -> str:
        """The command as a person would type it; what a shell runs stands alone."""
        return self.argv[2] if not self.runner and self.argv[:2] == ("sh", "-c") else shlex.join(self.argv)


class Runner(Protocol):
    """An adapter to one test runner."""

    name: str

    def adopt(self, words: tuple[str, ...]) -> Command | None:
        """The configured test command, if it calls this runner."""

    def detect(self, files: Files) -> Command | None:
        """How the project calls this runner, if there is any sign that it does."""

    def refuse(self, command: str, base: Command) -> str | None:
        """Why an agent's test command is not taken, in one sentence that names what is; None if it is."""

    def selectors(self, command: str, base: Command) -> tuple[str, ...]:
        """What an agent's test command selects; everything else it says is dropped. Empty means the full suite."""

    def full(self, base: Command) -> list[str]:
        """The full test command, as a person would call it."""

    def argv(self, base: Command, selectors: tuple[str, ...], report_path: str, files: Files | None = None) -> list[str]:
        """The machine's own call: a report for machines at report_path, nothing written into the project. `files`: where it runs."""

    def read(self, report: bytes | None, exit_code: int | None, output: str) -> TestReport:
        """The report of such a call; None stands for a report that was not written. Raises CannotTell."""

    def is_test(self, path: str) -> bool:
        """Whether a file is a test or serves tests only."""

    def is_config(self, path: str) -> bool:
        """Whether a file decides how tests are run."""

    def runner_part(self, path: str, text: str) -> str:
        """What of such a file concerns the test run, as text that can be compared."""


class Nest(NamedTuple):
    """One file with a test that must pass and one that must fail. All words are made anew for each run, and nobody can guess them."""

    path: str  # in the folder where the tests run; it is written just before the run and gone after it
    text: str
    word: str  # stands in the file's own name
    passes: str  # stands in the id of the test that must pass, and in no other
    fails: str  # stands in the id of the test that must fail, and in no other
    says: str  # what the one that must fail says; the report's message must have it


class Canary(NamedTuple):
    """What is added to a run to see whether its runner tells the truth, and the call that takes it in."""

    base: Command
    selectors: tuple[str, ...]  # these two instead of those of the run
    nests: tuple[Nest, ...]
    tidy: Callable[[str, "Canary"], str]  # the runner's output without it
    failing: tuple[int, ...] = (1,)  # exit codes of a run in which nothing but a test failed
    counts: bool = False  # the exit code is the number of failures


@runtime_checkable
class Watched(Protocol):
    """The one member that an adapter may have besides: a runner without it is "unsupported", and everything else works.

    How: choose folders that tests are collected from (those of `near` first: test files that the step changed), make a `Nest` for each
    with the words of nest.py, in the form of the project's own tests, and see to it that the call collects them: a run without
    paths by the file's name alone, one with paths or with a filter by name through `base` and `selectors`. The runner's exit code will
    be that of a failing test. Where a failing test would hide something (a coverage limit told by the exit code only) or end the run
    early, answer with a sentence that says so instead.
    """

    def canary(self, base: Command, selectors: tuple[str, ...], files: Files, near: tuple[str, ...]) -> Canary | str:
        """The canary of such a run, or why there is none."""


@runtime_checkable
class Patterned(Protocol):
    """Another member that an adapter may have: which files the project itself says are tests. A runner without it has names only."""

    def test_patterns(self, base: Command | None, files: Files) -> tuple[str, ...]:
        """The project's own patterns, as its configuration or its command says them without being run; see evidence/patterns.py."""


class Folder:
    """The files of a folder on disk."""

    def __init__(self, root: Path, search: str | None = None) -> None:
        self.root = root
        self._search = search

    def exists(self, path: str) -> bool:
        return (self.root / path).exists()

    def read(self, path: str) -> str | None:
        try:
            with open(self.root / path, "rb") as file:
                return file.read(LARGEST_READ).decode("utf-8", "replace")
        except OSError:
            return None

    def paths(self) -> Iterator[str]:
        """Every file, without hidden folders and dependencies; of a huge project only the first ones."""
        left = MOST_PATHS
        for folder, folders, files in os.walk(self.root):
            folders[:] = sorted(f for f in folders if not f.startswith(".") and f not in NOT_THE_PROJECT)
            for name in sorted(files)[:left]:
                yield (Path(folder) / name).relative_to(self.root).as_posix()
            left -= len(files)
            if left <= 0:
                return

    def which(self, name: str) -> str | None:
        return shutil.which(name, path=self._search)
