"""One run of the project's tests by the machine: in the workspace or in a clean checkout, with a fresh report outside the tree.

Owns how a run is made, its progress, and what of its result can be believed. Knows nothing of gates. Trouble that is not the tests' own is
CannotTell.
"""

import os
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from shutil import rmtree
from typing import BinaryIO, NamedTuple, Protocol

import msgspec

from detent.errors import CannotTell, Disturbed
from detent.evidence.report import TestReport
from detent.evidence.runners import RUNNERS, Command, Folder, Runner
from detent.evidence.runners.adapter import Canary
from detent.evidence.runners.build_caches import LIBRARIES, builds, lent, settings
from detent.evidence.runners.report_reader import LARGEST
from detent.evidence.running.canary import PASSED_ANYWAY, check_canary, planted
from detent.evidence.running.installed import NEVER, PREFIX
from detent.evidence.source.test_ids import without_root
from detent.git.snapshot import FOLDERS
from detent.sandbox.process import Ran, run
from detent.storage.state import scratch_folder

CACHE = "__pycache__"
STARTING = ".timestamp-"  # in the names of vite's temporary start-up files
BYTECODE = PREFIX  # tests write to this folder; a person's own value counts only if test.env names it
PASSED_ON = ("HOME", "USER", "LOGNAME", "LANG", "TZ", "TMPDIR", "SHELL", "VIRTUAL_ENV", "UV_CACHE_DIR", "XDG_CACHE_HOME", "PYENV_ROOT")
TOOLCHAINS = (
    "GOROOT",
    "GOPATH",
    "GOMODCACHE",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "GEM_HOME",
    "GEM_PATH",
    "JAVA_HOME",
)  # where these are installed


class StartProgram(Protocol):
    """Starts a program of the project, sandboxed or not. It may write its folder and the writable ones, and read the readable ones."""

    def __call__(
        self,
        argv: list[str],
        cwd: Path,
        env: Mapping[str, str],
        timeout: float,
        wanted: Callable[[], bool],
        writable: tuple[Path, ...],
        readable: tuple[Path, ...] = (),
        watch: Callable[[bytes], None] | None = None,
    ) -> Ran: ...


def start_unsandboxed(
    argv: list[str],
    cwd: Path,
    env: Mapping[str, str],
    timeout: float,
    wanted: Callable[[], bool],
    writable: tuple[Path, ...],
    readable: tuple[Path, ...] = (),
    watch: Callable[[bytes], None] | None = None,
) -> Ran:
    """Without a sandbox."""
    return run(argv, cwd, env, timeout, wanted, watch=watch)


class NamedSandbox(Protocol):
    """The sandbox of programs; asking for its name may have to try it first."""

    @property
    def name(self) -> str: ...


class SandboxName(NamedTuple):
    """A sandbox known by name; "none" by default."""

    name: str = "none"


class Suite(NamedTuple):
    """How this project's tests are run: fixed for a run, from the configuration of its base commit."""

    base: Command | None
    timeout: float
    path: str  # PATH when the run started
    also: tuple[str, ...] = ()  # names of more variables that tests may see
    start: StartProgram = start_unsandboxed
    sandbox: NamedSandbox = SandboxName()  # what `start` keeps programs in
    patterns: tuple[str, ...] = ()  # patterns of test files, as the project configures them
    clean: bool = False  # every run that counts is in a clean checkout of the judged tree
    fills: bool = False  # this runs the base of the work, so its builds may be kept for later runs
    seen: Callable[[bytes], None] | None = None  # receives the output of tests as it comes
    whole: Callable[[Path], Path] = lambda cwd: cwd  # folder of the tests -> the whole checkout

    @property
    def sandbox_text(self) -> str:
        """The sandbox of tests, and why it is no better one, for people."""
        because = getattr(self.sandbox, "because", "")
        return self.sandbox.name + (f" ({because})" if because else "")


def environment(suite: Suite, outer: Mapping[str, str], pycache: Path, kept: Path | None = None) -> dict[str, str]:
    """The environment of the project's programs: an allowlist of variables and our own."""
    names = (*PASSED_ON, *TOOLCHAINS, *suite.also, *(n for n in outer if n.startswith("LC_")))
    base = {n: outer[n] for n in names if n in outer}
    ours = settings(suite.base.runner, kept or pycache.parent / "caches") if suite.base else {}
    ours = {name: value for name, value in ours.items() if name not in base}  # a person's own value counts only if test.env names it
    return {BYTECODE: str(pycache), **base, **ours, "PATH": suite.path, "TERM": "dumb", "CI": outer.get("CI", "")}


def forget_bytecode(env: Mapping[str, str], folder: Path) -> None:
    """Remove the bytecode of a folder's own modules: Python would take it as fresh after two edits of equal size within a second."""
    kept = env.get(BYTECODE)
    for here, inner, files in os.walk(Path(kept) / str(folder).lstrip("/") if kept else folder):
        inner[:] = [name for name in inner if name not in FOLDERS or name == CACHE]
        for name in files if kept or here.endswith(f"/{CACHE}") else ():
            if name.endswith(".pyc"):
                (Path(here) / name).unlink(missing_ok=True)


