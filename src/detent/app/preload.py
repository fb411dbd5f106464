"""Loads Detent's code before the first test runs, and blocks code written later: tests of a change may be able to write to it."""

import sys
import time
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from pkgutil import walk_packages
from types import ModuleType
from typing import NoReturn

import detent
from detent.errors import DetentError

ROOMS = ("errors", "kernel", "storage", "journal", "git", "sandbox", "evidence", "gates", "config")  # all rooms that judging may need
NOT = ("__main__", ".reporters", ".journal_postgres")  # programs of their own, and the PostgreSQL journal, which is loaded already if used


def preload() -> None:
    """Import every module that may be needed after tests have run."""
    for room in ROOMS:
        module = import_module(f"detent.{room}")
        for each in walk_packages(getattr(module, "__path__", ()), f"detent.{room}."):
            if not any(word in each.name for word in NOT):
                _load(each.name)


def _load(name: str) -> None:
    """Import a module; skip one whose optional package is not installed."""
    try:
        import_module(name)
    except ModuleNotFoundError as e:
        if (e.name or detent.__name__).partition(".")[0] == detent.__name__:
            raise


class Uncached(SourceFileLoader):
    """Loads a module from its source alone: newer bytecode may have been written by a test."""

    def path_stats(self, path: str) -> NoReturn:
        raise OSError("no bytecode is read or written")


class LateFinder:
    """Refuses to load source written after `moment`, and ignores bytecode written after it."""

    def __init__(self, moment: int) -> None:
        self.moment = moment

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target)
        if spec is None or not spec.origin:
            return None
        if _changed(Path(spec.origin)) > self.moment:
            raise DetentError(
                f"{spec.origin} was written while tests ran, so it is not loaded", f"reinstall {detent.__name__}, and look at these tests"
            )
        if not spec.cached or _changed(Path(spec.cached)) <= self.moment:
            return None
        return spec_from_file_location(
            name, spec.origin, loader=Uncached(name, spec.origin), submodule_search_locations=spec.submodule_search_locations
        )


def _changed(file: Path) -> int:
    try:
        return file.stat().st_ctime_ns
    except OSError:
        return 0


def nothing_newer() -> None:
    """From now on, refuse to load code that is written after this call."""
    sys.meta_path.insert(0, LateFinder(time.time_ns()))
