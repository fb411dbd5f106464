"""Runs a person's install command in a clean checkout, and caches what it makes, for every checkout of that tree.

With the same lock files, manifests and command, the base's result serves the change too if it contains only dependencies.
Knows no run and no tests.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from detent.errors import CannotTell
from detent.evidence.changes.dependencies import LOCKS
from detent.evidence.changes.projects import MANIFESTS
from detent.evidence.running.project_site import Installed
from detent.evidence.running.suite import StartProgram
from detent.git.checkout import clean_checkout
from detent.git.repo import Git
from detent.git.snapshot import BORROWED
from detent.world.furnish import PATIENCE
from detent.world.setups import FILES, as_made, caches, keep_made, place_of

DECIDES = (*LOCKS, *MANIFESTS, "*.gemspec", "*.csproj", ".npmrc", "Pipfile", ".python-version", ".nvmrc", ".tool-versions")
SHOWN = 15  # lines of a failed command's output


class InstallOrder(NamedTuple):
    """The install command, and how to run it."""

    command: str
    start: StartProgram
    env: Mapping[str, str]
    has: str  # its sandbox and network, in words
    wanted: Callable[[], bool]


def install(git: Git, order: InstallOrder, tree: str, trusted: bool) -> Installed:
    """Install for a tree, or use the cache; CannotTell with the last lines if the command fails. `trusted`: the result may serve other trees."""
    about = ("install", order.command, order.env.get("PATH", ""), order.has)
    alone = place_of(git, sha256("\n".join([*about, tree]).encode("utf-8", "surrogateescape")).hexdigest())
    shared = caches(git, tree, about, "", DECIDES)
    for place in (*shared, alone):
        if (made := as_made(place)) is not None and (place == alone or _is_for_all(json.loads(made)["paths"])):
            os.utime(place)
            return Installed(place / FILES, tuple(json.loads(made)["paths"]))
    with clean_checkout(git, tree) as folder:
        _run(order, folder)
        paths = list(_made(folder, frozenset(git.run("ls-tree", "-r", "-z", "--name-only", tree).items)))
        place = shared[0] if trusted and shared and _is_for_all(paths) else alone
        keep_made(place, folder, paths, used_there=True)
    return Installed(place / FILES, tuple(paths))


def _run(order: InstallOrder, folder: Path) -> None:
    try:
        ran = order.start(["sh", "-c", order.command], folder, order.env, PATIENCE, order.wanted, ())
    except OSError as e:
        raise CannotTell(f"--install could not be started: {e.strerror}") from e
    if ran.exit_code != 0:
        how = "did not finish in time" if ran.timed_out else f"failed with exit code {ran.exit_code}"
        last = "\n".join(ran.output.strip().splitlines()[-SHOWN:])
        raise CannotTell(f"--install `{order.command}` {how} ({order.has}):\n{last}")


def _is_for_all(paths: list[str]) -> bool:
    """Whether only dependencies were made; anything built from sources belongs to one tree."""
    return all(path.rpartition("/")[2] in BORROWED for path in paths)


def _made(folder: Path, known: frozenset[str]) -> Iterator[str]:
    """The paths in a checkout that are not in its tree; a new folder is one entry."""
    above = {"/".join(parts[:end]) for path in known for parts in [path.split("/")] for end in range(1, len(parts))}
    todo = [""]
    while todo:
        at = todo.pop()
        with os.scandir(folder / at) as entries:
            for entry in sorted(entries, key=lambda each: each.name):
                path = f"{at}/{entry.name}" if at else entry.name
                if path in above and entry.is_dir(follow_symlinks=False):
                    todo.append(path)
                elif path not in known:
                    yield path
