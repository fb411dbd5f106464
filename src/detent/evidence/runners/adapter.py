"""The interface of a test runner: what it may read, and the values it returns. Builds calls and reads reports; starts no process.

A command line is split into words without a shell. Anything that needs a shell is a fault.
"""

import os
import re
import shlex
import shutil
from collections.abc import Callable, Iterator
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import Literal, NamedTuple, Protocol

from detent.evidence.report import TestReport
from detent.kernel.model import Value

REPORTERS = Path(__file__).with_name("reporters")  # these run inside the runners and write reports
LARGEST_READ = 1024 * 1024
MOST_PATHS = 20_000
SHARED_CONFIG = frozenset(
    {"detent.toml", "tdd.properties", ".gitlab-ci.yml", ".travis.yml", "azure-pipelines.yml", "bitbucket-pipelines.yml", "Jenkinsfile", ".drone.yml",
     ".cirrus.yml", "appveyor.yml", ".appveyor.yml", "codecov.yml", ".codecov.yml", ".coveragerc", ".nycrc", ".nycrc.json", ".c8rc.json"}
)  # fmt: skip
SHARED_CONFIG_FOLDERS = (
    ".github/workflows/",
    ".github/actions/",
    ".circleci/",
    ".buildkite/",
    ".woodpecker/",
    ".gitea/workflows/",
    ".forgejo/workflows/",
)
NOT_THE_PROJECT = frozenset({"node_modules", "venv", "env", "site-packages", "build", "dist", "target", "vendor"})


class Files(Protocol):
    """The project's files as an adapter sees them. Paths are relative to the project's root, with `/`."""

    def exists(self, path: str) -> bool: ...
    def read(self, path: str) -> str | None: ...
    def paths(self) -> Iterator[str]: ...
    def which(self, name: str) -> str | None: ...


class Command(Value, frozen=True):
    """How the project's tests are run."""

    argv: tuple[str, ...]  # run without a shell in the project's root; a first word such as `.venv/bin/python` is relative to it
    runner: str = ""  # the adapter that understands it; "": only the exit code counts
    source: Literal["configured", "environment", "uv", "tox", "path", "npm", "maven", "gradle", "dotnet"] = "configured"
    paths: tuple[str, ...] = ()  # words of argv that select tests; an agent's selectors replace them
    report: str = ""  # path or glob of the report that the command writes, by `[test] report`

    @property
    def text(self) -> str:
        """The command as a person would type it; a shell command without its `sh -c`."""
        return self.argv[2] if self.argv[:2] == ("sh", "-c") else shlex.join(self.argv)


class CanaryFile(NamedTuple):
    """One file with a test that must pass and one that must fail. Its words are random in each run, so that code cannot recognise it."""

    path: str  # in the folder where the tests run; the file exists only during the run
    text: str
    word: str  # part of the file's name
    passes: str  # part of the id of the test that must pass, and of no other
    fails: str  # part of the id of the test that must fail, and of no other
    says: str  # the message of the failing test; the report must have it


class Canary(NamedTuple):
    """The tests of our own that are added to a run to check its runner, and the call that includes them."""

    base: Command
    selectors: tuple[str, ...]  # replace the selectors of the run
    canary_files: tuple[CanaryFile, ...]
    tidy: Callable[[str, "Canary"], str]  # removes the canary from the runner's output
    failing: tuple[int, ...] = (1,)  # exit codes of a run in which only tests failed
    counts: bool = False  # the exit code is the number of failures


class InnerProject(NamedTuple):
    """A project in a subfolder, with its test files."""

    folder: str
    tests: tuple[str, ...]

    def touched_by(self, place: str) -> bool:
        """Whether a path or pattern of a command or configuration covers any of the folder's tests."""
        plain = place.removeprefix("./").rstrip("/")
        if plain in ("", "."):
            return True
        return any(test == plain or test.startswith(f"{plain}/") or fnmatch(test, f"{plain}/*") for test in self.tests)


class Parsed(NamedTuple):
    """The meaning of a test command, compared with the project's own."""

    selectors: tuple[str, ...] = ()  # what an agent's command selects, without its other options; empty: the full suite
    fault: str = ""  # why it is refused, in one sentence; empty if it is taken
    kept: tuple[str, ...] = ()  # options of a configured command to keep in the machine's own call


class Call(Protocol):
    """The machine's own call: writes its report to report_path and nothing into the project. `files`: where it runs."""

    def __call__(self, base: Command, selectors: tuple[str, ...], report_path: str, files: Files | None = None) -> list[str]: ...


def _no_canary(base: Command, selectors: tuple[str, ...], files: Files, near: tuple[str, ...]) -> Canary | str:
    return "Detent cannot add tests of its own for this runner"


