"""Tries whether tests can be run at all: on main, in a workspace set up and sandboxed like an execution's."""

from collections.abc import Iterator
from contextlib import contextmanager
from fcntl import LOCK_EX, flock
from pathlib import Path

from detent.app.fit import ground
from detent.app.opened import Checkouts
from detent.app.project import BranchData, project_settings
from detent.app.registry import FOR_ITEMS
from detent.app.run_configs import CONFIGURED, must_hold
from detent.door import always
from detent.errors import CannotTell, DetentError
from detent.git.workspace import remove_workspace, workspace_place
from detent.kernel.model import Run
from detent.world.work_tree import root_of

NAME = "suite"  # of the workspace


def tests_run(worlds: Checkouts) -> bool:
    """Whether the tests can be run; their outcome does not matter."""
    git, outer = worlds.own.git, worlds.own.outer
    try:
        settings, main = project_settings(git, outer)
        must_hold(settings, outer)
        run = Run(NAME, FOR_ITEMS, "", 0, BranchData(setup=ground(git, settings, main, outer, CONFIGURED, NAME), base=main))
        with _alone(git.place.common_dir, root_of(git.place.common_dir, run)):
            return not worlds.of(run).collector(run).clean(git.tree(main), always).fault
    except (CannotTell, DetentError, OSError):
        return False


@contextmanager
def _alone(common: Path, root: Path) -> Iterator[None]:
    """Hold a lock, and remove the workspace before and after, also one left by a killed process."""
    place = workspace_place(common, root)
    with (common / "detent" / f"{NAME}.lock").open("a") as lock:
        flock(lock, LOCK_EX)
        remove_workspace(place)
        try:
            yield
        finally:
            remove_workspace(place)
