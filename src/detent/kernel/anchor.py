"""The anchor: the journal's last (number, hash), kept outside it in the user's state dir.

It shows a journal that was cut, swapped or removed. It is written after each append and never ahead of it, so it may lag; it is
no seal against someone with the user's rights. Knows the two values, not the journal's form.

It is written over in place, in one sector, and carries a check of its own: a new file each time would change folders, and every
durable append would have to wait until those are on the disk too (measured: 1.4 to 4.5 times as long).
"""

import hashlib
import json
import mmap
import os
import zlib
from pathlib import Path
from typing import NamedTuple

from detent.errors import DetentError

SIZE = 256  # bytes of the file


class Anchor(NamedTuple):
    """How far a journal had come."""

    journal: str
    n: int
    hash: str


def state_dir() -> Path:
    """Where this user's programs keep their state."""
    home = os.environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    return Path(home) / "detent"


def anchor_file(journal: Path) -> Path:
    """The anchor of a journal, by the path of its folder and the folder's own number, so that a new folder has a new anchor."""
    folder = journal.parent.parent
    return anchor_of(f"{folder.resolve()}\n{folder.stat().st_ino if folder.exists() else 0}\n{journal.name}")


def anchor_of(key: str) -> Path:
    """The anchor of the journal that has this key and no other."""
    return state_dir() / "anchors" / f"{hashlib.sha256(key.encode()).hexdigest()[:24]}.json"


def _check(anchor: Anchor) -> int:
    return zlib.crc32(f"{anchor.journal} {anchor.n} {anchor.hash}".encode())


def read_anchor(file: Path) -> Anchor | None:
    """The anchor, or None if there is none (or one that says nothing, as it is when it was read while it was written)."""
    try:
        raw = json.loads(file.read_bytes())
        anchor = Anchor(str(raw["journal"]), int(raw["n"]), str(raw["hash"]))
        return anchor if raw["check"] == _check(anchor) else None
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None
    except OSError as e:
        raise DetentError(f"the journal's anchor cannot be read: {e}", f"look at the rights of {file.parent}") from e


class AnchorFile:
    """The anchor as it is written: opened before an event is committed, written over after it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._fd = -1
        self._memory: mmap.mmap | None = None  # the file in memory: a plain write would make every commit wait for its new time stamp

    def ready(self) -> None:
        """Have the file open. A state dir that cannot be written stops the work before it is recorded."""
        try:
            if self._fd >= 0 and (now := os.fstat(self._fd)).st_nlink and now.st_size >= SIZE:
                return
            self.close()
            self._fd = self._open()
            if os.fstat(self._fd).st_size < SIZE:
                self._write(b"")  # takes its place on the disk, so that a full one is noticed now
            self._memory = mmap.mmap(self._fd, SIZE)
        except OSError as e:
            raise DetentError(f"the journal's anchor cannot be written ({e}); nothing was changed", f"look at {self.path.parent}") from e

    def _open(self) -> int:
        try:
            return os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
        except FileNotFoundError:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            return os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)

    def write(self, anchor: Anchor) -> None:
        """Write the anchor over the one before it."""
        assert self._memory is not None, "ready() comes first"
        text = f'{{"journal": "{anchor.journal}", "n": {anchor.n}, "hash": "{anchor.hash}", "check": {_check(anchor)}}}'
        self._memory[:] = text.encode().ljust(SIZE)

    def _write(self, data: bytes) -> None:
        if os.pwrite(self._fd, data.ljust(SIZE), 0) != SIZE:
            raise OSError("it was written in part only")

    def close(self) -> None:
        if self._memory is not None:
            self._memory.close()
            self._memory = None
        if self._fd >= 0:
            os.close(self._fd)
        self._fd = -1
