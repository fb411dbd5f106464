"""The anchor: the journal's last (number, hash), kept outside it in the user's state dir.

It shows a journal that was cut, swapped or removed. It is written after each append and never ahead of it, so it may lag; it is
no seal against someone with the user's rights. Knows the two values, not the journal's form.
"""

import hashlib
import json
import os
from pathlib import Path
from typing import NamedTuple


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


def read_anchor(file: Path) -> Anchor | None:
    """The anchor, or None if there is none that can be read."""
    try:
        raw = json.loads(file.read_text("utf-8"))
        return Anchor(str(raw["journal"]), int(raw["n"]), str(raw["hash"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write_anchor(file: Path, anchor: Anchor) -> None:
    """Replace the anchor as a whole. A state dir that cannot be written stops the work: unrecorded work is not done."""
    scratch = file.with_name(f"{file.name}.{os.getpid()}")
    data = json.dumps(anchor._asdict()).encode()
    try:
        fd = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    except FileNotFoundError:
        file.parent.mkdir(parents=True, exist_ok=True)
        fd = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        os.write(fd, data)
    finally:
        os.close(fd)
    os.replace(scratch, file)
