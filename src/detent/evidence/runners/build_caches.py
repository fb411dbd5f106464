"""The build folders that a toolchain keeps between runs, by the variable that names each: outside the tree, so that a second run is fast.

They belong to Detent. The project's tests never write a person's own, and nothing that tests write affects a later run (see kept_builds.py).
"""

import os
import shutil
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from detent.evidence.runners.kept_builds import Build

CACHES: Mapping[str, tuple[str, ...]] = {
    "go": ("GOCACHE",),
    "cargo": ("CARGO_TARGET_DIR",),
    "ctest": ("CCACHE_DIR",),
    "gradle": ("KEPT_GRADLE",),
}
FINISHED: Mapping[str, tuple[str, ...]] = {  # files that are never rewritten; a run reads them in place
    "go": ("*-a", "*-d"),
    "cargo": ("*.rlib", "*.rmeta", "*.so", "*.dylib", "*.a", "*.o", "build-script-*", "build_script_*"),
    "gradle": ("*.jar", "*.aar", "*.zip", "*.pom", "*.module"),
}
SETTINGS: Mapping[str, Mapping[str, str]] = {
    "go": {
        "GOENV": "off",
        "GOPROXY": "off",
        "GOTOOLCHAIN": "local",
    },  # `go env -w` in the home may name a program or other files
    "cargo": {"CARGO_NET_OFFLINE": "true", "CARGO_TERM_COLOR": "never"},
}
AGENTS = "of-agents"
GO_LIBRARY = (
    'package library\n\nimport (\n\t_ "encoding/json"\n\t_ "errors"\n\t_ "os/exec"\n\t"testing"\n)\n\nfunc TestBuilt(t *testing.T) {}\n'
)


class Library(NamedTuple):
    """A small project with which a toolchain builds its own library (20 s for Go), once for all projects."""

    files: Mapping[str, str]
    argv: tuple[str, ...]


LIBRARIES: Mapping[str, Library] = {
    "go": Library({"go.mod": "module library\n\ngo 1.20\n", "library_test.go": GO_LIBRARY}, ("go", "test", "-count=1", "./...")),
}


def folder_of(project: Path, outer: Mapping[str, str]) -> Path:
    """The folder of a project's builds, in the user's cache, because no program of the project may write below its git dir."""
    home = outer.get("XDG_CACHE_HOME") or os.path.join(outer.get("HOME") or os.path.expanduser("~"), ".cache")
    return Path(home) / "detent" / "builds" / sha256(str(project.resolve()).encode()).hexdigest()[:16]


def settings(runner: str, folder: Path) -> dict[str, str]:
    """The environment variables for a runner's programs."""
    return {**SETTINGS.get(runner, {}), **{name: str(folder / name.lower()) for name in CACHES.get(runner, ())}}


def for_agents(env: Mapping[str, str]) -> dict[str, str]:
    """The environment of an agent's own programs: their builds are kept separately, and no judged run reads them."""
    ours = {name for names in CACHES.values() for name in names}
    return {name: str(Path(value).parent / AGENTS / Path(value).name) if name in ours else value for name, value in env.items()}


class Lent(NamedTuple):
    """Kept builds as one run gets them."""

    env: Mapping[str, str]
    own: tuple[Path, ...]  # folders that the run writes; thrown away later
    read: tuple[Path, ...]  # folders that the run reads


def builds(runner: str, env: Mapping[str, str], own: Collection[str] = ()) -> "dict[str, Build]":
    """The kept builds of a runner, by variable, without those that a person sets."""
    names = [name for name in CACHES.get(runner, ()) if name in env and name not in own]
    return {name: _kept(runner, Path(env[name]), _library(runner, name, env)) for name in names}


def _kept(runner: str, folder: Path, library: "Build | None" = None) -> "Build":
    from detent.evidence.runners.kept_builds import Build  # imported late: few runners keep builds

    return Build(folder, FINISHED.get(runner, ()), library)


def _library(runner: str, name: str, env: Mapping[str, str]) -> "Build | None":
    """The kept build of a toolchain's own library: shared by all projects, one per version of the program."""
    how = LIBRARIES.get(runner)
    program = shutil.which(how.argv[0], path=env.get("PATH")) if how else None
    if program is None:
        return None
    real = os.path.realpath(program)
    seen = os.stat(real)
    key = sha256(os.fsencode(f"{real} {seen.st_size} {seen.st_mtime_ns} {how}")).hexdigest()[:16]
    return _kept(runner, Path(env[name]).parent.parent / f"library-{key}" / name.lower())


@contextmanager
def lent(runner: str, env: Mapping[str, str], fills: bool, own: Collection[str] = ()) -> Iterator[Lent]:
    """Lend kept builds to one run. `fills`: it runs the base of the work and may add to them. `own`: variables that the person sets."""
    kept = builds(runner, env, own)
    mine = tuple(Path(env[name]) for name in CACHES.get(runner, ()) if name in env and name in own)
    with ExitStack() as stack:
        given = {name: stack.enter_context(each.lent(fills)) for name, each in kept.items()}
        places = (*kept.values(), *(each.library for each in kept.values() if each.library))
        read = tuple(each.folder for each in places if each.folder.is_dir())
        yield Lent({**env, **{name: str(folder) for name, folder in given.items()}}, (*given.values(), *mine), read)
