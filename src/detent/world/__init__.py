"""The world as it is: effects and jobs of a run carried out on a real repository. The door asks by name, the tables here know who does it.

One file per workflow; how a thing is done is in effects/ and git/. Nothing here decides.
"""

from collections.abc import Mapping

from detent.world import pipeline, pr, tdd
from detent.world.kit import Kit
from detent.world.repo import Effects, Jobs, RepoWorld

__all__ = ["EFFECTS", "JOBS", "Kit", "RepoWorld"]

EFFECTS: Mapping[str, Effects] = {"pr": pr.EFFECTS, "tdd": tdd.EFFECTS, "pipeline": pipeline.EFFECTS, "task": pipeline.EFFECTS}
JOBS: Mapping[str, Jobs] = {"pr": pr.JOBS, "tdd": tdd.JOBS, "pipeline": pipeline.JOBS, "task": pipeline.JOBS}
