"""The world as it is: effects and jobs of a run carried out on a real repository. The door asks by name, the tables here know who does it.

One file per workflow; how a thing is done is in effects/ and git/. Nothing here decides.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from detent.world.kit import Kit
from detent.world.repo import Effects, Jobs, RepoWorld

__all__ = ["EFFECTS", "JOBS", "Kit", "RepoWorld"]


WHERE = {
    "pr": ".pr",
    "tdd": ".tdd",
    "pipeline": ".pipeline",
    "task": ".pipeline",
    "execute": ".execute",
}  # by workflow: the module here that carries its runs


class _Late(dict[str, Mapping[str, Any]]):
    """What is done for a workflow is loaded when a run of it is touched; the other calls stay light."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def __missing__(self, workflow: str) -> Mapping[str, Any]:
        self[workflow] = getattr(import_module(WHERE[workflow], __name__), self.name)
        return self[workflow]


EFFECTS: Mapping[str, Effects] = _Late("EFFECTS")
JOBS: Mapping[str, Jobs] = _Late("JOBS")
