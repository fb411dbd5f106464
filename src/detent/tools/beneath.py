"""Opening files below one folder and nowhere else: symlinks are never followed, and there is no gap between check and use.

The kernel resolves a path in one step (openat2), or else each folder is opened relative to its parent. Owns opening, reading and replacing
files. Knows nothing of tools, nor of which paths are allowed.
"""

import contextlib
import ctypes
import errno
import os
import secrets
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from detent.errors import ToolError
from detent.storage.machine import has

MOST = 16 << 20  # bytes read of a file
READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
ONLY_LOOK = getattr(os, "O_PATH", 0)  # Linux; elsewhere folders are opened for reading
LOOK = (ONLY_LOOK or os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY) | os.O_CLOEXEC
FOLDER = LOOK | os.O_DIRECTORY
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
OPENAT2 = 437  # the same number on every architecture
NO_MAGICLINKS, NO_SYMLINKS, BENEATH = 0x02, 0x04, 0x08

Opener = Callable[[int, str, int], int]  # (folder, path, flags) -> file descriptor; OSError

SENTENCES = {
    errno.ENOENT: "{path} does not exist. Glob finds files by name.",
    errno.ELOOP: "{path} is a symbolic link, or one is on the way to it. Links are not followed.",
    errno.EXDEV: "{path} leads out of the workspace.",
    errno.ENOTDIR: "{path} cannot exist: a part of it is a file, not a folder.",
    errno.EISDIR: "{path} is a folder. Glob lists what is in it.",
    errno.ENXIO: "{path} is not a regular file (a pipe, socket or device), so it is not opened.",
    errno.ENAMETOOLONG: "{path} is too long for a path, or a name in it is.",
    errno.EACCES: "Permission denied for {path}.",
    errno.EPERM: "Permission denied for {path}.",
    errno.EROFS: "{path} cannot be written: the file system is read-only.",
    errno.ENOSPC: "{path} was not written: no space is left. The file is as it was.",
    errno.EDQUOT: "{path} was not written: no space is left. The file is as it was.",
}


class FileStamp(NamedTuple):
    """What identifies an unchanged file."""

    inode: int
    size: int
    changed: int  # ns


class FileContent(NamedTuple):
    """A file's bytes, up to a limit, and its stat when they were read."""

    data: bytes
    stat: os.stat_result

    @property
    def stamp(self) -> FileStamp:
        return stamp(self.stat)

    @property
    def whole(self) -> bool:
        return len(self.data) <= MOST


class Beneath(NamedTuple):
    """One folder. Every path is relative to it, without `..`; the empty path is the folder itself."""

    root: Path
    roots: tuple[str, ...]  # spellings of the folder's path
    opener: Opener

    def read(self, path: str) -> FileContent:
        """Read a regular file. Never blocks: a pipe is opened without waiting for its other end, and rejected."""
        with self._open(path, READ) as fd:
            return content(fd, path)

    def look(self, path: str) -> os.stat_result:
        """The stat of a path, without opening it for reading."""
        with self._open(path, LOOK) as fd:
            return os.fstat(fd)

    def is_folder(self, path: str) -> bool:
        return stat.S_ISDIR(self.look(path).st_mode)

    def those_there(self, paths: list[str]) -> list[str]:
        """Those of the paths that are regular files and reached without a symlink."""
        with file_trouble(""), _closing(os.open(self.root, FOLDER)) as root:
            return [path for path in paths if self._is_file(root, path)]

    def _is_file(self, root: int, path: str) -> bool:
        try:
            fd = self.opener(root, path, LOOK)
        except OSError:
            return False
        mode = os.fstat(fd).st_mode
        os.close(fd)
        return stat.S_ISREG(mode)

    def replace(self, path: str, data: bytes, expected: FileStamp | None = None) -> FileStamp:
        """Replace a file by a new one. The old one is never written to, so other hard links to it keep their content."""
        folder, _, name = path.rpartition("/")
        with file_trouble(path), self._folder(folder) as fd:
            old = _entry(fd, name)
            if expected and (old is None or stamp(old) != expected):
                raise ToolError(f"{path} changed while it was edited. Read it again, then edit it.")
            return _put(fd, name, data, old)

    @contextlib.contextmanager
    def _open(self, path: str, flags: int) -> Iterator[int]:
        with file_trouble(path), _closing(os.open(self.root, FOLDER)) as root, _closing(self.opener(root, path or ".", flags)) as fd:
            yield fd

    @contextlib.contextmanager
    def _folder(self, path: str) -> Iterator[int]:
        """An open folder, created where it is missing, each part relative to its parent."""
        fd = os.open(self.root, FOLDER)
        try:
            for part in path.split("/") if path else ():
                with contextlib.suppress(FileExistsError):
                    os.mkdir(part, dir_fd=fd)
                inner = by_walk(fd, part, FOLDER)
                os.close(fd)
                fd = inner
            yield fd
        finally:
            os.close(fd)


