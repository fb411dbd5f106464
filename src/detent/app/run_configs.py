"""Builds a run's RunConfig from the settings in its first event, and its sandbox: what is visible in it, and how

programs are started there.
"""

import errno
import os
import shlex
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from detent.app.registry import workflow_of
from detent.config import Settings
from detent.door import AnyRun
from detent.effects.catalogue import Ways
from detent.errors import CannotTell, DetentError
from detent.evidence.runners import Command, Folder, find_command
from detent.evidence.running.suite import Suite
from detent.git.place import Place
from detent.git.snapshot import BORROWED
from detent.sandbox import ProcessLimits, Room, Sandbox, choose
from detent.sandbox.process import Ran
from detent.sandbox.sandbox_protocol import size
from detent.world.known_runs import RunConfig
from detent.world.work_tree import root_of

if TYPE_CHECKING:
    from detent.forge import Pulls
    from detent.tracker import Tracker

DEPENDENCIES = (*BORROWED, "target")  # folders of the project's checkout that are visible read-only
PUSH, PULL, OUTER, AUTO = "bubblewrap", "none", "outer", "auto"
SERVICES = ("/var/run/postgresql", "/var/run/mysqld", "/var/run/redis", "/run/postgresql", "/run/mysqld", "/run/redis")  # of databases
OPEN = (PULL, OUTER)  # levels at which Detent isolates nothing: nobody does, or an outer container does
NOT_FOUND = 127  # the exit code of a shell for a program that does not exist
MOST_WORDS = 50


class RunSandbox(NamedTuple):
    """A sandbox, and what is visible in it beyond the workspace."""

    sandbox: Sandbox
    readable: tuple[Path, ...]
    network: bool
    only: tuple[Path, ...] | None = None  # the part of its workspace that an agent may write; None: all of it
    more: Callable[[], tuple[Path, ...]] = tuple  # further visible paths, looked up when a program is started
    view: tuple[Path, Path] | None = None  # the git dir that an agent sees, and the one it replaces

    def room(self, workspace: Path, writable: tuple[Path, ...] = (), also: tuple[Path, ...] = ()) -> Room:
        links = tuple(workspace / name for name in BORROWED if (workspace / name).is_symlink())
        inside, sealed = self.only or (), self.only is not None
        seen = tuple(path for path in (*self.readable, *self.more()) if path != workspace / "target")  # its own build goes there
        instead = (self.view,) if self.view else ()
        return Room(workspace, (workspace / ".git", *links), (*inside, *writable), (*seen, *also), self.network, sealed, instead)

    def tests(
        self,
        argv: list[str],
        cwd: Path,
        env: Mapping[str, str],
        timeout: float,
        wanted: Callable[[], bool],
        writable: tuple[Path, ...],
        readable: tuple[Path, ...] = (),
        watch: Callable[[bytes], None] | None = None,
    ) -> Ran:
        """Run a program of the project, with its checkout and a temporary folder of its own writable."""
        if self.sandbox.name not in OPEN:
            env = {name: value for name, value in env.items() if name != "TMPDIR"}
        bytecode = Path(env.get("PYTHONPYCACHEPREFIX") or "/nonexistent")
        shown = (bytecode,) if bytecode.is_dir() and bytecode not in writable else ()
        return self._run(argv, cwd, env, timeout, self.room(cwd, writable, (*shown, *readable)), wanted, watch=watch)

    @property
    def apart(self) -> bool:
        """Whether programs are cut off from the machine's network."""
        return self.sandbox.name not in OPEN and not self.network

    def agent(
        self,
        argv: list[str],
        cwd: Path,
        env: Mapping[str, str],
        timeout: float,
        *args: Any,
        writable: tuple[Path, ...] = (),
        readable: tuple[Path, ...] = (),
        **more: Any,
    ) -> Ran:
        """Run an agent's program. Files named by its arguments are visible to it too."""
        from detent.sandbox.mounts import SYSTEM

        words = (Path(word) for word in argv if word.startswith("/"))
        named = (*readable, *(path for path in words if _exists(path) and not any(path.is_relative_to(w) for w in writable)))
        shown = (*self.readable, cwd, *map(Path, SYSTEM))
        also = tuple(path for each in named for path in {each, each.resolve()} if not any(path.is_relative_to(s) for s in shown))
        return self._run(argv, cwd, env, timeout, self.room(cwd, writable, also), *args, **more)

    def shell(self, workspace: Path, env: Mapping[str, str], timeout: float, wanted: Callable[[], bool]) -> Callable[[str], Ran]:
        """A function that runs one shell command of an agent."""
        return lambda command: self._run(["sh", "-c", command], workspace, env, timeout, self.room(workspace), wanted)

    def _run(self, argv: list[str], cwd: Path, env: Mapping[str, str], timeout: float, room: Room, *args: Any, **more: Any) -> Ran:
        """Run it in the sandbox. If a program exists only outside, the error names it and the setting that makes it visible."""
        try:
            ran = self.sandbox.run(argv, cwd, env, timeout, room, *args, **more)
        except OSError as e:
            raise OSError(e.errno, f"{e.strerror}. {hint}" if (hint := self._hidden(argv, env, room)) else e.strerror, argv[0]) from e
        except CannotTell as e:  # with stderr redirected, "not found" does not reach us
            hint = self._hidden(argv, env, room)
            if not hint and _is_there(argv[0], cwd, env):
                raise
            raise OSError(errno.ENOENT, f"{os.strerror(errno.ENOENT)}. {hint}".removesuffix(". "), argv[0]) from e
        hint = self._hidden(argv, env, room) if ran.exit_code == NOT_FOUND else ""
        return ran._replace(output=f"{ran.output}\n[{hint}]\n") if hint else ran

    def _hidden(self, argv: list[str], env: Mapping[str, str], room: Room) -> str:
        from detent.sandbox.visible import missing_inside

        words = _words(argv[2]) if argv[:2] == ["sh", "-c"] else argv[:1]
        found = (missing_inside(word, env.get("PATH", ""), room) for word in words) if self.sandbox.name not in OPEN else ()
        return next((hint for hint in found if hint), "")


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # a word that is too long for a path
        return False


