"""Installed packages for a clean checkout: they are not part of the tree, but its tests need them. Links only; nothing is copied.

A package that is itself a link (a workspace of the same project) is linked by the same words, so that the checkout's own files
are found and not those of the workspace.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

PACKAGES = "node_modules"
COMPOSER = "vendor"
OF_ITS_PLACE = ("autoload.php", "composer", "bin")  # what goes by where it lies: behind a link it would find the code of another checkout


def lend_packages(root: Path, checkout: Path) -> None:
    """Link the `node_modules` beside every `package.json` of a checkout to those of the project."""
    for folder in list(_packages(checkout)):
        ours, theirs = root / folder / PACKAGES, checkout / folder / PACKAGES
        if ours.is_dir() and not os.path.lexists(theirs):
            _link(ours, theirs)


def lend_composer(root: Path, checkout: Path) -> None:
    """Packages of composer for a checkout: links, but for its autoloader, which finds the project's code beside itself."""
    ours, theirs = root / COMPOSER, checkout / COMPOSER
    if not (ours / "composer").is_dir() or (os.path.lexists(theirs) and not theirs.is_symlink()):
        return
    theirs.unlink(missing_ok=True)
    theirs.mkdir()
    for entry in ours.iterdir():
        if entry.name not in OF_ITS_PLACE:
            (theirs / entry.name).symlink_to(entry)
        elif entry.is_dir():
            shutil.copytree(entry, theirs / entry.name, symlinks=True)
        else:
            shutil.copy2(entry, theirs / entry.name)


def _packages(checkout: Path) -> Iterator[Path]:
    for here, folders, files in os.walk(checkout):
        folders[:] = [name for name in folders if name != PACKAGES and not name.startswith(".")]
        if "package.json" in files:
            yield Path(here).relative_to(checkout)


def _link(ours: Path, theirs: Path) -> None:
    """A folder of links; a scope (`@name`) is a folder of packages again."""
    theirs.mkdir()
    for entry in ours.iterdir():
        if entry.is_dir() and not entry.is_symlink() and entry.name.startswith("@"):
            _link(entry, theirs / entry.name)
        else:
            (theirs / entry.name).symlink_to(os.readlink(entry) if entry.is_symlink() else entry)
