"""What the configuration says about one run, ready for use. Values only."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from detent.effects.catalogue import Ways
from detent.errors import DetentError
from detent.evidence.running.suite import Suite
from detent.kernel.own_gate import OwnGate
from detent.sandbox.process import Ran

if TYPE_CHECKING:
    from detent.forge import Pulls
    from detent.tracker import Tracker


def no_tracker() -> "Tracker":
    raise DetentError("this run has no tracker", "only executions have one")


def no_pulls() -> "Pulls":
    raise DetentError("this run has no forge", "set [git] pr_command in detent.toml")


class RunConfig(NamedTuple):
    """How a run's tests are run, its work is landed and its agents are asked."""

    suite: Suite
    settings: Mapping[str, str]
    preflight: tuple[str, ...]
    ways: Ways
    squash: str
    reviewer: str
    start: Callable[..., Ran]  # how an agent's program is started; the sandbox is behind it
    home: Path  # where the project's environment lies: a person's checkout, or a workspace that has a set-up of its own
    origin: Path  # the person's own checkout
    gates: tuple[OwnGate, ...] = ()  # that the project configures itself
    apart: bool = False  # whether agents have a network of their own
    tracker: "Callable[[], Tracker]" = no_tracker  # where the work item comes from
    pulls: "Callable[[], Pulls]" = no_pulls  # where pull requests are opened