def _is_there(name: str, cwd: Path, env: Mapping[str, str]) -> bool:
    return os.path.exists(cwd / name) if "/" in name else shutil.which(name, path=env.get("PATH", "")) is not None


def _words(command: str) -> list[str]:
    """The words of a shell command that may name a program."""
    try:
        return [word for word in shlex.split(command, comments=True) if not word.startswith("-")][:MOST_WORDS]
    except ValueError:
        return []


def level_of(settings: Settings, driven: bool) -> str:
    """The configured sandbox level. `auto` depends on the mode: a driven agent must be sandboxed or nothing runs; in pull mode tests
    are sandboxed where possible, and each verdict says so where not."""
    level = settings.sandbox.level
    return level if level != AUTO else PUSH if driven else settings.sandbox.pull


def sandbox_of(settings: Settings, driven: bool, outer: Mapping[str, str], home: Path) -> RunSandbox:
    """The sandbox of a run. One that is not available as configured is an error; there is no fallback to a weaker one."""
    from detent.evidence.runners.adapter import REPORTERS  # our reporter plugins, which tests load inside

    level = level_of(settings, driven)
    known = settings.sandbox
    sandbox = (
        _auto(frozenset(outer.items())) if level == AUTO else _chosen(level, outer.get("HOME", ""), known.memory, known.cpus, known.image)
    )
    if level in OPEN:
        return RunSandbox(sandbox, (), True)
    from detent.sandbox.mounts import closed
    from detent.sandbox.visible import toolchains

    kept = tuple(home / name for name in DEPENDENCIES if (home / name).is_dir())
    mounts = tuple(Path(m).expanduser() for m in settings.sandbox.mounts)
    own = (*kept, *mounts, REPORTERS.parent)
    if level != AUTO:
        return RunSandbox(sandbox, (*toolchains(outer), *own), settings.sandbox.network)
    person = Path(outer.get("HOME") or Path.home())
    return RunSandbox(
        sandbox, own, True, more=cache(lambda: (*toolchains(outer), *(p for p in _beside(home) if not closed(p.resolve(), person))))
    )


def _beside(home: Path) -> list[Path]:
    """Paths outside a checkout that its programs need: database sockets, the git dir of a worktree, editable installs."""
    found = [Path(name) for name in SERVICES]
    with suppress(OSError):
        if (home / ".git").is_file():
            own = Path((home / ".git").read_text("utf-8").removeprefix("gitdir:").strip())
            found.append(own.parent.parent if own.parent.name == "worktrees" else own)
    for file in (file for name in (".venv", "venv") for file in home.glob(f"{name}/lib/python*/site-packages/*.pth")):
        with suppress(OSError, ValueError):
            found += [Path(line) for line in file.read_text("utf-8").splitlines() if line.startswith("/")]
    return [path for path in found if path.is_dir() and not path.resolve().is_relative_to(home.resolve())]


