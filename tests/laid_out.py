"""Projects that stand somewhere on their way: made once in a process, and laid out anew from a copy each time. To get there takes most of a test's time.

A run knows the path of its checkout. So the projects of a test stand at the same few places in every test, and the test's own folder links there.
"""

import atexit
import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable
from functools import cache, wraps
from pathlib import Path
from typing import Any, Protocol, TypeVar

from detent.app.opened import accept_journal
from detent.git import fingerprint
from detent.git.place import find_place
from tests.repos import sh


@cache
def home() -> Path:
    """A folder of this process."""
    folder = Path(tempfile.mkdtemp(prefix="detent-projects-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


class Places:
    """The places of the test that runs now."""

    test = ""
    taken = 0

    @classmethod
    def take(cls, folder: Path) -> Path:
        """Where a project of the test is to stand. One that is not in the test's own folder, or there already, stays where it is."""
        test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0]
        own = re.sub(r"\W", "_", test.rpartition("::")[2])[:30]  # as pytest names the folder of a test
        if not own or not folder.parent.name.startswith(own) or folder.exists():
            return folder
        cls.taken = cls.taken + 1 if test == cls.test else 1
        cls.test = test
        place = home() / "now" / str(cls.taken)
        if place.exists():  # a program of the test before may still write there: its folder moves away with it
            place.rename(Path(tempfile.mkdtemp(dir=home())) / "before")
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
            vouch(p.root)
        return p

    return reach


def vouch(root: Path) -> None:
    """Take a checkout that was copied here as it is: what a person says who made the copy."""
    place = find_place(root)
    if place.journal.exists():
        accept_journal(place, {})
        fingerprint.remember(place)


def _is_new(p: Stands) -> bool:
    """Whether it stands at one of the places, nothing was done in it, and it holds only what git has."""
    ours = p.root.parent.parent == home() / "now"
    return ours and not (p.root / ".git/detent").exists() and sh(p.root, "git", "status", "--porcelain", "--ignored") == ""


def _key(p: Stands, *way: Any) -> str:
    """What decides where the way leads: the files, the settings, the branches, the environment."""
    refs = sh(p.root, "git", "for-each-ref", "--format=%(refname) %(tree)"), sh(p.root, "git", "symbolic-ref", "HEAD")
    env = {name: value for name, value in p.env.items() if os.environ.get(name) != value}
    return hashlib.sha256(json.dumps([str(p.root), way, refs, (p.root / ".git/config").read_text(), env]).encode()).hexdigest()
