"""Where a project is: in its repository, in a clean checkout, and where its installed dependencies are lent from. Knows files; runs nothing.

Most projects are a whole repository. One in a subfolder is tested in that folder of a full checkout, since it may use what is beside it; its
trees are those of the folder alone. Packages are not in a tree but tests need them, so they are linked, not copied. A package that is a
link itself (a workspace of the same project) is linked with the same relative target, so that it leads to the checkout's own files.
"""

import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from detent.evidence.runners import Command
from detent.evidence.running.suite import program_at
from detent.git.repo import Git
from detent.git.snapshot import BORROWED
from detent.git.workspace import borrow

NOTHING: Mapping[str, str] = MappingProxyType({})
ENVIRONMENTS = (".venv", "venv")


class Installed(NamedTuple):
    """Dependencies installed for one tree of a repository."""

    home: Path  # laid out like the repository
    paths: tuple[str, ...]  # everything that was created


class Site(NamedTuple):
    """Where a project is, and where its dependencies are lent from."""

    lender: Path  # laid out like the repository: has the installed dependencies
    packages: Path  # the same for packages of node
    folder: str = ""  # the project's folder in the repository; empty: all of it
    around: Mapping[str, str] = NOTHING  # tree of the folder -> tree of the repository
    installed: Mapping[str, Installed] = MappingProxyType({})  # trees with dependencies of their own
    built: tuple[str, ...] | None = None  # for such a tree: what was created besides dependencies

    def of(self, tree: str) -> "Site":
        """The site for one tree."""
        own = self.installed.get(tree)
        if own is None:
            return self
        built = tuple(path for path in own.paths if path.rpartition("/")[2] not in BORROWED)
        return self._replace(lender=own.home, packages=own.home, built=built)

    def words(self, tree: str) -> list[str]:
        """What a report depends on besides its tree: the folder's surroundings, and the tree's own dependencies."""
        own = self.installed.get(tree)
        return [*([self.folder, self.around[tree]] if tree in self.around else []), *([str(own.home)] if own else [])]

    def home(self, command: Command | None) -> Path:
        """The folder with a command's program, or with installed dependencies: the project's, or one above it."""
        places = [self.lender / each for each in (self.folder, *above(self.folder))]
        word = command.argv[program_at(command.argv)] if command and command.argv else ""
        signs = (word,) if "/" in word and not word.startswith("/") else BORROWED
        return next((place for place in places if any((place / sign).exists() for sign in signs)), places[0])

    @contextmanager
    def checkout(self, git: Git, tree: str, name: str = "") -> Iterator[Path]:
        """A clean checkout of a tree with lent dependencies; yields the project's folder in it."""
        from detent.git.checkout import clean_checkout  # imported late: most steps run in the workspace

        with clean_checkout(git, self.around.get(tree, tree), name) as whole:
            yield self.of(tree).furnished(whole)

    def furnished(self, whole: Path) -> Path:
        """Lend dependencies to a checkout and return the project's folder in it."""
        here = whole
        for part in Path(self.folder).parts:
            here = here / part
            if here.is_symlink() or here.is_file():
                here.unlink()  # never write through a link of the tree
            here.mkdir(exist_ok=True)
        for path in self.built or ():
            copy_in(self.lender / path, whole, path)
        if self.folder or self.built is not None:
            # first, so that a package of the repository itself leads to the checkout
            link_node_modules(self.packages, whole)
        for each in (self.folder, *above(self.folder)):
            borrow(self.lender / each, whole / each)
            lend_version_files(self.lender / each, whole / each)
        for each in above(self.folder):
            _borrow_environment(self.lender / each, here)
        return here

    def link_packages(self, tree: str, here: Path) -> None:
        """Link the packages that a checkout's own manifests name."""
        of = self.of(tree)
        link_node_modules(of.packages, self.whole(here))
        link_composer_packages(of.lender / self.folder, here)

    def whole(self, here: Path) -> Path:
        """The checkout that contains a project's folder."""
        return here.parents[len(Path(self.folder).parts) - 1] if self.folder else here

    def in_place(self, here: Path) -> list[str]:
        """The import paths of a checkout in place of the lender's editable installs."""
        found = [here, here / "src"]
        for file in self._paths_files():
            with suppress(OSError, ValueError):
                lines = [Path(line) for line in file.read_text("utf-8").splitlines() if line.startswith("/")]
                found += [self.whole(here) / line.relative_to(self.lender) for line in lines if line.is_relative_to(self.lender)]
        return list(dict.fromkeys(map(str, found)))

    def _paths_files(self) -> Iterator[Path]:
        for each in (self.folder, *above(self.folder)):
            for name in ENVIRONMENTS:
                yield from sorted((self.lender / each).glob(f"{name}/lib/python*/site-packages/*.pth"))


def above(folder: str) -> list[str]:
    """The folders above one, nearest first; the repository itself is the empty string."""
    parts = Path(folder).parts
    return ["/".join(parts[:end]) for end in range(len(parts) - 1, -1, -1)]


def _borrow_environment(lender: Path, here: Path) -> None:
    """Link a Python environment above a project into it."""
    for name in ENVIRONMENTS:
        if (lender / name).is_dir() and not os.path.lexists(here / name):
            (here / name).symlink_to(lender / name)


PACKAGES = "node_modules"
COMPOSER = "vendor"
OF_ITS_PLACE = ("autoload.php", "composer", "bin")  # these find code beside their own location, so a link would find another checkout's


def write_in_checkout(folder: Path, path: str, data: bytes | None) -> None:
    """Write a file into a checkout, never through a link of the tree, which is removed instead. It gets the times of the other files."""
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
    """Copy a file or folder, links as links."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir() and not source.is_symlink():
        shutil.copytree(source, target, symlinks=True)
    else:
        shutil.copy2(source, target, follow_symlinks=False)


def copy_in(source: Path, whole: Path, path: str) -> None:
    """Copy a built file into a checkout unless one exists there, never through a link of the tree."""
    target = whole / path
    if os.path.lexists(target) or os.path.realpath(target.parent) != os.path.normpath(Path(os.path.realpath(whole)) / Path(path).parent):
        return
    copy_as_is(source, target)


def link_node_modules(root: Path, checkout: Path) -> None:
    """Link the `node_modules` beside every `package.json` of a checkout to the project's."""
    for folder in list(_packages(checkout)):
        ours, theirs = root / folder / PACKAGES, checkout / folder / PACKAGES
        if ours.is_dir() and not os.path.lexists(theirs):
            _link(ours, theirs)


def link_composer_packages(root: Path, checkout: Path) -> None:
    """Link composer's packages into a checkout; its autoloader is copied, because it finds code beside itself."""
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
    """Link every package of a folder; a scope (`@name`) is a folder of packages."""
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
    from detent.evidence.source.version_text import only_states_version  # imported late: few projects have such a file

    return only_states_version(file.read_text("utf-8", "replace"))
