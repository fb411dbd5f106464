"""Laying a file over those of a checkout: never through a link of its tree. Knows paths only."""

import os
import shutil
from pathlib import Path


def lay(folder: Path, path: str, data: bytes | None) -> None:
    """Write a file into a checkout, and never through a link of the tree: what is in its way is taken away. Its times are those of the others."""
    here = folder
    for name in Path(path).parts:
        here = here / name
        if here.is_symlink() or (here.is_file() and here != folder / path):
            here.unlink()
    if data is None:
        here.unlink(missing_ok=True)
        return
    here.parent.mkdir(parents=True, exist_ok=True)
    was = here.stat() if here.is_file() else next((each.stat() for each in folder.iterdir() if each.is_file()), None)
    here.write_bytes(data)
    if was is not None:
        os.utime(here, ns=(was.st_atime_ns, was.st_mtime_ns))


def put(source: Path, target: Path) -> None:
    """Copy a file or a folder as it is."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir() and not source.is_symlink():
        shutil.copytree(source, target, symlinks=True)
    else:
        shutil.copy2(source, target, follow_symlinks=False)
