"""The anchor: the journal's last (number, hash), kept outside it in the user's state dir.

It shows a journal that was cut, swapped or removed. It is written after each append and never ahead of it, so it may lag; it is
no seal against someone with the user's rights. Knows the two values, not the journal's form.
"""

import hashlib
import json
import os
import threading
from pathlib import Path
from typing import NamedTuple

from detent.errors import DetentError


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
    """The anchor, or None if there is none (or one that says nothing, as a power cut can leave it)."""
    try:
        raw = json.loads(file.read_text("utf-8"))
        return Anchor(str(raw["journal"]), int(raw["n"]), str(raw["hash"]))
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None
    except OSError as e:
        raise DetentError(f"the journal's anchor cannot be read: {e}", f"look at the rights of {file.parent}") from e


def draft_anchor(file: Path, anchor: Anchor) -> Path:
    """Write the next anchor beside the present one. A state dir that cannot be written stops the work before it is recorded."""
    draft = file.with_name(f"{file.name}.{os.getpid()}.{threading.get_ident()}")
    try:
        try:
            fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        except FileNotFoundError:
            file.parent.mkdir(parents=True, exist_ok=True)
            fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(fd, "wb") as out:
            out.write(json.dumps(anchor._asdict()).encode())
    except OSError as e:
        raise DetentError(f"the journal's anchor cannot be written ({e}); nothing was changed", f"look at {file.parent}") from e
    return draft


def place_anchor(draft: Path, file: Path) -> None:
    """Put the draft in the anchor's place, as a whole."""
    try:
        os.replace(draft, file)
    except OSError as e:
        raise DetentError(f"the event is in the journal, but its anchor could not be put in place: {e}", f"look at {file.parent}") from e
