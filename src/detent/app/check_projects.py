"""Which projects of a repository a change touches, and how the tests of each are run, as its base commit configures it.

In the plain case, one project at the root, nothing is searched. Judges nothing.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from detent.app.fit import patterns_at
from detent.app.run_configs import DEPENDENCIES, RunSandbox, sandbox_of
from detent.config import Settings
from detent.config.settings import TestProject
from detent.evidence.changes.projects import OutsideFiles, chain, is_manifest, manifest_folders, nearest, owner
from detent.evidence.outcomes.card import Change
from detent.evidence.runners import Command, Files, Folder, find_command
from detent.evidence.running.project_site import Installed, Site, above
from detent.evidence.running.suite import Suite
from detent.evidence.source.file_patterns import is_document
from detent.git.checkout import clean_checkout, part_of
from detent.git.repo import Git

Installs = Mapping[str, Installed]  # by tree: the dependencies that --install installed for it


class Affected(NamedTuple):
    """One project that a change touches, or the rest of the change, which lies in no project."""

    site: Site
    suite: Suite
    before: str  # the trees of this project
    after: str
    paths: tuple[str, ...]  # the files that changed in it, as paths from the root of the repository
    is_rest: bool = False  # the files outside every project, in a repository that has projects

    @property
    def folder(self) -> str:
        return self.site.folder


class ProjectSearch(NamedTuple):
    """The input for finding the projects of a change."""

    git: Git
    change: Change
    settings: Settings
    env: Mapping[str, str]
    installed: Installs
    names: Mapping[str, frozenset[str]]  # by tree, before and after: its files

    @property
    def every(self) -> frozenset[str]:
        """The files of both trees."""
        return frozenset[str]().union(*self.names.values())

    @property
    def search(self) -> str:
        return self.env.get("PATH", os.defpath)

    def site(self, folder: str) -> Site:
        """A folder as the place where tests run; its trees are those of the whole repository."""
        return Site(self.git.place.root, self.git.place.root, folder, installed=self.installed)


def affected(git: Git, change: Change, settings: Settings, env: Mapping[str, str], installed: Installs) -> list[Affected]:
    """The projects that a change touches, sorted by folder; files outside every project come last."""
    names = {tree: frozenset(git.run("ls-tree", "-r", "-z", "--name-only", tree).items) for tree in (change.before, change.after)}
    finding = ProjectSearch(git, change, settings, env, installed, names)
    shares = _shares(finding)
    folders = sorted(shares, key=lambda folder: (not folder, folder))
    return [_affected(finding, folder, tuple(shares[folder]), [each for each in folders if each]) for folder in folders]


# -- whose file is whose ---------------------------------------------------------------------------------------------------------


def _shares(finding: ProjectSearch) -> dict[str, list[str]]:
    """The changed paths by the folder of their project ("" is the root)."""
    rows, paths = finding.settings.test.project, finding.change.paths
    if rows:
        whose = {row.path: row.path for row in rows}
    elif finding.settings.test.command:
        whose = {}
    else:
        folders = manifest_folders(finding.every)
        touched = {folder for path in paths if not is_document(path) and (folder := nearest(path, folders))}
        whose = dict(_owners(finding, touched, folders)) if touched else {}
        whose |= {folder: folder for folder in whose.values() if folder}
    shares: dict[str, list[str]] = {}
    for path in paths:
        shares.setdefault(whose.get(nearest(path, whose), ""), []).append(path)
    words = [folder for folder, of in shares.items() if folder and all(map(is_document, of))]
    for folder in words:  # a change that touches only documents of a project needs no run of its tests
        shares.setdefault("", []).extend(shares.pop(folder))
    return shares


def _owners(finding: ProjectSearch, touched: Iterable[str], folders: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Each touched folder with a manifest, and the folder of the project that owns it: as of the base, or of the change where the folder is new."""
    change = finding.change
    with ExitStack() as stack:
        wholes: dict[str, Path] = {}
        for folder in sorted(touched):
            tree = change.before if folder in manifest_folders(finding.names[change.before]) else change.after
            if tree not in wholes:
                wholes[tree] = stack.enter_context(clean_checkout(finding.git, tree))
            views = {each: _view(finding, tree, wholes[tree], each, folders) for each in chain(folder, folders)}
            yield folder, owner(views)


