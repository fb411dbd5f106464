"""A run's configuration, ready for use: from the settings that its first event holds, which come from its base commit."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from detent.app.registry import workflow_of
from detent.app.run_sandbox import sandbox_of
from detent.config import Settings
from detent.door import AnyRun
from detent.effects.catalogue import Ways
from detent.evidence.runners import Command, Folder
from detent.evidence.runners.detect import find_command
from detent.evidence.running.suite import Suite
from detent.git.place import Place
from detent.world.known_runs import RunConfig
from detent.world.work_tree import root_of

if TYPE_CHECKING:
    from detent.forge import Pulls
    from detent.tracker import Tracker

CONFIGURED = "configured"  # as the agent of a run: each role's own, from [agents]
REVIEWER = "reviewer"
OTHER = "other"  # as [review] agent: one of another vendor than the author
DEFAULT = "anthropic"


def config_of(place: Place, env: Mapping[str, str]) -> Callable[[AnyRun], RunConfig]:
    """How to make the config of a run; made once per run and call, as soon as it is known how its tests are run."""
    made: dict[tuple[str, bool], RunConfig] = {}

    def config(run: AnyRun) -> RunConfig:
        key = (run.id, bool(run.data.setup.workspace) and root_of(place.common_dir, run).is_dir())
        if key in made:
            return made[key]
        fresh = _make(place, run, env)
        if fresh.suite.base is not None:
            made[key] = fresh
        return fresh

    return config


def home_of(run: AnyRun, settings: Settings, place: Place) -> Path:
    """Where the project's environment lies: in a workspace that has a set-up of its own; else in the person's checkout."""
    root = root_of(place.common_dir, run) if settings.workspace.setup and run.data.setup.workspace else None
    return root if root and root.is_dir() else origin_of(run, place)


def origin_of(run: AnyRun, place: Place) -> Path:
    """The person's checkout: the one that a run is bound to, or, for an execution, the one it is driven from."""
    return place.root if run.worktree in ("", run.data.setup.workspace) else Path(run.worktree)


def _make(place: Place, run: AnyRun, outer: Mapping[str, str]) -> RunConfig:
    setup = run.data.setup
    settings = msgspec.json.decode(setup.settings, type=Settings) if setup.settings else Settings()
    home = home_of(run, settings, place)
    root = root_of(place.common_dir, run) if setup.workspace == run.worktree and setup.workspace else place.root
    base = (
        msgspec.json.decode(setup.command, type=Command)
        if setup.command
        else find_command(Folder(root, setup.path), settings.test.command, settings.test.report)
    )
    timeout = float(settings.test.timeout or settings.bash.timeout)
    inside = sandbox_of(settings, bool(setup.agent), outer, home)
    also, clean = tuple(settings.test.env), settings.evidence.clean
    suite = Suite(base, timeout, setup.path, also, inside.tests, inside.sandbox, setup.patterns, clean)
    merge = settings.git.merge or workflow_of(run.workflow).merge
    ways = Ways(settings.git.main, settings.git.remote, merge, settings.git.pr_command, settings.git.push)
    squash = settings.git.squash or ("auto" if setup.agent else "agent")
    return RunConfig(
        suite,
        settings.flat(),
        tuple(setup.preflight),
        ways,
        squash,
        settings.review.agent,
        inside.agent,
        home,
        origin_of(run, place),
        settings.gate,
        inside.apart,
        lambda: _tracker(settings, place, outer),
        lambda: _pulls(settings, place, outer),
    )


def _tracker(settings: Settings, place: Place, outer: Mapping[str, str]) -> "Tracker":
    from detent.app.trackers import tracker_of  # most submits ask no tracker

    return tracker_of(settings, place, outer)


def _pulls(settings: Settings, place: Place, outer: Mapping[str, str]) -> "Pulls":
    from detent.app.forges import pulls_of  # few jobs open pull requests

    return pulls_of(settings, place, outer)
