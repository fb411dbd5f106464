"""Folders that a toolchain keeps between runs, by the variable that names them: outside the tree, so that a second run is quick.

They are Detent's own. Those of the person are never written by the project's tests. What tests can write must not decide a later run: where
a folder is small enough, a judged run gets a copy of what the base left there, and the copy is thrown away.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp

from detent.sandbox.process import run

CACHES: Mapping[str, tuple[str, ...]] = {
    "go": ("GOCACHE",),
    "cargo": ("CARGO_TARGET_DIR",),
    "ctest": ("CCACHE_DIR",),
    "gradle": ("KEPT_GRADLE",),
}
COPIED = ("go", "ctest")  # caches that a compiler looks things up in; what cargo and gradle keep is too large for a copy each time
SETTINGS: Mapping[str, Mapping[str, str]] = {
    "go": {"GOPROXY": "off", "GOTOOLCHAIN": "local"},
    "cargo": {"CARGO_NET_OFFLINE": "true", "CARGO_TERM_COLOR": "never"},
}


def folder_of(project: Path, outer: Mapping[str, str]) -> Path:
    """Where a project's folders lie: in the user's cache, since no program of the project may write below its git dir."""
    home = outer.get("XDG_CACHE_HOME") or os.path.join(outer.get("HOME") or os.path.expanduser("~"), ".cache")
    return Path(home) / "detent" / "builds" / sha256(str(project.resolve()).encode()).hexdigest()[:16]


def settings(runner: str, folder: Path) -> dict[str, str]:
    """The variables of a runner's programs."""
    return {**SETTINGS.get(runner, {}), **{name: str(folder / name.lower()) for name in CACHES.get(runner, ())}}


def caches(runner: str, env: Mapping[str, str]) -> tuple[Path, ...]:
    """The folders that its programs may write."""
    return tuple(Path(env[name]) for name in CACHES.get(runner, ()) if name in env)


@contextmanager
def thrown_away(runner: str, env: Mapping[str, str], fills: bool) -> Iterator[Mapping[str, str]]:
    """The environment of a run that leaves nothing in what is kept. `fills`: it runs what the work began from, and may; so may the very first."""
    kept = {name: Path(env[name]) for name in CACHES.get(runner, ()) if runner in COPIED and name in env}
    if fills or not kept or not all(folder.is_dir() and any(folder.iterdir()) for folder in kept.values()):
        yield env
        return
    own = Path(mkdtemp(prefix="run-", dir=next(iter(kept.values())).parent))
    try:
        for folder in kept.values():
            run(["cp", "-a", "--reflink=auto", str(folder), str(own)], Path("/"), {"PATH": env.get("PATH", os.defpath)}, 600)
        yield {**env, **{name: str(own / folder.name) for name, folder in kept.items()}}
    finally:
        rmtree(own, ignore_errors=True)