def _view(finding: ProjectSearch, tree: str, whole: Path, folder: str, folders: Iterable[str]) -> Files:
    """The files of a folder as its runner would see them, without those of nested projects."""
    here = finding.site(folder).of(tree).furnished(whole)
    inner = [
        each.removeprefix(f"{folder}/") if folder else each
        for each in folders
        if each != folder and each.startswith(f"{folder}/" if folder else "")
    ]
    return OutsideFiles(Folder(here, finding.search), inner)


# -- how each is tested ------------------------------------------------------------------------------------------------------------


def _affected(finding: ProjectSearch, folder: str, paths: tuple[str, ...], others: list[str]) -> Affected:
    git, change = finding.git, finding.change
    inner = tuple(each for each in others if each != folder and each.startswith(f"{folder}/" if folder else ""))
    before, after = (part_of(git, tree, folder, inner) for tree in (change.before, change.after))
    around = {before: change.before, after: change.after} if (before, after) != (change.before, change.after) else {}
    installed = {of: finding.installed[tree] for of, tree in ((before, change.before), (after, change.after)) if tree in finding.installed}
    site = finding.site(folder)._replace(around=around, installed=installed)
    row = next((row for row in finding.settings.test.project if row.path == folder), None)
    command, patterns = _command(finding, site, (before, after), row, inner)
    inside = _cell(finding, folder)
    timeout = float((row.timeout if row else 0) or finding.settings.test.timeout or finding.settings.bash.timeout)
    suite = Suite(command, timeout, finding.search, tuple(finding.settings.test.env), inside.tests, inside.sandbox, patterns)
    rest = not folder and command is None and bool(finding.settings.test.project or manifest_folders(finding.every))
    return Affected(site, suite, before, after, paths, rest)


def _command(
    finding: ProjectSearch, site: Site, trees: tuple[str, ...], row: TestProject | None, inner: tuple[str, ...]
) -> tuple[Command | None, tuple[str, ...]]:
    """The test command and the patterns of test files: as configured, or else as detected in the first of `trees` that has tests."""
    test = finding.settings.test
    configured, report = (row.command, row.report) if row and row.command else ("", "") if site.folder else (test.command, test.report)
    files = (row.files if row else ()) or test.files
    if test.project and row is None and not configured:
        return None, files  # where projects are configured, files outside them are tested only by a configured command
    for tree in trees:
        with site.checkout(finding.git, tree) as here:
            seen = OutsideFiles(Folder(here, finding.search), _not_its_own(finding, site.folder, inner))
            command = find_command(seen, configured, report)
            patterns = patterns_at(command, seen, files)
        if command is not None:
            break
    return command, patterns


def _not_its_own(finding: ProjectSearch, folder: str, inner: tuple[str, ...]) -> list[str]:
    """The subfolders whose tests belong to other projects. A root without a manifest owns no tests below any manifest."""
    if folder or finding.settings.test.project:
        return [each.removeprefix(f"{folder}/") if folder else each for each in inner]
    return list(inner) if any(is_manifest(path) for path in finding.every if "/" not in path) else [*manifest_folders(finding.every)]


def _cell(finding: ProjectSearch, folder: str) -> RunSandbox:
    """The sandbox for programs of the project. They can read its installed dependencies, in its folder and above."""
    root = finding.git.place.root
    inside = sandbox_of(finding.settings, False, finding.env, root)
    packages = {os.path.dirname(path) for path in finding.every if os.path.basename(path) == "package.json"}
    places = [root / each for each in (folder, *above(folder), *packages)] if folder else []
    lent = (place / name for place in places for name in DEPENDENCIES)
    seen = dict.fromkeys((*inside.readable, *(path for path in lent if path.is_dir()), *(each.home for each in finding.installed.values())))
    return inside._replace(readable=tuple(seen))
