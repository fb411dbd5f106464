"""The world as it is: effects and jobs of a run carried out on a real repository. The door asks by name, the tables here know who does it.

One file per workflow; how a thing is done is in effects/ and git/. Nothing here decides.
"""

from collections.abc import Mapping
from typing import Any

from detent.world import pr, tdd
from detent.world.kit import Kit
from detent.world.repo import Effects, Jobs, RepoWorld

__all__ = ["EFFECTS", "JOBS", "Kit", "RepoWorld"]


def _pipeline() -> Any:
    from detent.world import pipeline

    return pipeline


def _execute() -> Any:
    from detent.world import execute

    return execute


LATE = {"pipeline": _pipeline, "task": _pipeline, "execute": _execute}


class _Late(dict[str, Mapping[str, Any]]):
    """What is done for sessions and executions is loaded when a run of one is touched; the other calls stay light."""

    def __init__(self, ready: Mapping[str, Mapping[str, Any]], name: str) -> None:
        super().__init__(ready)
        self.name = name

    def __missing__(self, workflow: str) -> Mapping[str, Any]:
        self[workflow] = getattr(LATE[workflow](), self.name)
        return self[workflow]


EFFECTS: Mapping[str, Effects] = _Late({"pr": pr.EFFECTS, "tdd": tdd.EFFECTS}, "EFFECTS")
JOBS: Mapping[str, Jobs] = _Late({"pr": pr.JOBS, "tdd": tdd.JOBS}, "JOBS")
