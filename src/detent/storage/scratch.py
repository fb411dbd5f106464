"""Folders for a while, outside of any checkout. What a process that was killed left of them is taken away by the next one that needs one.

Each has a mark in the user's state folder, locked as long as its process lives. Knows nothing of what the folders are for.
"""

import fcntl
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from detent.storage.state import state_dir


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A new folder, gone afterwards. Its name says nothing: tests may read it."""
    marks = state_dir() / "scratch"
    marks.mkdir(parents=True, exist_ok=True, mode=0o700)
    _sweep(marks)
    folder = Path(tempfile.gettempdir()) / secrets.token_hex(6)
    draft, mark = marks / f".{folder.name}", marks / folder.name
    with draft.open("x", encoding="utf-8", errors="surrogateescape") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        held.write(str(folder))
        held.flush()
        draft.rename(mark)  # only now it is seen: locked, and before the folder is there
        try:
            folder.mkdir(mode=0o700)
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            mark.unlink(missing_ok=True)


def _sweep(marks: Path) -> None:
    """Take away the folders whose process is gone, and their marks."""
    for mark in [mark for mark in marks.iterdir() if not mark.name.startswith(".")]:
        with suppress(OSError), mark.open("r", encoding="utf-8", errors="surrogateescape") as left:
            fcntl.flock(left, fcntl.LOCK_EX | fcntl.LOCK_NB)  # who lives holds it
            folder = Path(left.read())
            if folder.name == mark.name and os.path.lexists(folder) and folder.lstat().st_uid == os.getuid():
                shutil.rmtree(folder, ignore_errors=True)
            mark.unlink(missing_ok=True)
