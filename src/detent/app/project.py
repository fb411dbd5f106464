"""The project as its main branch configures it: settings, tracker, and a stand-in run for a branch that no run made."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec.structs import replace

from detent.app.commit_settings import main_ref, settings_at
from detent.app.fit import ground
from detent.app.registry import FOR_ITEMS
from detent.app.trackers import tracker_of
from detent.blocks.common import Ground
from detent.config import Settings
from detent.errors import DetentError
from detent.git.repo import Git
from detent.kernel.model import Flag, OnBranch, Run
from detent.tracker import Tracker

if TYPE_CHECKING:
    from detent.app import App


def project_settings(git: Git, outer: Mapping[str, str]) -> tuple[Settings, str]:
    """The settings on the main branch, and its commit, where executions begin whatever is checked out."""
    if not git.head():
        raise DetentError("this repository has no commit yet", "make a first one: git add -A && git commit -m start")
    commit = git.resolve(f"{main_ref(git, outer)}^{{commit}}")
    return settings_at(git, commit, outer), commit


def items_of(app: "App") -> Tracker:
    """The tracker of this project."""
    return tracker_of(project_settings(app.world.git, app.world.outer)[0], app.place, app.world.outer)


class BranchData(OnBranch, frozen=True):
    """The data of a stand-in run, for judging a whole branch."""

    setup: Ground = Ground()
    base: str = ""
    good_tree: str = ""
    reds: tuple[str, ...] = ()


def ground_of_main(app: "App", agent: str) -> Ground:
    """The Ground of work that begins at main now, without a workspace."""
    settings, main = project_settings(app.world.git, app.world.outer)
    fixed = ground(app.world.git, settings, main, app.world.outer, agent, FOR_ITEMS)
    return replace(fixed, workspace="")


def stand_in(app: "App", name: str, agent: str, data: BranchData, flags: tuple[Flag, ...] = ()) -> Run[BranchData]:
    """A run that is not in the journal, for functions that take a run to know how tests are run."""
    return Run(name, FOR_ITEMS, "", 0, replace(data, setup=ground_of_main(app, agent)), flags=flags)
