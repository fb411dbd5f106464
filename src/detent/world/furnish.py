"""Furnishing a workspace: what git ignores and the work needs is copied, and the project's set-up runs. Done once for a workspace.

What a set-up makes is kept by the lock files it was made for, so that the next workspace gets a copy of it. Knows no run and no state.
"""

import hashlib
import json
import os
import shutil
import stat
from collections.abc import Callable, Mapping
from fnmatch import fnmatch
from pathlib import Path

from detent.effects.merge import Ways
from detent.errors import CannotTell, DetentError
from detent.evidence.builds import digest, looks
from detent.evidence.runners.kept import for_agents
from detent.git.commits import main_branch, short
from detent.git.repo import Git
from detent.git.workspace import borrow
from detent.kernel.seal import keep, kept
from detent.world.kit import Kit

LOCKS = (
    "package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock", "bun.lockb", "uv.lock", "poetry.lock", "pdm.lock",
    "Pipfile.lock", "requirements*.txt", "Cargo.lock", "go.sum", "Gemfile.lock", "composer.lock",
)  # fmt: skip
PATIENCE = 1800.0  # seconds for a set-up
KEPT = 4  # how many set-ups are kept; the one that was used longest ago goes first
SMALL = 100_000
MADE = "made.json"  # what a kept set-up consists of, under a seal


def furnish_checkout(git: Git, kit: Kit, folder: Path) -> None:
    """Lay into a clean checkout what its project needs beside dependencies, which are lent: copies, and what a set-up made for the same lock files."""
    command, copies = kit.settings.get("workspace.setup", ""), json.loads(kit.settings.get("workspace.copy", "") or "[]")
    for name in copies:
        _copy(git, kit.origin, name, folder)
    caches = _caches(git, kit, command, kept(_mark(git)) or "") if command else []
    there = [cache for cache in caches if kept(cache / MADE) is not None]
    if there and not _brought(there, folder):
        raise CannotTell(f"the set-up that is kept in {there[0]} was changed since it was made; remove that folder and start a new run")


def furnish(git: Git, kit: Kit, origin: Path, env: Mapping[str, str], wanted: Callable[[], bool]) -> None:
    """Make a fresh checkout ready to be worked in; `origin` is the person's own. CannotTell if it cannot be. Doing it again changes nothing."""
    command, copies = kit.settings.get("workspace.setup", ""), json.loads(kit.settings.get("workspace.copy", "") or "[]")
    mark = _mark(git)
    if not command:
        borrow(kit.home, git.place.root)
    if mark.exists() or not (command or copies):
        return
    for name in copies:
        _copy(git, origin, name, git.place.root)
    own = _not_landed(git, kit.ways) if command else ""
    if command:
        _set_up(git, kit, command, _caches(git, kit, command, own), env, wanted)
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


def _copy(git: Git, origin: Path, name: str, to: Path) -> None:
    """Copy what a name stands for in a person's checkout. What git does not ignore would become part of every change, so it is refused."""
    for source in sorted(origin.glob(name)) if any(c in name for c in "*?[") else [origin / name]:
        path = str(source.relative_to(origin))
        target = to / path
        if not os.path.lexists(source) or os.path.lexists(target):
            continue
        if git.call("check-ignore", "-q", "--no-index", "--", path).code != 0:
            raise CannotTell(
                f"[workspace] copy names {path}, which git does not ignore: it would become part of every change; commit it, or ignore it"
            )
        _put(source, target)


