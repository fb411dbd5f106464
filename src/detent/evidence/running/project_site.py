"""Where a project lies: in its repository, in a clean checkout, and where what is installed for it is lent from. Knows files; runs nothing.

Most projects are a whole repository. One that is a folder of it is tested in that folder of a checkout of everything, since it may use what lies
beside it; its trees are those of the folder alone.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from detent.evidence.runners import Command
from detent.evidence.running.checkout_files import copy_in, lend_version_files, link_composer_packages, link_node_modules
from detent.evidence.running.suite import program_at
from detent.git.repo import Git
from detent.git.snapshot import BORROWED
from detent.git.workspace import borrow

NOTHING: Mapping[str, str] = MappingProxyType({})
ENVIRONMENTS = (".venv", "venv")


class Installed(NamedTuple):
    """What was installed for one tree of a repository."""

    home: Path  # laid out as the repository
    paths: tuple[str, ...]  # all that was made


class Site(NamedTuple):
    """Where a project lies."""

    lender: Path  # laid out as the repository: where its installed dependencies are
    packages: Path  # the same for those of node
    folder: str = ""  # of the repository; empty: the project is all of it
    around: Mapping[str, str] = NOTHING  # of each tree of the folder: the whole tree that it is a part of
    installed: Mapping[str, Installed] = MappingProxyType({})  # of trees that have dependencies of their own, and of these alone
    built: tuple[str, ...] | None = None  # of such a tree: what was made for it beside dependencies

    def of(self, tree: str) -> "Site":
        """The same for one tree."""
        own = self.installed.get(tree)
        if own is None:
            return self
        built = tuple(path for path in own.paths if path.rpartition("/")[2] not in BORROWED)
        return self._replace(lender=own.home, packages=own.home, built=built)

    def words(self, tree: str) -> list[str]:
        """What a report of a tree depends on besides the tree: where it lies, and what was installed for it."""
        own = self.installed.get(tree)
        return [*([self.folder, self.around[tree]] if tree in self.around else []), *([str(own.home)] if own else [])]

    def home(self, command: Command | None) -> Path:
        """The folder that a command's own program lies below, or else what is installed: the project's, or one above it."""
        places = [self.lender / each for each in (self.folder, *above(self.folder))]
        word = command.argv[program_at(command.argv)] if command and command.argv else ""
        signs = (word,) if "/" in word and not word.startswith("/") else BORROWED
        return next((place for place in places if any((place / sign).exists() for sign in signs)), places[0])

    @contextmanager
    def checkout(self, git: Git, tree: str, name: str = "") -> Iterator[Path]:
        """The project of a tree in a clean checkout. What is installed for it is lent."""
        from detent.git.checkout import clean_checkout  # most steps are judged where the work lies

        with clean_checkout(git, self.around.get(tree, tree), name) as whole:
            yield self.of(tree).furnished(whole)

    def furnished(self, whole: Path) -> Path:
        """The folder of the project in a checkout, once what is installed for it was lent."""
        here = whole
        for part in Path(self.folder).parts:
            here = here / part
            if here.is_symlink() or here.is_file():
                here.unlink()  # never through a link of the tree
            here.mkdir(exist_ok=True)
        for path in self.built or ():
            copy_in(self.lender / path, whole, path)
        if self.folder or self.built is not None:
            # by the same words, so first: a package of the repository itself is that of the checkout
            link_node_modules(self.packages, whole)
        for each in (self.folder, *above(self.folder)):
            borrow(self.lender / each, whole / each)
            lend_version_files(self.lender / each, whole / each)
        for each in above(self.folder):
            _borrow_environment(self.lender / each, here)
        return here

    def link_packages(self, tree: str, here: Path) -> None:
        """The packages that are found by what a checkout says."""
        of = self.of(tree)
        link_node_modules(of.packages, self.whole(here))
        link_composer_packages(of.lender / self.folder, here)

    def whole(self, here: Path) -> Path:
        """The checkout that a project's folder lies in."""
        return here.parents[len(Path(self.folder).parts) - 1] if self.folder else here

    def in_place(self, here: Path) -> list[str]:
        """Where the code of a checkout lies that is installed in place at the lender's: without a word it would be taken from there."""
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
    """The folders above one, the nearest first; the repository itself is the empty text."""
    parts = Path(folder).parts
    return ["/".join(parts[:end]) for end in range(len(parts) - 1, -1, -1)]


def _borrow_environment(lender: Path, here: Path) -> None:
    """An environment of Python above a project serves it too."""
    for name in ENVIRONMENTS:
        if (lender / name).is_dir() and not os.path.lexists(here / name):
            (here / name).symlink_to(lender / name)