class Runner(NamedTuple):
    """One test runner that Detent understands: patterns and pure functions.

    To write a canary: choose folders that tests are collected from (first those of `near`, the test files that the step changed), make a `CanaryFile`
    for each with the words of canary_files.py, in the form of the project's own tests, and make sure that the call collects them: without
    paths by the file's name alone, with paths or a filter through `base` and `selectors`. The runner's exit code is then that of a failing
    test. If a failing test would hide something (a coverage limit that only the exit code shows) or end the run early, return a sentence
    that says so instead.
    """

    name: str
    # For finding the project's command and checking an agent's.
    adopt: Callable[[tuple[str, ...]], Command | None]  # the configured test command, if it calls this runner
    detect: Callable[[Files], Command | None]  # the project's call of this runner, if there is a sign of it
    parse: Callable[[str, Command], Parsed]  # reads an agent's test command
    # For running tests.
    argv: Call
    read: Callable[[bytes | None, int | None, str], TestReport]  # report (None: not written), exit code, output. Raises CannotTell
    # For sorting files.
    tests: Callable[[str], object]  # whether a path is a test, or only serves tests
    config: Callable[[str], object]  # whether a file decides how tests run
    runner_part: Callable[[str, str], str] = lambda path, text: text  # the part of such a file that concerns the test run, for comparison
    test_patterns: Callable[[Command | None, Files], tuple[str, ...]] = (
        lambda base, files: ()
    )  # files that the project itself configures as tests
    reaches: Callable[[Command, Files, InnerProject], bool] = lambda outer, files, below: (
        False
    )  # whether its tests include those of a folder below
    tests_like: tuple[str, ...] = ()  # globs that match every test, to rule out other files quickly
    # Other.
    canary: Callable[[Command, tuple[str, ...], Files, tuple[str, ...]], Canary | str] = _no_canary  # or why there is none
    scratch: tuple[str, ...] = ()  # folders beside installed packages that it writes to while starting

    def is_config(self, path: str) -> bool:
        """Whether a file decides how tests run, with this runner or any other."""
        return bool(self.config(path)) or is_shared_config(path)

    def is_test(self, path: str) -> bool:
        """Whether a file is a test or only serves tests."""
        return not self.is_config(path) and bool(self.tests(path))


class Folder:
    """The files of a folder on disk, as `Files`."""

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


def is_shared_config(path: str) -> bool:
    """Whether a file decides how tests run or what counts as a pass with any runner: our settings, those of CI services, coverage limits."""
    return PurePosixPath(path).name in SHARED_CONFIG or path.startswith(SHARED_CONFIG_FOLDERS)


Words = tuple[str, ...]
LONGEST = 10_000
MEANING = {
    ";": "`;` chains commands",
    "&": "`&` chains commands",
    "|": "`|` chains commands",
    "<": "`<` redirects",
    ">": "`>` redirects",
    "`": "a backtick runs another command",
    "$": "`$` is expanded by a shell",
    "(": "`(` starts a subshell (quote a test id that has it)",
    ")": "`)` ends a subshell (quote a test id that has it)",
    "*": "`*` is expanded by a shell (name the files or folders)",
    "?": "`?` is expanded by a shell (name the files or folders)",
}
IN_DOUBLE_QUOTES = "$`"
ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")


def split_words(command: str, globs: bool = False) -> tuple[tuple[str, ...], str]:
    """The words of a command line, or what is wrong with it. `globs`: allow patterns of file names as words."""
    if len(command) > LONGEST:
        return (), f"the command has {len(command)} characters"
    if any((ord(c) < 32 and c != "\t") or ord(c) == 127 for c in command.strip()):
        return (), "a line break or control character ends the command"
    if fault := _shell_fault(command, "*?" if globs else ""):
        return (), fault
    try:
        words = tuple(shlex.split(command))
    except ValueError as e:
        return (), f"the command cannot be split into words ({str(e)[:1].lower()}{str(e)[1:]})"
    if not words:
        return (), "the command is empty"
    if ASSIGNMENT.match(words[0]):
        return (), f"`{words[0]}` sets an environment variable"
    return words, ""


def parsed(command: str, after: Callable[[Words], Words | str | None], options: Callable[[Words], Parsed], allowed: str) -> Parsed:
    """The selectors of an agent's command, or the fault that refuses it. The command itself is never run.

    `after`: the words after the call of the runner, None if it is another program, or a fault; `options`: what those words select.
    """
    words, fault = split_words(command)
    rest = fault or after(words)
    if rest is None:
        rest = f"`{words[0]}` is not a call of the project's test runner"
    found = Parsed(fault=rest) if isinstance(rest, str) else options(rest)
    return (
        Parsed(found.selectors)
        if not found.fault
        else Parsed(fault=f"{found.fault}; use one call of the project's own test runner: {allowed}")
    )


def after_first(words: Words, *calls: Words) -> Words | None:
    """The words after the first of these calls that the command starts with; None if it starts with none."""
    return next((words[len(call) :] for call in calls if call and words[: len(call)] == call), None)


def _shell_fault(command: str, plain: str) -> str:
    """The first character that needs a shell, described; empty if there is none."""
    quote, escaped = "", False
    for c in command:
        if escaped:
            escaped = False
        elif c == "\\" and quote != "'":
            escaped = True
        elif quote:
            if c == quote:
                quote = ""
            elif quote == '"' and c in IN_DOUBLE_QUOTES:
                return MEANING[c]
        elif c in "'\"":
            quote = c
        elif c in MEANING and c not in plain:
            return MEANING[c]
    return ""


def path_fault(selector: str) -> str:
    """What is wrong with a path or node id; it must be a plain path inside the project."""
    path = selector.partition("::")[0]
    if not path:
        return f"`{selector}` does not name a file"
    if path.startswith(("/", "~", "@")) or re.match(r"[A-Za-z]:[\\/]", path):
        return f"`{path}` is not a path inside the project"
    if ".." in path.split("/"):
        return f"`{path}` leaves the project"
    return ""


def is_below(path: str, scope: str) -> bool:
    """Whether a file is the given path or is below it."""
    plain = scope.removeprefix("./").rstrip("/")
    return plain in ("", ".", path) or path.startswith(f"{plain}/")
