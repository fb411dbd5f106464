"""One run of the project's tests by the machine: in the workspace or in a clean checkout, with a fresh report outside the tree.

Owns how a run is made, how far it has come for whoever watches, and what of it can be believed; knows nothing of gates. Trouble that is not the tests' own is CannotTell.
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
from detent.evidence.running.canary import BESIDE, judged, planted
from detent.evidence.running.installed import NEVER, PREFIX
from detent.evidence.source.test_ids import without_root
from detent.git.snapshot import FOLDERS
from detent.sandbox.process import Ran, run
from detent.storage.state import scratch_folder

CACHE = "__pycache__"
STARTING = ".timestamp-"  # in the name of what vite writes while it starts; another name each time
BYTECODE = PREFIX  # a folder that tests write to: a person's own only if test.env names it
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
)  # where they lie


class StartProgram(Protocol):
    """How a program of the project is started: in the sandbox or plainly. It may write its folder and the folders named, and read those named."""

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
    """What programs are kept in; asked for its name, it may have to be tried first."""

    @property
    def name(self) -> str: ...


class SandboxName(NamedTuple):
    """The name of a sandbox; that of none, where nothing else is said."""

    name: str = "none"


class Suite(NamedTuple):
    """How this project's tests are run: fixed for a run, from the configuration of its base commit."""

    base: Command | None
    timeout: float
    path: str  # PATH as it was when the run started
    also: tuple[str, ...] = ()  # names of further variables that tests may see
    start: StartProgram = start_unsandboxed
    sandbox: NamedSandbox = SandboxName()  # what `start` keeps programs in
    patterns: tuple[str, ...] = ()  # which files are tests, as the project says
    clean: bool = False  # every run that counts is in a clean checkout of the judged tree
    fills: bool = False  # what runs is what the work began from: what it builds may be kept for later runs
    seen: Callable[[bytes], None] | None = None  # gets what the tests print as they do
    whole: Callable[[Path], Path] = lambda cwd: cwd  # the checkout that the folder of the tests lies in: they may use what is beside it

    @property
    def walls(self) -> str:
        """What tests are kept in, and why in nothing better, for people."""
        because = getattr(self.sandbox, "because", "")
        return self.sandbox.name + (f" ({because})" if because else "")


def environment(suite: Suite, outer: Mapping[str, str], pycache: Path, kept: Path | None = None) -> dict[str, str]:
    """The environment of the project's programs: from a list of what is let through, never what is kept out."""
    names = (*PASSED_ON, *TOOLCHAINS, *suite.also, *(n for n in outer if n.startswith("LC_")))
    base = {n: outer[n] for n in names if n in outer}
    ours = settings(suite.base.runner, kept or pycache.parent / "caches") if suite.base else {}
    ours = {name: value for name, value in ours.items() if name not in base}  # a person's own only if test.env names it
    return {BYTECODE: str(pycache), **base, **ours, "PATH": suite.path, "TERM": "dumb", "CI": outer.get("CI", "")}


def forget_bytecode(env: Mapping[str, str], folder: Path) -> None:
    """Remove the bytecode of a folder's own modules: Python takes it for fresh after two edits of one size in one second."""
    kept = env.get(BYTECODE)
    for here, inner, files in os.walk(Path(kept) / str(folder).lstrip("/") if kept else folder):
        inner[:] = [name for name in inner if name not in FOLDERS or name == CACHE]
        for name in files if kept or here.endswith(f"/{CACHE}") else ():
            if name.endswith(".pyc"):
                (Path(here) / name).unlink(missing_ok=True)


def absolute(argv: list[str], root: Path) -> list[str]:
    """A program named by a relative path lies in the project's own folder, also when the tests run in a clean checkout."""
    at = program_at(argv)
    return [str(root / word) if n == at and "/" in word and not word.startswith("/") else word for n, word in enumerate(argv)]


