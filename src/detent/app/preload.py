"""Code that is loaded before the first test runs, and none that was written since: tests of a change can write where programs lie."""

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

ROOMS = ("errors", "kernel", "storage", "journal", "git", "sandbox", "evidence", "gates", "config")  # all that judging may need
NOT = ("__main__", ".reporters", ".journal_postgres")  # programs of their own; and a journal that is loaded already where there is one


def preload() -> None:
    """Load every module that may be needed once tests have run."""
    for room in ROOMS:
        module = import_module(f"detent.{room}")
        for each in walk_packages(getattr(module, "__path__", ()), f"detent.{room}."):
            if not any(word in each.name for word in NOT):
                _load(each.name)


def _load(name: str) -> None:
    """One module. One that needs a package which is not installed cannot be needed here: that package is for something else."""
    try:
        import_module(name)
    except ModuleNotFoundError as e:
        if (e.name or detent.__name__).partition(".")[0] == detent.__name__:
            raise


class Uncached(SourceFileLoader):
    """Loads a module from its source alone: bytecode that is newer may be another process's of ours, or a test's."""

    def path_stats(self, path: str) -> NoReturn:
        raise OSError("no bytecode is read or written")


class LateFinder:
    """Refuses to load a source that was written since a moment, and reads no bytecode that was."""

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
    """From now on this process loads no code that is written from now on."""
    sys.meta_path.insert(0, LateFinder(time.time_ns()))