@cache
def _auto(outer: frozenset[tuple[str, str]]) -> Sandbox:
    return choose(AUTO, dict(outer))


@cache
def _chosen(level: str, home: str, memory: str, cpus: int, image: str) -> Sandbox:
    return choose(level, {"HOME": home} if home else {}, ProcessLimits(memory=size(memory), cpus=cpus), image)


def must_hold(settings: Settings, outer: Mapping[str, str]) -> str:
    """Test the sandbox by attacking it before a run relies on it; returns its name. A hole is an error. Open levels are not tested."""
    from detent.sandbox.sandbox_probe import probe

    inside = sandbox_of(settings, True, outer, Path("/nonexistent"))
    if inside.sandbox.name in OPEN:
        return inside.sandbox.name
    if holes := probe(inside.sandbox, outer, inside.network):
        raise DetentError(
            f"the sandbox does not isolate: {holes[0]}", f"nothing was run ({len(holes)} in all); see `detent doctor` and docs/sandbox.md"
        )
    return inside.sandbox.name


CONFIGURED = "configured"  # as a run's agent: the one that [agents] names for each role
REVIEWER = "reviewer"
OTHER = "other"  # as [review] agent: one of another vendor than the author's
DEFAULT = "anthropic"


def config_of(place: Place, env: Mapping[str, str]) -> Callable[[AnyRun], RunConfig]:
    """A function that makes the config of a run; cached once the run's test command is known."""
    made: dict[tuple[str, bool], RunConfig] = {}

    def config(run: AnyRun) -> RunConfig:
        key = (run.id, bool(run.data.setup.workspace) and root_of(place.common_dir, run).is_dir())
        if key in made:
            return made[key]
        fresh = _make(place, run, env)
        if fresh.suite.base is not None:
            made[key] = fresh
        return fresh

    return config


def home_of(run: AnyRun, settings: Settings, place: Place) -> Path:
    """The folder with the project's installed environment: a workspace with its own setup, else the person's checkout."""
    root = root_of(place.common_dir, run) if settings.workspace.setup and run.data.setup.workspace else None
    return root if root and root.is_dir() else origin_of(run, place)


def origin_of(run: AnyRun, place: Place) -> Path:
    """The person's checkout: the one a run is bound to, or for an execution the one it is driven from."""
    return place.root if run.worktree in ("", run.data.setup.workspace) else Path(run.worktree)


def _make(place: Place, run: AnyRun, outer: Mapping[str, str]) -> RunConfig:
    setup = run.data.setup
    settings = msgspec.json.decode(setup.settings, type=Settings) if setup.settings else Settings()
    home = home_of(run, settings, place)
    root = root_of(place.common_dir, run) if setup.workspace == run.worktree and setup.workspace else place.root
    base = (
        msgspec.json.decode(setup.command, type=Command)
        if setup.command
        else find_command(Folder(root, setup.path), settings.test.command, settings.test.report)
    )
    timeout = float(settings.test.timeout or settings.bash.timeout)
    inside = sandbox_of(settings, bool(setup.agent), outer, home)
    also, clean = tuple(settings.test.env), settings.evidence.clean
    suite = Suite(base, timeout, setup.path, also, inside.tests, inside.sandbox, setup.patterns, clean)
    merge = settings.git.merge or workflow_of(run.workflow).merge
    ways = Ways(settings.git.main, settings.git.remote, merge, settings.git.pr_command, settings.git.push)
    squash = settings.git.squash or ("auto" if setup.agent else "agent")
    return RunConfig(
        suite,
        settings.flat(),
        tuple(setup.preflight),
        ways,
        squash,
        settings.review.agent,
        inside.agent,
        home,
        origin_of(run, place),
        settings.gate,
        inside.apart,
        lambda: _tracker(settings, place, outer),
        lambda: _pulls(settings, place, outer),
    )


def _tracker(settings: Settings, place: Place, outer: Mapping[str, str]) -> "Tracker":
    from detent.app.trackers import tracker_of  # most submits ask no tracker

    return tracker_of(settings, place, outer)


def _pulls(settings: Settings, place: Place, outer: Mapping[str, str]) -> "Pulls":
    from detent.app.forges import pulls_of  # few jobs open pull requests

    return pulls_of(settings, place, outer)
