"""What tests run on: the program and its installed packages, as a fingerprint that is part of a report's key; and the bytecode of these packages.

Owns where packages are; runs only the interpreter, once each, to ask for its package folders. Knows nothing of reports.
Judged runs read bytecode that we compiled from the sources and never write any, because bytecode written by a test could decide the next run. The
first run of an environment writes its bytecode to a scratch folder, which only shows which modules are needed; the interpreter alone then
compiles these. Kept bytecode that was touched since is not used.
"""

import fcntl
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from tempfile import mkdtemp

from detent.evidence.runners import Command
from detent.sandbox.process import run
from detent.storage import state
from detent.storage.state import read_sealed, state_dir, write_sealed

ENVIRONMENTS = (".venv", "venv", ".tox/*")  # where a project keeps its own
PATIENCE = 30  # seconds


def fingerprint(command: Command | None, root: Path, env: Mapping[str, str], cache: Path) -> str:
    """A hash of the program and everything installed beside it."""
    if command is None or not command.argv:
        return ""
    homes = packages(command, root, env, cache)
    parts = [
        _program(command, root),
        *(f"{home}:{','.join(sorted(e.name for e in os.scandir(home) if e.name.endswith('-info')))}" for home in homes),
    ]
    return sha256("\n".join([*parts, *_node_packages(parts[0], root, env)]).encode()).hexdigest()[:16]


