"""The world as it is: effects and jobs of a run carried out on a real repository. The door asks by name, the tables here know who does it.

One file per workflow; how a thing is done is in effects/ and git/. Nothing here decides.
"""

from collections.abc import Mapping
from typing import Any

from detent.world import pr, tdd
from detent.world.kit import Kit
from detent.world.repo import Effects, Jobs, RepoWorld

__all__ = ["EFFECTS", "JOBS", "Kit", "RepoWorld"]


class _Late(dict[str, Mapping[str, Any]]):
    """What is done for sessions is loaded when a run of one is touched; the other calls stay light."""

    def __init__(self, ready: Mapping[str, Mapping[str, Any]], name: str) -> None:
        super().__init__(ready)
        self.name = name

    def __missing__(self, workflow: str) -> Mapping[str, Any]:
        if workflow not in ("pipeline", "task"):
            raise KeyError(workflow)
        from detent.world import pipeline

        self[workflow] = getattr(pipeline, self.name)
        return self[workflow]


EFFECTS: Mapping[str, Effects] = _Late({"pr": pr.EFFECTS, "tdd": tdd.EFFECTS}, "EFFECTS")
JOBS: Mapping[str, Jobs] = _Late({"pr": pr.JOBS, "tdd": tdd.JOBS}, "JOBS")