def by_openat2(folder: int, path: str, flags: int) -> int:
    """Have the kernel resolve the whole path, below the folder and without symlinks."""
    how = (ctypes.c_uint64 * 3)(flags, 0, BENEATH | NO_SYMLINKS | NO_MAGICLINKS)
    for _ in range(100):
        fd = _LIBC.syscall(ctypes.c_long(OPENAT2), ctypes.c_int(folder), os.fsencode(path), how, ctypes.c_size_t(ctypes.sizeof(how)))
        if fd >= 0:
            return int(fd)
        if ctypes.get_errno() not in (errno.EAGAIN, errno.EINTR):
            break
    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), path)


def by_walk(folder: int, path: str, flags: int) -> int:
    """Open each folder of the path relative to its parent, without symlinks."""
    *folders, name = path.split("/")
    here = os.dup(folder)
    try:
        for part in folders:
            inner = _step(here, part, FOLDER)
            os.close(here)
            here = inner
        return _step(here, name, flags)
    finally:
        os.close(here)


def _step(folder: int, name: str, flags: int) -> int:
    """Open one name in one folder. A symlink fails with ELOOP whatever the flags, as with openat2."""
    if name == "..":
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), name)
    try:
        fd = os.open(name, flags | os.O_NOFOLLOW, dir_fd=folder)
    except NotADirectoryError:
        with contextlib.suppress(FileNotFoundError):
            if stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name) from None
        raise
    if flags & ONLY_LOOK and stat.S_ISLNK(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name)
    return fd


def best_opener() -> Opener:
    """openat2 if the kernel has it and allows it, else the walk."""
    if not has("openat2"):
        return by_walk
    try:
        os.close(by_openat2(-100, ".", FOLDER))  # -100: the current folder
    except OSError:
        return by_walk
    return by_openat2


def content(fd: int, path: str) -> FileContent:
    """The content of an open file; OSError unless it is a regular one."""
    found = os.fstat(fd)
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EISDIR if stat.S_ISDIR(found.st_mode) else errno.ENXIO, "no regular file", path)
    parts, left, chunk = [], MOST + 1, min(found.st_size + 4096, 1 << 20)
    while left and (part := os.read(fd, min(chunk, left))):
        parts.append(part)
        left -= len(part)
    return FileContent(b"".join(parts), found)


def stamp(found: os.stat_result) -> FileStamp:
    return FileStamp(found.st_ino, found.st_size, found.st_mtime_ns)


@contextlib.contextmanager
def file_trouble(path: str) -> Iterator[None]:
    """Turn an OSError about a file into a sentence for the model."""
    try:
        yield
    except OSError as e:
        sentence = SENTENCES.get(e.errno or 0, "{path} cannot be used: " + (e.strerror or "unknown trouble") + ".")
        raise ToolError(sentence.format(path=path[:300] + "…" * (len(path) > 300) or "the workspace")) from e


@contextlib.contextmanager
def _closing(fd: int) -> Iterator[int]:
    try:
        yield fd
    finally:
        os.close(fd)


def _entry(folder: int, name: str) -> os.stat_result | None:
    """The regular file to be replaced; None if there is none. OSError for anything else."""
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if stat.S_ISREG(found.st_mode):
        return found
    kinds = {stat.S_IFDIR: errno.EISDIR, stat.S_IFLNK: errno.ELOOP}
    raise OSError(kinds.get(stat.S_IFMT(found.st_mode), errno.ENXIO), "no regular file", name)


def _put(folder: int, name: str, data: bytes, old: os.stat_result | None) -> FileStamp:
    temporary = f".detent-{secrets.token_hex(8)}"
    out = os.open(temporary, NEW, 0o666 if old is None else 0o600, dir_fd=folder)
    try:
        with _closing(out):
            _write(out, data)
            _keep_rights(out, old)
            new = os.fstat(out)
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary, dir_fd=folder)
        raise
    return stamp(new)


def _write(out: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(out, rest) :]


def _keep_rights(out: int, old: os.stat_result | None) -> None:
    if old is None:
        return
    if (old.st_uid, old.st_gid) != (os.geteuid(), os.getegid()):
        with contextlib.suppress(PermissionError):
            os.fchown(out, old.st_uid, old.st_gid)
    os.fchmod(out, stat.S_IMODE(old.st_mode) & 0o777)


_LIBC = ctypes.CDLL(None, use_errno=True)