def version_of(command: Command, root: Path, env: Mapping[str, str], cache: Path) -> str:
    """The version of a test runner that is a package of the project's environment; empty if unknown."""
    homes = packages(command, root, env, cache)
    found = (info.name for home in homes for info in home.glob(f"{command.runner}-*-info"))
    if name := next(found, ""):
        return name.removeprefix(f"{command.runner}-").partition(".dist-info")[0].partition("-")[0]
    try:
        return str(json.loads((root / "node_modules" / command.runner / "package.json").read_text("utf-8"))["version"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def python_behind(command: Command, root: Path, env: Mapping[str, str]) -> Path | None:
    """The Python that a test command runs on; None if it is another program."""
    return _behind(_program(command, root), env) if command.argv else None


def refuses_pip(command: Command, root: Path, env: Mapping[str, str]) -> bool:
    """Whether pip installs nothing for the Python of a test command, because the system's package manager owns its packages (PEP 668)."""
    python = python_behind(command, root, env)
    if python is None or (python.parent.parent / "pyvenv.cfg").is_file():
        return False
    real = python.resolve()
    return any(real.parent.parent.glob(f"lib*/{real.name}/EXTERNALLY-MANAGED"))


def packages(command: Command, root: Path, env: Mapping[str, str], cache: Path) -> list[Path]:
    """The folders of Python packages that a command may import from: the project's own environments, and the interpreter's."""
    own = [home for name in ENVIRONMENTS for home in sorted(root.glob(f"{name}/lib/python*/site-packages"))]
    return list(dict.fromkeys([*own, *_packages_of(_behind(_program(command, root), env), env, cache)]))


def _program(command: Command, root: Path) -> str:
    first = command.argv[0]
    return str(root / first) if "/" in first and not first.startswith("/") else first


def _behind(program: str, env: Mapping[str, str]) -> Path | None:
    """The Python that a program is, or that its first lines name; None if neither."""
    file = Path(program if "/" in program else shutil.which(program, path=env.get("PATH")) or "")
    if "python" in file.name:
        return file
    try:
        with file.open("rb") as source:
            lines = source.read(500).decode("utf-8", "replace").splitlines()[:2]
    except OSError:
        return None
    if not lines or not lines[0].startswith("#!"):
        return None
    words = [word.strip("\"'") for line in lines for word in line.removeprefix("#!").split()]
    named = next((word for word in words if "python" in Path(word).name), "")
    found = named if "/" in named else shutil.which(named, path=env.get("PATH")) if named else None
    return Path(found) if found else None


def _packages_of(python: Path | None, env: Mapping[str, str], cache: Path) -> list[Path]:
    """The package folders of an interpreter: beside it in a virtual environment; else asked once and remembered by its stamp."""
    if python is None:
        return []
    if (python.parent.parent / "pyvenv.cfg").is_file():
        return sorted(python.parent.parent.glob("lib/python*/site-packages"))
    try:
        ask = "import json, site, sys; print(json.dumps([p for p in sys.path if p.endswith('-packages')]))"
        real = python.resolve()
        stamp = cache / f"python-{sha256(f'{real}{real.stat().st_mtime_ns}'.encode()).hexdigest()[:16]}.json"
        if (listing := read_sealed(stamp)) is None:
            with open(os.devnull, "wb") as nowhere:
                ran = run([str(python), "-c", ask], python.parent, env, PATIENCE, stderr=nowhere.fileno())
            if ran.exit_code is None:
                return []
            listing = ran.output or "[]"
            write_sealed(stamp, listing)
        return [Path(p) for p in json.loads(listing) if Path(p).is_dir()]
    except (OSError, ValueError):
        return []


def _node_packages(program: str, root: Path, env: Mapping[str, str]) -> list[str]:
    """The stamps of node and of npm's record of installed packages."""
    lock, is_node = root / "node_modules" / ".package-lock.json", Path(program).name == "node"
    if not is_node and not lock.is_file():
        return []
    name = program if is_node else "node"
    files = [Path(shutil.which(name, path=env.get("PATH")) or name).resolve(), lock]
    return [f"{file}:{file.stat().st_mtime_ns}" for file in files if file.is_file()]


PREFIX, NEVER = "PYTHONPYCACHEPREFIX", "PYTHONDONTWRITEBYTECODE"
MOST = 8000
SECONDS = 120
COMPILE = """
import json, py_compile, sys
for source, made in json.load(sys.stdin):
    try:
        py_compile.compile(source, cfile=made, dfile=source, doraise=True, quiet=2)
    except Exception:
        pass
"""


class Bytecode:
    """The kept bytecode of one environment of one project."""

    def __init__(self, home: Path, key: str, python: Path | None) -> None:
        own = state_dir() / "bytecode" / sha256(str(home.resolve()).encode("utf-8", "surrogateescape")).hexdigest()[:16]
        self.folder, self.record = own / key[:32], own / f"{key[:32]}.json"
        real = Path(os.path.realpath(python)) if python else None
        self.python = (
            real if real and real.is_file() and not real.is_relative_to(home.resolve()) else None
        )  # never run a file of the project as the compiler

    def holds(self) -> bool:
        """Whether it exists and every file is as we made it."""
        stored = state.read_sealed(self.record) if self.record.is_file() else None
        try:
            return stored is not None and stored == json.dumps(self._stamps())
        except OSError:
            return False  # it is being rebuilt

    def _stamps(self) -> dict[str, str]:
        found = {}
        for here, _, files in os.walk(self.folder):
            for name in files:
                seen = os.lstat(f"{here}/{name}")
                found[f"{here}/{name}"] = f"{seen.st_size} {seen.st_mtime_ns} {seen.st_ctime_ns} {seen.st_mode}"
        return dict(sorted(found.items()))

    def fill(self, scratch: Path, project: Path) -> None:
        """Compile the modules that a run needed, from their sources, without the project's own, because they change."""
        wanted = [pair for pair in self._needed(scratch) if not Path(pair[0]).is_relative_to(project)][:MOST]
        with suppress(OSError), self._alone():  # the kept bytecode only saves time
            if not self.holds():  # else another run made it first
                self._make(wanted)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Let one run at a time compile: the runs of two trees start together."""
        own = self.folder.parent
        own.parent.mkdir(parents=True, exist_ok=True)
        fd = os.open(own.with_name(f"{own.name}.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            yield
        finally:
            os.close(fd)

    def _make(self, wanted: list[tuple[str, str]]) -> None:
        shutil.rmtree(self.folder.parent, ignore_errors=True)
        if not wanted or self.python is None:
            return
        for _, made in wanted:
            Path(made).parent.mkdir(parents=True, exist_ok=True)
        order = self.folder.parent / "order.json"
        order.write_text(json.dumps(wanted))
        run([str(self.python), "-I", "-S", "-B", "-c", COMPILE], Path("/"), {}, SECONDS, stdin=order)
        state.write_sealed(self.record, json.dumps(self._stamps()), durable=False)

    def _needed(self, scratch: Path) -> Iterator[tuple[str, str]]:
        """Source and target of each module whose bytecode was written, without rewritten ones (`…-pytest-…`), which differ from their source."""
        for here, _, files in os.walk(scratch):
            for name in sorted(files):
                stem, _, tag = name.removesuffix(".pyc").rpartition(".")
                source = Path("/", Path(here).relative_to(scratch), f"{stem}.py")
                if name.endswith(".pyc") and "-pytest-" not in tag and not tag.startswith("opt-") and source.is_file():
                    yield str(source), str(self.folder / Path(here).relative_to(scratch) / name)


def scratch_folder() -> Path:
    return Path(mkdtemp(prefix="detent-bytecode-"))


def read_only(env: Mapping[str, str], kept: Bytecode) -> dict[str, str]:
    """The environment of a run that reads the kept bytecode and writes none."""
    return {**env, PREFIX: str(kept.folder), NEVER: "1"}


def without(env: Mapping[str, str]) -> dict[str, str]:
    """The environment of a run that writes no bytecode and reads only what lies beside the installed packages."""
    return {**{name: value for name, value in env.items() if name != PREFIX}, NEVER: "1"}
