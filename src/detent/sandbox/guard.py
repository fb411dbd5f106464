"""Paths that must not change while a program runs. Owns the mounts that protect them, and placeholders for those that do not exist.

A file with a mount of its own cannot be replaced or removed, but a folder above it could be renamed and recreated, so every folder in
between is pinned by a mount too. A missing path is an empty read-only folder meanwhile, so programs that look for a file of that name find
none. A symlink cannot be mounted over; it is checked afterwards and restored.
"""

import contextlib
import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from detent.errors import CannotTell

PLACEHOLDER = 0o1511  # an unusual mode that marks a folder as our placeholder; removed when no run needs it


class Held(NamedTuple):
    """Mounts by path: `pins` keep folders in place, `guards` keep contents unchanged."""

    pins: dict[Path, list[str]]
    guards: dict[Path, list[str]]


@contextmanager
def hold(paths: tuple[Path, ...], roots: tuple[Path, ...]) -> Iterator[Held]:
    """Protect paths below writable folders. Afterwards the folders look as if nothing had been there."""
    with ExitStack() as stack:
        held = Held({}, {})
        for path in sorted(set(paths)):
            root = next((root for root in roots if path != root and path.is_relative_to(root)), None)
            if root is None:
                raise CannotTell(f"{path} cannot be guarded: it is in no folder that can be written")
            for folder in reversed([p for p in path.parents if p != root and p.is_relative_to(root)]):
                stack.enter_context(_folder(folder))
                held.pins[folder] = ["--bind", str(folder), str(folder)]
            held.guards[path] = stack.enter_context(_pinned(path))
            if path.is_symlink() and (target := path.resolve()).exists() and any(target != r and target.is_relative_to(r) for r in roots):
                held.guards.setdefault(target, ["--ro-bind", str(target), str(target)])
        yield held


@contextmanager
def _folder(path: Path) -> Iterator[None]:
    """Make sure that a folder above a guarded path exists and is no symlink. One made here is removed again if it stayed empty."""
    made = False
    with contextlib.suppress(FileExistsError):
        path.mkdir()
        made = True
    if not stat.S_ISDIR(path.lstat().st_mode):
        raise CannotTell(f"what is below {path} cannot be guarded: it is not a folder")
    try:
        yield
    finally:
        if made:
            with contextlib.suppress(OSError):
                path.rmdir()


@contextmanager
def _pinned(path: Path) -> Iterator[list[str]]:
    fd = _claim(path)
    try:
        if fd is not None:
            yield ["--perms", "0555", "--tmpfs", str(path), "--remount-ro", str(path)]
        elif path.is_symlink():
            with _unchanged(path):
                yield []
        else:
            yield ["--ro-bind", str(path), str(path)]
    finally:
        if fd is not None:
            _give_back(path, fd)


def _claim(path: Path) -> int | None:
    """Create the placeholder of a missing path, share another run's, or take over one left by a killed run. None: the path exists."""
    for _ in range(100):
        with contextlib.suppress(FileExistsError):
            path.mkdir(mode=0o700)
            path.chmod(PLACEHOLDER)
        with contextlib.suppress(FileNotFoundError):  # another run has just removed it
            mode = path.lstat().st_mode
            if not stat.S_ISDIR(mode) or stat.S_IMODE(mode) != PLACEHOLDER:
                return None
            fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            fcntl.flock(fd, fcntl.LOCK_SH)
            if path.exists() and path.lstat().st_ino == os.fstat(fd).st_ino:
                return fd
            os.close(fd)
    raise CannotTell(f"{path} cannot be guarded: it keeps changing")


def _give_back(path: Path, fd: int) -> None:
    """Release a placeholder; the last run that used it removes it."""
    with contextlib.suppress(OSError):
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        path.rmdir()
    os.close(fd)


@contextmanager
def _unchanged(path: Path) -> Iterator[None]:
    target = os.readlink(path)
    try:
        yield
    finally:
        if not path.is_symlink() or os.readlink(path) != target:
            if os.path.lexists(path):
                path.rename(path.with_name(f"{path.name}.changed-{os.urandom(4).hex()}"))
            path.symlink_to(target)
            raise CannotTell(f"{path} is guarded, and the program changed it; it was restored")
