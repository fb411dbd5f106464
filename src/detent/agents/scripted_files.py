"""Writing files for a script: only below the workspace, and never through a symlink. Knows no script."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from detent.errors import DetentError

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def write(workspace: Path, name: str, text: str, append: bool = False) -> None:
    """Write or append to a file. It is always replaced by a new file, so other hard links keep the old content."""
    with _folder(workspace, name, make=True) as (folder, last):
        old = _read(folder, last) if append else b""
        scratch = f".{last}.{os.getpid()}.new"
        fd = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644, dir_fd=folder)
        with os.fdopen(fd, "wb") as file:
            file.write(old + text.encode("utf-8", "surrogateescape"))
        os.replace(scratch, last, src_dir_fd=folder, dst_dir_fd=folder)


def delete(workspace: Path, name: str) -> None:
    """Delete a file; do nothing if it is missing."""
    with contextlib.suppress(FileNotFoundError), _folder(workspace, name, make=False) as (folder, last):
        os.unlink(last, dir_fd=folder)


def _read(folder: int, name: str) -> bytes:
    try:
        fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except FileNotFoundError:
        return b""
    with os.fdopen(fd, "rb") as file:
        return file.read()


@contextlib.contextmanager
def _folder(workspace: Path, name: str, make: bool) -> Iterator[tuple[int, str]]:
    """The open folder of a file, and the file's name. Each part is opened relative to its parent and must be a real folder."""
    *parts, last = _parts(name)
    fd = os.open(workspace, FOLDER)
    try:
        for part in parts:
            if make:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(part, dir_fd=fd)
            below = os.open(part, FOLDER, dir_fd=fd)
            os.close(fd)
            fd = below
        yield fd, last
    except FileNotFoundError:
        raise
    except OSError as e:
        raise DetentError(f"the script cannot write {name}: {e.strerror}", "name a file below the workspace, through no link") from e
    finally:
        os.close(fd)


def _parts(name: str) -> tuple[str, ...]:
    path = PurePosixPath(name)
    if not path.parts or path.is_absolute() or ".." in path.parts or path.parts[0] in ("~", ".git") or any(ord(char) < 32 for char in name):
        raise DetentError(f"the script names {name!r}, which is not a file below the workspace", "name it from the workspace's root")
    return path.parts