def absolute(argv: list[str], root: Path) -> list[str]:
    """The call with the path of its program made absolute below the project's own folder, for runs in a clean checkout."""
    at = program_at(argv)
    return [str(root / word) if n == at and "/" in word and not word.startswith("/") else word for n, word in enumerate(argv)]


def program_at(argv: Sequence[str]) -> int:
    """The index of the program in a call, after `env` and its settings."""
    return next((n for n, word in enumerate(argv) if n and "=" not in word), 0) if argv[0] == "env" else 0


def run_suite(
    suite: Suite,
    selectors: tuple[str, ...],
    root: Path,
    cwd: Path,
    env: Mapping[str, str],
    wanted: Callable[[], bool],
    canary: Canary | str = "none was requested",
) -> TestReport:
    """Run the tests with a known runner; `root` is the project's own checkout, `cwd` where they run.

    The report is read through the file opened before the run, so a file that a test puts in its place is ignored.
    """
    assert suite.base is not None, "only a known runner writes reports"
    runner = RUNNERS[suite.base.runner]
    base, chosen = (suite.base, selectors) if isinstance(canary, str) else (canary.base, canary.selectors)
    with scratch_folder() as folder:
        file = folder / "report"
        with file.open("x+b") as written:
            with planted(cwd, canary):
                argv = absolute(runner.argv(base, chosen, str(file), Folder(cwd)), root)
                ran = _run(suite, argv, cwd, env, wanted, folder, *_scratch(runner.scratch, root))
            ran = ran if isinstance(canary, str) else ran._replace(output=canary.tidy(ran.output, canary))
            if ran.timed_out:
                return _cut(suite, ran, too_long(suite))
            report = _read(runner, _still_there(file, written), ran, canary)
    whole = msgspec.structs.replace(report, output=ran.output, command=suite.base.text, runner=runner.name, wall=round(ran.seconds, 3))
    return placed(whole, cwd)


def placed(report: TestReport, cwd: Path) -> TestReport:
    """The report with ids and places that do not depend on the checkout's path."""
    roots = tuple(dict.fromkeys((str(cwd), os.path.realpath(cwd))))
    places = {test: without_root(place, roots) for test, place in report.places.items()}
    report = msgspec.structs.replace(report, places=places)
    new = {test: without_root(test, roots) for test in report.outcomes if any(root in test for root in roots)}
    if not new or len({*new.values(), *(report.outcomes.keys() - new)}) < len(report.outcomes):
        return report  # nothing to change, or two ids would become one
    maps = ("outcomes", "files", "messages", "kinds", "places")
    moved = {name: {new.get(test, test): value for test, value in getattr(report, name).items()} for name in maps}
    return msgspec.structs.replace(report, **moved, missing_names=tuple(new.get(test, test) for test in report.missing_names))


def _read(runner: Runner, data: bytes | None, ran: Ran, canary: Canary | str) -> TestReport:
    """Read the report, and judge and remove the canary."""
    if isinstance(canary, str):
        found = runner.read(data, ran.exit_code, ran.output)
        return msgspec.structs.replace(found, exit_code=ran.exit_code, canary_said=canary)
    try:
        found = runner.read(data, ran.exit_code, ran.output)
    except CannotTell:
        if ran.exit_code != 0 or data is None:
            raise
        return TestReport(exit_code=0, canary="broken", canary_said=PASSED_ANYWAY)
    return check_canary(msgspec.structs.replace(found, exit_code=ran.exit_code), canary)


def _scratch(names: tuple[str, ...], root: Path) -> list[Path]:
    """Folders beside installed packages that a runner writes while it starts; it may write nothing else there.

    Leftovers of earlier runs are removed, since packages are looked up there first; files of a run that is just starting are kept.
    """
    found = [(root / name).resolve() for name in names if (root / name.partition("/")[0]).is_dir()]
    for folder in found:
        above = next(each for each in folder.parents if each.is_dir())
        if os.access(above, os.W_OK):
            folder.mkdir(parents=True, exist_ok=True)
            for each in folder.iterdir():
                if each.is_symlink() or (each.is_file() and STARTING not in each.name):
                    each.unlink(missing_ok=True)
                elif each.is_dir():
                    rmtree(each, ignore_errors=True)
    return [folder for folder in found if folder.is_dir()]


def _still_there(file: Path, written: BinaryIO) -> bytes | None:
    """The content of the report file that we created; None if it was removed or replaced."""
    try:
        same = os.path.samestat(os.lstat(file), os.fstat(written.fileno()))
    except FileNotFoundError:
        return None
    return (written.read(LARGEST + 1) or None) if same else None  # the reader reports that it is too large


def run_line(command: str, suite: Suite, cwd: Path, env: Mapping[str, str], wanted: Callable[[], bool]) -> Ran:
    """Run one command line in a shell."""
    return _run(suite, ["sh", "-c", command], cwd, env, wanted)


