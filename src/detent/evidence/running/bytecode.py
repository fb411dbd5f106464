"""Bytecode of what is installed, for judged runs: made by us from the sources, and only read by tests. One that a test wrote would decide the next run.

The first run of an environment writes its bytecode to a folder that is thrown away; what it wrote says which modules are needed, no more.
These are compiled by the interpreter itself, alone. Nothing is taken that was touched since. Knows files; how tests are run is the collector's.
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

from detent.sandbox.process import run
from detent.storage import state
from detent.storage.state import state_dir

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
    """What is kept for one environment of one project."""

    def __init__(self, home: Path, key: str, python: Path | None) -> None:
        own = state_dir() / "bytecode" / sha256(str(home.resolve()).encode("utf-8", "surrogateescape")).hexdigest()[:16]
        self.folder, self.record = own / key[:32], own / f"{key[:32]}.json"
        real = Path(os.path.realpath(python)) if python else None
        self.python = (
            real if real and real.is_file() and not real.is_relative_to(home.resolve()) else None
        )  # a project's own file compiles nothing

    def holds(self) -> bool:
        """Whether it is there, and every file as we made it."""
        said = state.kept(self.record) if self.record.is_file() else None
        try:
            return said is not None and said == json.dumps(self._stamps())
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
        """Compile what a run needed, from the sources. The project's own modules are not among it: they change."""
        wanted = [pair for pair in self._needed(scratch) if not Path(pair[0]).is_relative_to(project)][:MOST]
        with suppress(OSError), self._alone():  # what is kept only saves time
            if not self.holds():  # else another run was quicker
                self._make(wanted)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """One run at a time makes it: those of two trees begin together."""
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
        state.keep(self.record, json.dumps(self._stamps()), durable=False)

    def _needed(self, scratch: Path) -> Iterator[tuple[str, str]]:
        """Each source whose bytecode was written, and where ours goes. What a runner rewrites (`…-pytest-…`) is not what the source says."""
        for here, _, files in os.walk(scratch):
            for name in sorted(files):
                stem, _, tag = name.removesuffix(".pyc").rpartition(".")
                source = Path("/", Path(here).relative_to(scratch), f"{stem}.py")
                if name.endswith(".pyc") and "-pytest-" not in tag and not tag.startswith("opt-") and source.is_file():
                    yield str(source), str(self.folder / Path(here).relative_to(scratch) / name)


def scratch_folder() -> Path:
    return Path(mkdtemp(prefix="detent-bytecode-"))


def read_only(env: Mapping[str, str], kept: Bytecode) -> dict[str, str]:
    """The environment of a run that reads what is kept and writes none."""
    return {**env, PREFIX: str(kept.folder), NEVER: "1"}


def without(env: Mapping[str, str]) -> dict[str, str]:
    """The environment of a run that keeps none: that of what is installed lies where it is installed, and is as good as that."""
    return {**{name: value for name, value in env.items() if name != PREFIX}, NEVER: "1"}