def program_at(argv: Sequence[str]) -> int:
    """Which word of a call is the program: not `env` and its settings."""
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
    """Run the tests of a framework that is understood; `root` is the project's own checkout, `cwd` where they run.

    The report is read from the file that was opened before: one that a test puts in its place is not seen.
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
    """The report with ids and places that do not say where the checkout lies."""
    roots = tuple(dict.fromkeys((str(cwd), os.path.realpath(cwd))))
    places = {test: without_root(place, roots) for test, place in report.places.items()}
    report = msgspec.structs.replace(report, places=places)
    new = {test: without_root(test, roots) for test in report.outcomes if any(root in test for root in roots)}
    if not new or len({*new.values(), *(report.outcomes.keys() - new)}) < len(report.outcomes):
        return report  # none does, or two would become one
    maps = ("outcomes", "files", "messages", "kinds", "places")
    moved = {name: {new.get(test, test): value for test, value in getattr(report, name).items()} for name in maps}
    return msgspec.structs.replace(report, **moved, missing_names=tuple(new.get(test, test) for test in report.missing_names))


def _read(runner: Runner, data: bytes | None, ran: Ran, canary: Canary | str) -> TestReport:
    """What the report says without the canary, and what that says of the runner."""
    if isinstance(canary, str):
        found = runner.read(data, ran.exit_code, ran.output)
        return msgspec.structs.replace(found, exit_code=ran.exit_code, canary_said=canary)
    try:
        found = runner.read(data, ran.exit_code, ran.output)
    except CannotTell:
        if ran.exit_code != 0 or data is None:
            raise
        return TestReport(exit_code=0, canary="broken", canary_said=BESIDE)
    return judged(msgspec.structs.replace(found, exit_code=ran.exit_code), canary)


def _scratch(names: tuple[str, ...], root: Path) -> list[Path]:
    """Folders beside installed packages that a runner writes to while it starts; nothing else there may be written.

    Whatever an earlier run left there is taken away: packages are looked for there first. What a run that starts just now has written stays.
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
    """What stands in the report that we made ourselves; one that was taken away or put in its place is none."""
    try:
        same = os.path.samestat(os.lstat(file), os.fstat(written.fileno()))
    except FileNotFoundError:
        return None
    return (written.read(LARGEST + 1) or None) if same else None  # whoever reads it says that it is too large


def run_line(command: str, suite: Suite, cwd: Path, env: Mapping[str, str], wanted: Callable[[], bool]) -> Ran:
    """One command line, as a shell reads it."""
    return _run(suite, ["sh", "-c", command], cwd, env, wanted)


def run_command(command: str, suite: Suite, cwd: Path, env: Mapping[str, str], wanted: Callable[[], bool]) -> TestReport:
    """Run a command of which only the exit code can be read: one test, named after the command."""
    ran = run_line(command, suite, cwd, env, wanted)
    if ran.timed_out:
        return msgspec.structs.replace(_cut(suite, ran, too_long(suite)), command=command)
    if ran.exit_code in (126, 127):
        from detent.evidence.runners.javascript.node_package import without_chatter  # most commands can be run

        raise CannotTell(f"the command could not be run: {without_chatter(ran.output)[-500:].strip() or command}")
    said = f"{ran.output.rstrip()}\n[no adapter reads the tests of `{command}`: only its exit code counts, {ran.exit_code}]\n"
    return TestReport(
        {"(the command)": "passed" if ran.exit_code == 0 else "failed"}, output=said, exit_code=ran.exit_code, command=command
    )


def too_long(suite: Suite) -> str:
    return f"the tests took longer than {suite.timeout:.0f} s (`test.timeout`), and were stopped"


def in_time(report: TestReport, before: TestReport, limit: float) -> TestReport:
    """Tests that were stopped for their time. Those of the last good tree that take half of it at most blame the change; else nothing can be told."""
    if before.late or before.wall > limit / 2:
        raise Disturbed(f"{report.fault}; without the change they take {before.wall:.0f} s. Set [test] timeout higher")
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
    """Have a toolchain build its own library where that is kept, once for all projects. Without it the project's run builds what it needs."""
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
    """What is wrong by the first preflight command that fails, and its output. A program that is not there: CannotTell."""
    for command in commands:
        ran = _run(suite, absolute(shlex.split(command), root), cwd, env, wanted)
        if ran.timed_out or ran.exit_code != 0:
            how = f"did not finish within {suite.timeout:.0f} s" if ran.timed_out else f"failed with exit code {ran.exit_code}"
            return f"preflight: `{command}` {how}", ran.output
    return None, ""


Say = Callable[[str], None]
PERCENT = re.compile(rb"\[\s*(\d{1,3})%\]")  # as pytest writes it, whatever it says before


def quietly(words: str) -> None:
    """Nobody watches."""


class ProgressReader:
    """How far tests have come, read off what they print. `total`: how many there were the last time; 0: not known."""

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
