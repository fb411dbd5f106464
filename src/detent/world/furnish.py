"""Prepares a workspace once: copies ignored files that the work needs ([workspace] copy), and runs the project's setup command.

What a setup makes is cached by the lock files, so that the next workspace gets a copy. Also where the work of a child begins.
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
from detent.storage.state import read_sealed, write_sealed
from detent.world.known_runs import RunConfig
from detent.world.setups import MADE, brought, caches, keep_made

PATIENCE = 1800.0  # seconds for the setup command


def furnish_checkout(git: Git, config: RunConfig, folder: Path) -> None:
    """Prepare a clean checkout for tests: configured copies, and the cached setup for the same lock files. Dependencies are linked elsewhere."""
    command, copies = config.settings.get("workspace.setup", ""), json.loads(config.settings.get("workspace.copy", "") or "[]")
    lay_copies(git, config.origin, copies, folder)
    places = _caches(git, config, command, read_sealed(_mark(git)) or "") if command else []
    there = [cache for cache in places if read_sealed(cache / MADE) is not None]
    if there and not brought(there, folder):
        raise CannotTell(f"the setup kept in {there[0]} changed since it was created; remove that folder and start a new run")


def furnish(git: Git, config: RunConfig, origin: Path, env: Mapping[str, str], wanted: Callable[[], bool]) -> None:
    """Prepare a workspace for work; `origin`: the person's checkout. CannotTell if that fails. Idempotent."""
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
    write_sealed(mark, own)


def _mark(git: Git) -> Path:
    """The file that marks a workspace as prepared, and names the tree if its setup is valid only for that one."""
    return git.place.git_dir / "detent" / "furnished"


def _not_landed(git: Git, ways: Ways) -> str:
    """The tree of HEAD if main does not have it, else empty. Agents' unlanded code may do anything in a setup, so its cache is not shared."""
    try:
        main = main_branch(git, ways.main)
    except DetentError:
        return git.tree("HEAD")
    mains = (main, f"refs/remotes/{ways.remote}/{short(main)}")
    landed = any(git.resolve(each) and git.call("merge-base", "--is-ancestor", "HEAD", each).code == 0 for each in mains)
    return "" if landed else git.tree("HEAD")


def lay_copies(git: Git, origin: Path, names: Iterable[str], to: Path) -> None:
    """Copy the named files of a person's checkout. Refuses files that git does not ignore: they would become part of every change."""
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
    """The files that an entry of [workspace] copy names, which may be a glob."""
    return sorted(origin.glob(name)) if any(c in name for c in "*?[") else [origin / name]


# -- the setup ---------------------------------------------------------------------------------------------------------------


def _set_up(git: Git, config: RunConfig, command: str, places: list[Path], env: Mapping[str, str], wanted: Callable[[], bool]) -> None:
    """Run the project's setup command, or use its cache. A failure is an outage of the test environment: its cause is seldom in the project."""
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
    """The ignored paths of a checkout; a wholly ignored folder is one entry."""
    return [path.rstrip("/") for path in git.run("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory").items]


def start_of(git: Git, root: str, base: str, tree: str) -> str:
    """The newest commit of the session with this tree, or the session's base if it was never committed."""
    made = git.run("log", "--format=%H %T", f"{base}..{tip_of(git, root, base)}", "--").text.splitlines()
    return next((line.split()[0] for line in made if line.split()[1] == tree), base)


def begin_tree(run: AnyRun) -> str:
    """The tree of a new task workspace: what the task has proved, else earlier work to fix, else its start."""
    data = run.data
    fresh = data.good_tree in ("", data.start_tree)
    return str(data.laid or data.start_tree if fresh else data.good_tree)
