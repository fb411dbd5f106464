"""The anchor: the number and hash of a journal's last row, kept outside the repository in the user's state folder.

It reveals a journal that was cut, swapped, copied here or removed. It is written after each append, so it may lag but is never ahead. It
is signed with the key beside it, which does not stop someone who can read that key. Knows these values, not the journal's rows.

Two slots of one sector each are overwritten in turn, so one of them is always whole. Replacing the file instead would change its folder,
which every durable append would then have to flush as well (measured: 1.4 to 4.5 times as slow).
"""

import hashlib
import hmac
import json
import mmap
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

from detent.errors import DetentError
from detent.storage.state import own_secret, state_dir

SLOT = 512  # bytes
SIZE = 2 * SLOT
KEY = "journal-key"
TRIES = 20  # to read a file while it is being written


class Anchor(NamedTuple):
    """How far a journal had come. `since`: the last event that is accepted without a signature, because a person vouched for it."""

    journal: str
    n: int
    hash: str
    since: int = 0


def journal_key() -> Callable[[], str]:
    """A function that returns the key that signs journals, read once on its first call."""
    return cache(lambda: own_secret(KEY))


def anchor_file(journal: Path) -> Path:
    """The anchor of the journal at this path. A copy elsewhere, or a folder put in its place, does not get the same one."""
    return anchor_of(f"{journal.parent.parent.resolve()}\n{journal.name}")


def anchor_of(key: str) -> Path:
    """The anchor file for this key."""
    return state_dir() / "anchors" / f"{hashlib.sha256(key.encode()).hexdigest()[:24]}.json"


def _signed(key: str, anchor: Anchor) -> str:
    text = f"{anchor.journal} {anchor.n} {anchor.hash} {anchor.since}"
    return hmac.digest(key.encode(), text.encode(), "sha256").hex()[:32]


def read_anchor(file: Path) -> Anchor | None:
    """The newer valid slot; None if there is no anchor, or none that is valid."""
    for _ in range(TRIES):
        data = _bytes_of(file)
        if len(data) < SIZE or not data.strip():
            return None
        key = own_secret(KEY)
        found = [anchor for at in (0, SLOT) if (anchor := _slot(key, data[at : at + SLOT])) is not None]
        if found:
            return max(found, key=lambda anchor: anchor.n)
    return None


def _slot(key: str, data: bytes) -> Anchor | None:
    try:
        raw = json.loads(data)
        anchor = Anchor(str(raw["journal"]), int(raw["n"]), str(raw["hash"]), int(raw["since"]))
        return anchor if hmac.compare_digest(str(raw["check"]).encode(), _signed(key, anchor).encode()) else None
    except (ValueError, KeyError, TypeError):
        return None


def _bytes_of(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return b""
    except OSError as e:
        raise DetentError(f"the journal's anchor cannot be read: {e}", f"check the permissions of {file.parent}") from e


class AnchorFile:
    """The anchor for writing: opened before an event is committed, overwritten after it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._fd, self._key = -1, ""
        self._memory: mmap.mmap | None = None  # mapped: a plain write would update the file's timestamp and make every commit wait for it

    def ready(self, known: Anchor) -> None:
        """Open the file; a new one starts with what is known so far. If it cannot be written, this fails before the event is recorded."""
        try:
            if self._fd >= 0 and (now := os.fstat(self._fd)).st_nlink and now.st_size >= SIZE:
                return
            self.close()
            self._fd = self._open()
            if fresh := os.fstat(self._fd).st_size < SIZE:
                self._write(b"")  # allocates the blocks, so that a full disk is noticed now
            self._memory = mmap.mmap(self._fd, SIZE)
            if fresh or read_anchor(self.path) is None:
                self.write(known)
                self._memory.flush()
                os.fsync(self._fd)  # once: a journal with events but no anchor would be refused
        except OSError as e:
            raise DetentError(f"the journal's anchor cannot be written ({e}); nothing was changed", f"look at {self.path.parent}") from e

    def _open(self) -> int:
        try:
            return os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
        except FileNotFoundError:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            return os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)

    def write(self, anchor: Anchor) -> None:
        """Overwrite the older of the two slots."""
        assert self._memory is not None, "ready() comes first"
        self._key = self._key or own_secret(KEY)
        fields = {**anchor._asdict(), "check": _signed(self._key, anchor)}
        at = anchor.n % 2 * SLOT
        self._memory[at : at + SLOT] = json.dumps(fields).encode().ljust(SLOT)

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


def put_anchor(file: Path, anchor: Anchor) -> None:
    """Replace the anchor, whatever was there."""
    file.unlink(missing_ok=True)
    made = AnchorFile(file)
    made.ready(anchor)
    made.close()
