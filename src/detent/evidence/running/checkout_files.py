"""Files that are put into a clean checkout: those laid over its own, never through a link of its tree, and links to installed packages.

Packages are not part of the tree, but its tests need them; they are linked, not copied. A package that is itself a link (a workspace of the
same project) is linked by the same words, so that the checkout's own files are found and not those of the workspace. Knows paths only.
"""

import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

PACKAGES = "node_modules"
COMPOSER = "vendor"
OF_ITS_PLACE = ("autoload.php", "composer", "bin")  # what goes by where it lies: behind a link it would find the code of another checkout


def write_in_checkout(folder: Path, path: str, data: bytes | None) -> None:
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


def copy_as_is(source: Path, target: Path) -> None:
    """Copy a file or a folder as it is."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir() and not source.is_symlink():
        shutil.copytree(source, target, symlinks=True)
    else:
        shutil.copy2(source, target, follow_symlinks=False)


def copy_in(source: Path, whole: Path, path: str) -> None:
    """Lay a copy of what was built into a checkout, unless something stands there; never through a link of the tree."""
    target = whole / path
    if os.path.lexists(target) or os.path.realpath(target.parent) != os.path.normpath(Path(os.path.realpath(whole)) / Path(path).parent):
        return
    copy_as_is(source, target)


def link_node_modules(root: Path, checkout: Path) -> None:
    """Link the `node_modules` beside every `package.json` of a checkout to those of the project."""
    for folder in list(_packages(checkout)):
        ours, theirs = root / folder / PACKAGES, checkout / folder / PACKAGES
        if ours.is_dir() and not os.path.lexists(theirs):
            _link(ours, theirs)


def link_composer_packages(root: Path, checkout: Path) -> None:
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


MANIFESTS = ("pyproject.toml", "setup.cfg", "setup.py")
NAMED = re.compile(r"""["']?(?:version[-_]file|write[-_]to)["']?\s*[=:]\s*["']?([\w./-]+\.py)\b""")


def lend_version_files(lender: Path, whole: Path, is_wanted: Callable[[str], bool] = lambda path: True) -> None:
    """Copy the version files that a checkout's manifests name, where it has none and the lender has a plain one."""
    for path in version_files(whole):
        source = lender / path
        if source.is_file() and not source.is_symlink() and is_wanted(path) and _is_plain(source):
            copy_in(source, whole, path)


def version_files(folder: Path) -> Iterator[str]:
    """The version files that the manifests of a folder name."""
    for name in MANIFESTS:
        manifest = folder / name
        if manifest.is_file() and not manifest.is_symlink():
            found = NAMED.findall(manifest.read_text("utf-8", "replace"))
            yield from (path for path in dict.fromkeys(found) if not path.startswith("/") and ".." not in Path(path).parts)


def _is_plain(file: Path) -> bool:
    from detent.evidence.source.version_text import is_plain  # few projects have such a file

    return is_plain(file.read_text("utf-8", "replace"))
