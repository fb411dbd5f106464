"""Projects at some point of a workflow: made once per process and copied from then on, because getting there takes most of a test's time.

A run stores the path of its checkout, so the projects of every test use the same few paths, and the test's own folder links there.
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
    """The folder of this process."""
    folder = Path(tempfile.mkdtemp(prefix="detent-projects-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


class Places:
    """The paths used by the running test."""

    test = ""
    taken = 0

    @classmethod
    def take(cls, folder: Path) -> Path:
        """Where a project of the test must be. One outside the test's own folder, or one that exists, stays where it is."""
        test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0]
        own = re.sub(r"\W", "_", test.rpartition("::")[2])[:30]  # as pytest names the folder of a test
        if not own or not folder.parent.name.startswith(own) or folder.exists():
            return folder
        cls.taken = cls.taken + 1 if test == cls.test else 1
        cls.test = test
        place = home() / "now" / str(cls.taken)
        if place.exists():  # a program of the last test may still write there, so move it away
            place.rename(Path(tempfile.mkdtemp(dir=home())) / "before")
        place.mkdir(parents=True)
        folder.symlink_to(place / folder.name)
        return place / folder.name


class Stands(Protocol):
    root: Path
    env: dict[str, str]


P = TypeVar("P", bound=Stands)


def laid_out(go: Callable[..., P]) -> Callable[..., P]:
    """Memoise a function that brings a new project somewhere: equal projects are copied from the first."""

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
    """Accept a copied checkout with its journal, as the person who copied it would."""
    place = find_place(root)
    if place.journal.exists():
        accept_journal(place, {})
        fingerprint.remember(place)


def _is_new(p: Stands) -> bool:
    """Whether a project is at one of the paths, unused, and holds only what git tracks."""
    ours = p.root.parent.parent == home() / "now"
    return ours and not (p.root / ".git/detent").exists() and sh(p.root, "git", "status", "--porcelain", "--ignored") == ""


def _key(p: Stands, *way: Any) -> str:
    """A key of everything that decides the result: files, settings, branches, environment."""
    refs = sh(p.root, "git", "for-each-ref", "--format=%(refname) %(tree)"), sh(p.root, "git", "symbolic-ref", "HEAD")
    env = {name: value for name, value in p.env.items() if os.environ.get(name) != value}
    return hashlib.sha256(json.dumps([str(p.root), way, refs, (p.root / ".git/config").read_text(), env]).encode()).hexdigest()
