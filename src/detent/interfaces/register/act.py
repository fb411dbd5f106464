"""Registering and taking back, on the files of a checkout: what is to change is worked out first, for all files, and then written."""

import difflib
import os
import shutil
import sys
from pathlib import Path
from typing import NamedTuple

from detent.git.place import Place
from detent.interfaces.register import PARTS
from detent.interfaces.register.files import read, remove, write
from detent.interfaces.register.record import Registration, Touched, drop_record, keep_record, read_record


class FileChange(NamedTuple):
    """One file: how it was and how it is now; None: not there."""

    path: str
    before: str | None
    after: str | None

    @property
    def diff(self) -> str:
        old, new = ((text or "").splitlines(keepends=True) for text in (self.before, self.after))
        was, is_now = (self.path if text is not None else "/dev/null" for text in (self.before, self.after))
        lines = difflib.unified_diff(old, new, was, is_now)
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


def program() -> list[str]:
    """How a client calls this very detent: by its plain name where that finds it, so that the files can be shared."""
    home = Path(sys.executable).parent
    plain = shutil.which("detent")
    if plain and Path(os.path.realpath(plain)).parent == Path(os.path.realpath(home / "detent")).parent:
        return ["detent"]
    beside = home / "detent"
    return [str(beside)] if beside.exists() else [sys.executable, "-I", "-m", "detent"]


def register(place: Place, client: str) -> list[FileChange]:
    """Add what the client needs; nothing where it is there already. The record keeps how the files were."""
    found = [(part.path, read(place.root / part.path, "utf-8"), part) for part in PARTS[client](program())]
    changes = [FileChange(path, before, part.added(before)) for path, before, part in found]
    record = read_record(place.git_dir, client)
    files = {c.path: _touched(c, record.files.get(c.path)) for c in changes if c.after is not None}
    keep_record(place.git_dir, client, Registration(files))
    for change in changes:
        if change.after is not None and change.after != change.before:
            write(place.root / change.path, change.after)
    return [c for c in changes if c.before != c.after]


def _touched(change: FileChange, was: Touched | None) -> Touched:
    """What taking back is to restore: the text before our first change, as long as nobody else changed it since."""
    assert change.after is not None, "registering removes no file"
    if was is not None and was.after == change.before:
        return Touched(was.before, change.after)
    return Touched(change.before, change.after)


def unregister(place: Place, client: str) -> list[FileChange]:
    """Take back what was added: exactly, where the files are as we left them; else entry by entry."""
    record = read_record(place.git_dir, client)
    changes = []
    for part in PARTS[client](program()):
        now, kept = read(place.root / part.path, "utf-8"), record.files.get(part.path)
        if now is not None:
            changes.append(FileChange(part.path, now, kept.before if kept and kept.after == now else part.taken(now)))
    for change in changes:
        if change.after is None:
            remove(place.root / change.path, place.root)
        elif change.after != change.before:
            write(place.root / change.path, change.after)
    drop_record(place.git_dir, client)
    return [c for c in changes if c.before != c.after]
