"""A test runner as Detent knows it, what it may look at, and the values it speaks in. Builds and reads; starts no process.

A command line is split into words as a shell would, without ever being a shell. What only a shell could do is a fault.
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

REPORTERS = Path(__file__).with_name("reporters")  # what runs inside the runners themselves and writes reports
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
    report: str = ""  # where it writes its own report, as a path or a glob, if `[test] report` says

    @property
    def text(self) -> str:
        """The command as a person would type it; what a shell runs stands alone."""
        return self.argv[2] if self.argv[:2] == ("sh", "-c") else shlex.join(self.argv)


class Nest(NamedTuple):
    """One file with a test that must pass and one that must fail. Every word is random and different in each run, so that code cannot recognise it."""

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


class InnerProject(NamedTuple):
    """A folder, as seen from the one above: its path, and its test files."""

    folder: str
    tests: tuple[str, ...]

    def touched_by(self, place: str) -> bool:
        """Whether a place that a command or a configuration names is above the folder's tests, or among them."""
        plain = place.removeprefix("./").rstrip("/")
        if plain in ("", "."):
            return True
        return any(test == plain or test.startswith(f"{plain}/") or fnmatch(test, f"{plain}/*") for test in self.tests)


class Parsed(NamedTuple):
    """What a command says, measured by the project's own."""

    selectors: tuple[str, ...] = ()  # what an agent's command selects; everything else it says is dropped. Empty means the full suite
    fault: str = ""  # why it is not taken, in one sentence that names what is
    kept: tuple[str, ...] = ()  # further words of a configured command that the machine's own call has too


class Call(Protocol):
    """The machine's own call: a report for machines at report_path, nothing written into the project. `files`: where it runs."""

    def __call__(self, base: Command, selectors: tuple[str, ...], report_path: str, files: Files | None = None) -> list[str]: ...


def _no_canary(base: Command, selectors: tuple[str, ...], files: Files, near: tuple[str, ...]) -> Canary | str:
    return "Detent cannot add tests of its own for this runner"


class Runner(NamedTuple):
    """One test runner that Detent understands: a row of patterns and functions, all of them pure.

    A canary: choose folders that tests are collected from (those of `near` first: test files that the step changed), make a `Nest` for each
    with the words of canary_files.py, in the form of the project's own tests, and see to it that the call collects them: a run without
    paths by the file's name alone, one with paths or with a filter by name through `base` and `selectors`. The runner's exit code will
    be that of a failing test. Where a failing test would hide something (a coverage limit told by the exit code only) or end the run
    early, answer with a sentence that says so instead.
    """

    name: str
    # Asked where the project's command is found, and where an agent's is checked.
    adopt: Callable[[tuple[str, ...]], Command | None]  # the configured test command, if it calls this runner
    detect: Callable[[Files], Command | None]  # how the project calls it, if there is any sign that it does
    parse: Callable[[str, Command], Parsed]  # an agent's test command
    # Asked where tests are run.
    argv: Call
    read: Callable[[bytes | None, int | None, str], TestReport]  # report (None: none was written), exit code, output. Raises CannotTell
    # Asked where files are sorted.
    tests: Callable[[str], object]  # whether a path is a test, or serves tests only
    config: Callable[[str], object]  # whether a file decides how tests are run
    runner_part: Callable[[str, str], str] = lambda path, text: text  # what of such a file concerns the test run, to be compared
    test_patterns: Callable[[Command | None, Files], tuple[str, ...]] = (
        lambda base, files: ()
    )  # which files the project itself says are tests
    reaches: Callable[[Command, Files, InnerProject], bool] = lambda outer, files, below: (
        False
    )  # whether it runs the tests of a folder below it
    tests_like: tuple[str, ...] = ()  # globs that every test fits: for a quick no
    # And besides.
    canary: Callable[[Command, tuple[str, ...], Files, tuple[str, ...]], Canary | str] = _no_canary  # or why there is none
    scratch: tuple[str, ...] = ()  # folders beside installed packages that it writes to while it starts

    def is_config(self, path: str) -> bool:
        """Whether a file decides how tests are run, for this runner or for any."""
        return bool(self.config(path)) or is_shared_config(path)

    def is_test(self, path: str) -> bool:
        """Whether a file is a test or serves tests only."""
        return not self.is_config(path) and bool(self.tests(path))


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


def is_shared_config(path: str) -> bool:
    """Whether a file decides how tests are run, or what is made of them, whatever the runner: our settings, those of CI services, limits of coverage."""
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


def split(command: str, globs: bool = False) -> tuple[tuple[str, ...], str]:
    """The words of a command line, or what is wrong with it. `globs`: patterns of file names are words like others."""
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
    """The selectors of an agent's command, or the one sentence that refuses it. The machine never runs it: it makes its own call.

    `after`: the words after the call of the runner, None if it is another program, a text if that is wrong with it; `options`: what they select.
    """
    words, fault = split(command)
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
    """The words after the first of these calls that they begin with."""
    return next((words[len(call) :] for call in calls if call and words[: len(call)] == call), None)


def _shell_fault(command: str, plain: str) -> str:
    """The first character that means something to a shell where it stands."""
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
    """What is wrong with a path or node id: it must stay below the project and be nothing but a path."""
    path = selector.partition("::")[0]
    if not path:
        return f"`{selector}` does not name a file"
    if path.startswith(("/", "~", "@")) or re.match(r"[A-Za-z]:[\\/]", path):
        return f"`{path}` is not a path inside the project"
    if ".." in path.split("/"):
        return f"`{path}` leaves the project"
    return ""


def below(path: str, scope: str) -> bool:
    """Whether a file is a path that a command names, or lies below it."""
    plain = scope.removeprefix("./").rstrip("/")
    return plain in ("", ".", path) or path.startswith(f"{plain}/")
