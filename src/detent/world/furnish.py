"""Furnishing a workspace: where the work of a child begins, what git ignores and the work needs is copied, and the project's set-up runs. Done once for a workspace.

What a set-up makes is kept by the lock files it was made for, so that the next workspace gets a copy of it. Knows no run and no state.
"""

import json
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from detent.door import AnyRun
from detent.effects.catalogue import Ways
from detent.errors import TESTS, Away, CannotTell, DetentError
from detent.evidence.runners.build_caches import for_agents
from detent.evidence.running.project_site import copy_as_is, lend_version_files
from detent.git.commits import main_branch, short, tip_of
from detent.git.repo import Git
from detent.git.workspace import borrow
from detent.storage.state import keep, kept
from detent.world.known_runs import RunConfig
from detent.world.setups import MADE, brought, caches, keep_made

PATIENCE = 1800.0  # seconds for a set-up


def furnish_checkout(git: Git, config: RunConfig, folder: Path) -> None:
    """Lay into a clean checkout what its project needs beside dependencies, which are lent: copies, and what a set-up made for the same lock files."""
    command, copies = config.settings.get("workspace.setup", ""), json.loads(config.settings.get("workspace.copy", "") or "[]")
    lay_copies(git, config.origin, copies, folder)
    places = _caches(git, config, command, kept(_mark(git)) or "") if command else []
    there = [cache for cache in places if kept(cache / MADE) is not None]
    if there and not brought(there, folder):
        raise CannotTell(f"the setup kept in {there[0]} changed since it was created; remove that folder and start a new run")


def furnish(git: Git, config: RunConfig, origin: Path, env: Mapping[str, str], wanted: Callable[[], bool]) -> None:
    """Make a fresh checkout ready to be worked in; `origin` is the person's own. CannotTell if it cannot be. Doing it again changes nothing."""
    command, copies = config.settings.get("workspace.setup", ""), json.loads(config.settings.get("workspace.copy", "") or "[]")
    mark = _mark(git)
    if not command:
        borrow(config.home, git.place.root)
        lend_version_files(config.home, git.place.root, lambda path: _is_ignored(git, path))
    if mark.exists() or not (command or copies):
        return
    lay_copies(git, origin, copies, git.place.root)
    own = _not_landed(git, config.ways) if command else ""
    if command:
        _set_up(git, config, command, _caches(git, config, command, own), env, wanted)
    keep(mark, own)


def _mark(git: Git) -> Path:
    """Says that a workspace is furnished, and which tree its set-up is for alone."""
    return git.place.git_dir / "detent" / "furnished"


def _not_landed(git: Git, ways: Ways) -> str:
    """The tree of a checkout that main does not have; empty if it has it. What agents wrote may do anything in a set-up, so that is for itself."""
    try:
        main = main_branch(git, ways.main)
    except DetentError:
        return git.tree("HEAD")
    mains = (main, f"refs/remotes/{ways.remote}/{short(main)}")
    landed = any(git.resolve(each) and git.call("merge-base", "--is-ancestor", "HEAD", each).code == 0 for each in mains)
    return "" if landed else git.tree("HEAD")


def lay_copies(git: Git, origin: Path, names: Iterable[str], to: Path) -> None:
    """Copy what names stand for in a person's checkout. What git does not ignore would become part of every change, so it is refused."""
    for source in (source for name in names for source in named_in(origin, name)):
        path = str(source.relative_to(origin))
        target = to / path
        if not os.path.lexists(source) or os.path.lexists(target):
            continue
        if not _is_ignored(git, path):
            raise CannotTell(
                f"[workspace] copy names {path}, which git does not ignore, so it would become part of every change; commit it, or ignore it"
            )
        copy_as_is(source, target)


def _is_ignored(git: Git, path: str) -> bool:
    return git.call("check-ignore", "-q", "--no-index", "--", path).code == 0


def named_in(origin: Path, name: str) -> list[Path]:
    """What a name of [workspace] copy stands for."""
    return sorted(origin.glob(name)) if any(c in name for c in "*?[") else [origin / name]


# -- the set-up --------------------------------------------------------------------------------------------------------------


def _set_up(git: Git, config: RunConfig, command: str, places: list[Path], env: Mapping[str, str], wanted: Callable[[], bool]) -> None:
    """Run the project's set-up. Where it does not work, the test environment is away: what it needs is seldom in the project."""
    if brought(places, git.place.root):
        return
    before = _ignored(git)
    try:
        ran = config.start(["sh", "-c", command], git.place.root, for_agents(env), PATIENCE, wanted)
    except OSError as e:
        raise Away(TESTS, f"[workspace] setup could not be started: {e.strerror}") from e
    if ran.exit_code != 0:
        how = "did not finish in time" if ran.timed_out else f"failed with exit code {ran.exit_code}"
        raise Away(TESTS, f"[workspace] setup (`{command}`) {how}:\n{ran.output[-2000:]}")
    if places:
        keep_made(places[-1], git.place.root, [path for path in _ignored(git) if path not in before])


def _caches(git: Git, config: RunConfig, command: str, own: str) -> list[Path]:
    return caches(git, "HEAD", (command, config.suite.path, config.suite.sandbox.name), own)


def _ignored(git: Git) -> list[str]:
    """What git ignores in a checkout; a folder that is ignored as a whole is one entry."""
    return [path.rstrip("/") for path in git.run("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory").items]


def start_of(git: Git, root: str, base: str, tree: str) -> str:
    """The newest commit of the session with a tree; where it was never committed, the one the session began from."""
    made = git.run("log", "--format=%H %T", f"{base}..{tip_of(git, root, base)}", "--").text.splitlines()
    return next((line.split()[0] for line in made if line.split()[1] == tree), base)


def begin_tree(run: AnyRun) -> str:
    """What stands in a new workspace of a task: what it has proved, or earlier work that is to be fixed, or what it begins from."""
    data = run.data
    fresh = data.good_tree in ("", data.start_tree)
    return str(data.laid or data.start_tree if fresh else data.good_tree)