def _put(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir() and not source.is_symlink():
        shutil.copytree(source, target, symlinks=True)
    else:
        shutil.copy2(source, target, follow_symlinks=False)


# -- the set-up --------------------------------------------------------------------------------------------------------------


def _set_up(git: Git, kit: Kit, command: str, caches: list[Path], env: Mapping[str, str], wanted: Callable[[], bool]) -> None:
    if _brought(caches, git.place.root):
        return
    before = _ignored(git)
    try:
        ran = kit.start(["sh", "-c", command], git.place.root, for_agents(env), PATIENCE, wanted)
    except OSError as e:
        raise CannotTell(f"[workspace] setup could not be started: {e.strerror}") from e
    if ran.exit_code != 0:
        how = "did not end in time" if ran.timed_out else f"failed with exit code {ran.exit_code}"
        raise CannotTell(f"[workspace] setup (`{command}`) {how}:\n{ran.output[-2000:]}")
    if caches:
        _keep(caches[-1], git.place.root, [path for path in _ignored(git) if path not in before])


def _caches(git: Git, kit: Kit, command: str, own: str) -> list[Path]:
    """Where what a set-up makes is looked for, and last where it is kept; none where no lock file says what it depends on.

    What was made of main's own files serves every checkout with the same lock files. What was made of any other tree (`own`) serves that tree alone.
    """
    files = [line.split("\t", 1) for line in git.run("ls-tree", "-r", "-z", "HEAD").items]
    locks = [f"{about} {path}" for about, path in files if any(fnmatch(path.rpartition("/")[2], lock) for lock in LOCKS)]
    words = [command, kit.suite.path, kit.suite.sandbox.name, *sorted(locks)]
    keys = [hashlib.sha256("\n".join([*words, *more]).encode("utf-8", "surrogateescape")) for more in ([], [own]) if more != [""]]
    return [git.place.common_dir / "detent" / "setups" / key.hexdigest()[:32] for key in keys] if locks else []


def _ignored(git: Git) -> list[str]:
    """What git ignores in a checkout; a folder that is ignored as a whole is one entry."""
    return [path.rstrip("/") for path in git.run("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory").items]


def _keep(cache: Path, root: Path, paths: list[str]) -> None:
    """Keep copies of what was made. Whoever was first, wins; the copies are the same."""
    scratch = cache.with_name(f".{cache.name}.{os.getpid()}")
    shutil.rmtree(scratch, ignore_errors=True)
    (scratch / "files").mkdir(parents=True)
    for path in paths:
        _put(root / path, scratch / "files" / path)
    if _as_made(cache) is None:
        shutil.rmtree(cache, ignore_errors=True)  # half of one, or not as it was made
    try:
        scratch.rename(cache)
        keep(cache / MADE, json.dumps({"root": str(root), "paths": paths, "looks": digest(looks(cache / "files"))}))
    except OSError:
        shutil.rmtree(scratch, ignore_errors=True)
    for old in sorted((c for c in cache.parent.iterdir() if not c.name.startswith(".")), key=lambda c: c.stat().st_mtime)[:-KEPT]:
        shutil.rmtree(old, ignore_errors=True)


def _as_made(cache: Path) -> str | None:
    """What a kept set-up consists of, if every file of it is as it was made."""
    made = kept(cache / MADE)
    return made if made is not None and json.loads(made).get("looks") == digest(looks(cache / "files")) else None


def _brought(caches: list[Path], root: Path) -> bool:
    """Whether one of these was there as it was made, and lies in the checkout now."""
    for cache in caches:
        if (made := _as_made(cache)) is not None:
            _bring(cache, root, made)
            return True
    return False


def _bring(cache: Path, root: Path, told: str) -> None:
    """Lay what was kept into a checkout. Programs that name the folder they were made in get the new one."""
    made = json.loads(told)
    os.utime(cache)
    for path in made["paths"]:
        if not os.path.lexists(root / path):
            _put(cache / "files" / path, root / path)
            _rename(root / path, made["root"].encode(), str(root).encode())


def _rename(path: Path, old: bytes, new: bytes) -> None:
    for folder, _, names in os.walk(path):
        for name in names if os.path.basename(folder) == "bin" else ():
            file = Path(folder) / name
            about = file.lstat()
            if stat.S_ISREG(about.st_mode) and about.st_size < SMALL and old in (text := file.read_bytes()):
                file.write_bytes(text.replace(old, new))
