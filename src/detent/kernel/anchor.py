"""The anchor: the journal's last (number, hash), kept outside it in the user's state dir.

It shows a journal that was cut, swapped or removed. It is written after each append and never ahead of it, so it may lag; it is
no seal against someone with the user's rights. Knows the two values, not the journal's form.

It is written over in place, in one sector, and carries a check of its own: a new file each time would change folders, and every
durable append would have to wait until those are on the disk too (measured: three times as long).
"""

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
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
    key = f"{folder.resolve()}\n{folder.stat().st_ino if folder.exists() else 0}\n{journal.name}"
    return state_dir() / "anchors" / f"{hashlib.sha256(key.encode()).hexdigest()[:24]}.json"


def _check(anchor: Anchor) -> str:
    return hashlib.sha256("\n".join(map(str, anchor)).encode()).hexdigest()[:16]


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


@contextmanager
def open_anchor(file: Path) -> Iterator[int]:
    """The anchor, ready to be written. A state dir that cannot be written stops the work before it is recorded."""
    try:
        try:
            fd = os.open(file, os.O_WRONLY | os.O_CREAT, 0o600)
        except FileNotFoundError:
            file.parent.mkdir(parents=True, exist_ok=True)
            fd = os.open(file, os.O_WRONLY | os.O_CREAT, 0o600)
        if os.fstat(fd).st_size < SIZE:
            _write(fd, b"")  # takes its place on the disk, so that a full one is noticed now
    except OSError as e:
        raise DetentError(f"the journal's anchor cannot be written ({e}); nothing was changed", f"look at {file.parent}") from e
    try:
        yield fd
    finally:
        os.close(fd)


def write_anchor(fd: int, anchor: Anchor) -> None:
    """Write the anchor over the one before it."""
    try:
        _write(fd, json.dumps({**anchor._asdict(), "check": _check(anchor)}).encode())
    except OSError as e:
        raise DetentError(f"event {anchor.n} is in the journal, but its anchor could not be written: {e}", "look at the disk") from e


def _write(fd: int, data: bytes) -> None:
    if os.pwrite(fd, data.ljust(SIZE), 0) != SIZE:
        raise OSError("it was written in part only")
