"""The rows of `detent doctor` on workflows and extensions: whether all of them can be loaded and pass their checks."""

from collections.abc import Callable, Collection

from detent.agents import BACKENDS, backend
from detent.app.registry import BUILT_IN, load_checked, workflow_names
from detent.config.sources import is_kind
from detent.errors import DetentError
from detent.evidence.runners import RUNNERS
from detent.extensions import AGENTS, FLAGS, WORKFLOWS, ExtensionGroup, names, shadowing
from detent.extensions import RUNNERS as RUNNER_GROUP
from detent.extensions import TRACKERS as TRACKER_GROUP
from detent.interfaces.cli.doctor_project import DoctorCheck
from detent.kernel.model import KINDS
from detent.tracker import TRACKERS, loaded

RENAME = "its author has to choose another name (docs/extending.md)"
PARTS: tuple[tuple[ExtensionGroup, Collection[str], Callable[[str], object]], ...] = (
    (AGENTS, BACKENDS, backend),
    (RUNNER_GROUP, tuple(RUNNERS), RUNNERS.__getitem__),
    (TRACKER_GROUP, TRACKERS, loaded),
    (FLAGS, KINDS, is_kind),
)


def extension_checks() -> list[DoctorCheck]:
    """The row on workflows, and one on other extensions if there are any."""
    return [_workflows(), *_others()]


def _workflows() -> DoctorCheck:
    try:
        for name in workflow_names():
            load_checked(name)
    except DetentError as e:
        return DoctorCheck("workflows", False, e.message, e.hint, needed=False)
    if hidden := shadowing(WORKFLOWS, BUILT_IN):
        return DoctorCheck("workflows", False, hidden[0], RENAME, needed=False)
    return DoctorCheck("workflows", True, ", ".join(workflow_names()))


def _others() -> list[DoctorCheck]:
    found = [(group, name, get) for group, built_in, get in PARTS for name in names(group, built_in)]
    try:
        for _, name, get in found:
            get(name)
    except DetentError as e:
        return [DoctorCheck("extensions", False, e.message, e.hint, needed=False)]
    if hidden := [sentence for group, built_in, _ in PARTS for sentence in shadowing(group, built_in)]:
        return [DoctorCheck("extensions", False, hidden[0], RENAME, needed=False)]
    return [DoctorCheck("extensions", True, ", ".join(f"{group.noun} {name}" for group, name, _ in found))] if found else []
