"""Folders that a toolchain keeps between runs, by the variable that names them: outside the tree, so that a second run is quick.

They are Detent's own. Those of the person are never written by the project's tests.
"""

import os
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

CACHES: Mapping[str, tuple[str, ...]] = {
    "go": ("GOCACHE",),
    "cargo": ("CARGO_TARGET_DIR",),
    "ctest": ("CCACHE_DIR",),
    "gradle": ("KEPT_GRADLE",),
}
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
