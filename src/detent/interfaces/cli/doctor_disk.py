"""The row of `doctor` on disk space: workspaces of this repository, and cached results of their setup."""

import os
from pathlib import Path

from detent.errors import DetentError
from detent.git.place import find_place
from detent.interfaces.cli.doctor_project import DoctorCheck
from detent.storage.state import state_dir

MOST = 200_000  # files that are counted


def disk_check() -> DoctorCheck:
    try:
        place = find_place(Path.cwd())
    except DetentError:
        return DoctorCheck("disk", True, "no repository, no workspaces")
    linked = place.common_dir / "worktrees"
    names = {each.name for each in linked.iterdir()} if linked.is_dir() else set()
    mine = [each for each in (state_dir() / "workspaces").glob("*") if each.name in names]
    setups = place.common_dir / "detent" / "setups"
    kept = len([each for each in setups.iterdir() if not each.name.startswith(".")]) if setups.is_dir() else 0
    taken = f"{len(mine)} workspaces ({_size(mine)}), {kept} set-ups kept ({_size([setups])})"
    return DoctorCheck("disk", True, f"{taken}, {_size([place.common_dir / 'detent'], setups)} of journal, evidence and transcripts")


def _size(folders: list[Path], without: Path | None = None) -> str:
    """The disk space of folders, in words; a lower bound for very many files."""
    total = seen = 0
    for folder in folders:
        for here, inner, names in os.walk(folder):
            inner[:] = [name for name in inner if Path(here) / name != without]
            seen += len(names)
            total += sum(_blocks(os.path.join(here, name)) for name in names)
            if seen > MOST:
                return f"more than {total / 1e6:.0f} MB"
    return f"{total / 1e6:.1f} MB"


def _blocks(file: str) -> int:
    try:
        return os.lstat(file).st_blocks * 512
    except OSError:
        return 0