def run_command(command: str, suite: Suite, cwd: Path, env: Mapping[str, str], wanted: Callable[[], bool]) -> TestReport:
    """Run a command without a known runner: its exit code becomes one test, named after the command."""
    ran = run_line(command, suite, cwd, env, wanted)
    if ran.timed_out:
        return msgspec.structs.replace(_cut(suite, ran, too_long(suite)), command=command)
    if ran.exit_code in (126, 127):
        from detent.evidence.runners.javascript.node_package import without_chatter  # most commands can be run

        raise CannotTell(f"the command could not be run: {without_chatter(ran.output)[-500:].strip() or command}")
    output = f"{ran.output.rstrip()}\n[no adapter reads the tests of `{command}`: only its exit code counts, {ran.exit_code}]\n"
    return TestReport(
        {"(the command)": "passed" if ran.exit_code == 0 else "failed"}, output=output, exit_code=ran.exit_code, command=command
    )


def too_long(suite: Suite) -> str:
    return f"the tests took longer than {suite.timeout:.0f} s (`test.timeout`), and were stopped"


def check_timeout(report: TestReport, before: TestReport, limit: float) -> TestReport:
    """A report that hit the timeout: the change is to blame if the last good tree needs at most half the limit; else Disturbed."""
    if before.late or before.wall > limit / 2:
        took = "and so were those without the change" if before.late else f"without the change they take {before.wall:.0f} s"
        raise Disturbed(f"{report.fault}; {took}. Set [test] timeout higher")
    return report


def _cut(suite: Suite, ran: Ran, fault: str) -> TestReport:
    command = suite.base.text if suite.base else ""
    return TestReport(output=f"{ran.output}\n[{fault}]", command=command, complete=False, fault=fault, late=True)


def _run(suite: Suite, argv: list[str], cwd: Path, env: Mapping[str, str], wanted: Callable[[], bool], *writable: Path) -> Ran:
    written = tuple(Path(env[name]) for name in (BYTECODE,) if name in env and NEVER not in env)
    _build_library(suite, env, wanted)
    with lent(suite.base.runner if suite.base else "", env, suite.fills, suite.also) as given:
        for folder in (ours := (*written, *given.own)):
            folder.mkdir(parents=True, exist_ok=True)
        try:
            watched = {"watch": suite.seen} if suite.seen is not None else {}
            beside = (whole,) if (whole := suite.whole(cwd)) != cwd else ()
            ran = suite.start(argv, cwd, given.env, suite.timeout, wanted, (*ours, *writable, *beside), given.read, **watched)
        except OSError as e:
            raise CannotTell(f"'{argv[0]}' could not be started: {e.strerror}") from e
    if ran.stopped:
        raise Disturbed("the run changed state while its tests ran, so they were stopped")
    return ran


def _build_library(suite: Suite, env: Mapping[str, str], wanted: Callable[[], bool]) -> None:
    """Have a toolchain build its own library into the kept builds, once for all projects. Without it each run builds what it needs."""
    runner = suite.base.runner if suite.base and suite.fills else ""
    for name, build in builds(runner, env, suite.also).items():
        if build.library is None or build.library.holds():
            continue
        how = LIBRARIES[runner]
        with scratch_folder() as folder, build.library.lent(fills=True) as own, suppress(OSError):
            for path, text in how.files.items():
                (folder / path).write_text(text, encoding="utf-8")
            suite.start(list(how.argv), folder, {**env, name: str(own)}, suite.timeout, wanted, (folder, own))


def preflight(
    commands: tuple[str, ...], suite: Suite, root: Path, cwd: Path, env: Mapping[str, str], wanted: Callable[[], bool]
) -> tuple[str | None, str]:
    """Run preflight commands until one fails: what is wrong, and its output. CannotTell if a program is missing."""
    for command in commands:
        ran = _run(suite, absolute(shlex.split(command), root), cwd, env, wanted)
        if ran.timed_out or ran.exit_code != 0:
            how = f"did not finish within {suite.timeout:.0f} s" if ran.timed_out else f"failed with exit code {ran.exit_code}"
            return f"preflight: `{command}` {how}", ran.output
    return None, ""


Say = Callable[[str], None]
PERCENT = re.compile(rb"\[\s*(\d{1,3})%\]")  # pytest's progress, after any other text


def quietly(words: str) -> None:
    """Report no progress."""


class ProgressReader:
    """Reports the progress of tests, read from their output. `total`: how many there were last time; 0 if unknown."""

    def __init__(self, say: Say, what: str, total: int) -> None:
        self.say, self.what, self.total, self.rest = say, what, total, b""
        say(f"{what} (of {total})" if total else what)

    def feed(self, chunk: bytes) -> None:
        text = self.rest + chunk
        self.rest = text[-8:]
        if found := PERCENT.findall(text):
            self.rest = b""
            percent = min(100, int(found[-1]))
            self.say(f"{self.what} ({percent * self.total // 100}/{self.total})" if self.total else f"{self.what} ({percent} %)")
