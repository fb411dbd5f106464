"""The world as it is: one checkout, and what several workflows do there: landing, reviewers, evidence notes, workspaces made ready.

How a thing is done is in effects/ and git/. Nothing here decides, and nothing here knows a workflow by name.
"""

from detent.world.repo import RepoWorld
from detent.world.run_config import RunConfig

__all__ = ["RepoWorld", "RunConfig"]
