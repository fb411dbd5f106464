"""A cache of what setup commands made, keyed by lock files. Knows no run and no state."""

import hashlib
import json
import os
import shutil
import stat
from collections.abc import Iterable
from pathlib import Path

from detent.evidence.changes.dependencies import LOCKS, is_lock
from detent.evidence.runners.kept_builds import digest, looks
from detent.evidence.running.project_site import copy_as_is
from detent.git.repo import Git
from detent.storage.state import read_sealed, write_sealed

KEPT = 4  # cached setups; the least recently used goes first
SMALL = 100_000
MADE = "made.json"  # the sealed manifest of a cached setup
FILES = "files"


def caches(git: Git, tree: str, about: Iterable[str], own: str, names: Iterable[str] = LOCKS) -> list[Path]:
    """The cache folders to look in for a tree's setup; new results go into the last one. None without a lock file.

    `about`: the command and what else the setup depends on. Results of trusted files serve every checkout with the same lock
    files; those of another tree (`own`) serve that tree alone.
    """
    listed = tuple(names)
    files = [line.split("\t", 1) for line in git.run("ls-tree", "-r", "-z", tree).items]
    words = [*about, *sorted(f"{row} {path}" for row, path in files if is_lock(path, listed))]
    if len(words) == len([*about]):
        return []
    keys = [hashlib.sha256("\n".join([*words, *more]).encode("utf-8", "surrogateescape")) for more in ([], [own]) if more != [""]]
    return [place_of(git, key.hexdigest()) for key in keys]


def place_of(git: Git, key: str) -> Path:
    return git.place.common_dir / "detent" / "setups" / key[:32]


def keep_made(cache: Path, root: Path, paths: list[str], used_there: bool = False) -> None:
    """Store copies of what was made; the first process wins. `used_there`: the cache folder itself will be used, not copies of it."""
    scratch = cache.with_name(f".{cache.name}.{os.getpid()}")
    shutil.rmtree(scratch, ignore_errors=True)
    (scratch / FILES).mkdir(parents=True)
    for path in paths:
        copy_as_is(root / path, scratch / FILES / path)
        if used_there:
            _rename(scratch / FILES / path, str(root).encode(), str(cache / FILES).encode())
    if as_made(cache) is None:
        shutil.rmtree(cache, ignore_errors=True)  # incomplete or changed
    try:
        scratch.rename(cache)
        write_sealed(cache / MADE, json.dumps({"root": str(root), "paths": paths, "looks": digest(looks(cache / FILES))}))
    except OSError:
        shutil.rmtree(scratch, ignore_errors=True)
    for old in sorted((c for c in cache.parent.iterdir() if not c.name.startswith(".")), key=lambda c: c.stat().st_mtime)[:-KEPT]:
        shutil.rmtree(old, ignore_errors=True)


def as_made(cache: Path) -> str | None:
    """The manifest of a cached setup, if none of its files has changed; else None."""
    made = read_sealed(cache / MADE)
    return made if made is not None and json.loads(made).get("looks") == digest(looks(cache / FILES)) else None


def brought(caches: list[Path], root: Path) -> bool:
    """Copy the first valid one of these into the checkout; whether there was one."""
    for cache in caches:
        if (made := as_made(cache)) is not None:
            _bring(cache, root, made)
            return True
    return False


def _bring(cache: Path, root: Path, record: str) -> None:
    """Copy a cached setup into a checkout, with absolute paths in it rewritten."""
    made = json.loads(record)
    os.utime(cache)
    for path in made["paths"]:
        if not os.path.lexists(root / path):
            copy_as_is(cache / FILES / path, root / path)
            _rename(root / path, made["root"].encode(), str(root).encode())


def _rename(path: Path, old: bytes, new: bytes) -> None:
    """Rewrite the folder in programs and .pth files, which contain absolute paths."""
    for folder, _, names in os.walk(path):
        for name in names if os.path.basename(folder) == "bin" else (name for name in names if name.endswith(".pth")):
            file = Path(folder) / name
            about = file.lstat()
            if stat.S_ISREG(about.st_mode) and about.st_size < SMALL and old in (text := file.read_bytes()):
                file.write_bytes(text.replace(old, new))
