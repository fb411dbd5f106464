"""Projects that stand somewhere on their way: made once in a process, and laid out anew from a copy each time. To get there takes most of a test's time.

A run knows the path of its checkout. So the projects of a test stand at the same few places in every test, and the test's own folder links there.
"""

import atexit
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable
from functools import cache, wraps
from pathlib import Path
from typing import Any, Protocol, TypeVar

from tests.repos import sh


@cache
def home() -> Path:
    """A folder of this process."""
    folder = Path(tempfile.mkdtemp(prefix="detent-projects-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


class Places:
    """The places of the test that runs now."""

    folder: Path | None = None  # of the test
    taken = 0

    @classmethod
    def of(cls, folder: Path) -> None:
        """Another test begins."""
        cls.folder, cls.taken = folder, 0

    @classmethod
    def take(cls, folder: Path) -> Path:
        """Where a project of the test is to stand. One that is not in the test's own folder, or there already, stays where it is."""
        if folder.parent != cls.folder or folder.exists():
            return folder
        cls.taken += 1
        place = home() / "now" / str(cls.taken)
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        folder.symlink_to(place / folder.name)
        return place / folder.name


class Stands(Protocol):
    root: Path
    env: dict[str, str]


P = TypeVar("P", bound=Stands)


def laid_out(go: Callable[..., P]) -> Callable[..., P]:
    """A way that leads a new project somewhere, gone only once for projects that are alike."""

    @wraps(go)
    def reach(p: P, *args: Any) -> P:
        kept = home() / _key(p, go.__name__, args) if _is_new(p) else None
        if kept is None:
            return go(p, *args)
        if not kept.is_dir():
            go(p, *args)
            shutil.copytree(p.root.parent, kept, symlinks=True)
        else:
            shutil.rmtree(p.root.parent)
            shutil.copytree(kept, p.root.parent, symlinks=True)
        return p

    return reach


def _is_new(p: Stands) -> bool:
    """Whether it stands at one of the places, nothing was done in it, and it holds only what git has."""
    ours = p.root.parent.parent == home() / "now"
    return ours and not (p.root / ".git/detent").exists() and sh(p.root, "git", "status", "--porcelain", "--ignored") == ""


def _key(p: Stands, *way: Any) -> str:
    """What decides where the way leads: the files, the settings, the branches, the environment."""
    refs = sh(p.root, "git", "for-each-ref", "--format=%(refname) %(tree)"), sh(p.root, "git", "symbolic-ref", "HEAD")
    env = {name: value for name, value in p.env.items() if os.environ.get(name) != value}
    return hashlib.sha256(json.dumps([str(p.root), way, refs, (p.root / ".git/config").read_text(), env]).encode()).hexdigest()
