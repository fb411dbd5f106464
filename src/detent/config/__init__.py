"""Settings: `detent.toml`, or `[tool.detent]` in `pyproject.toml`, and the environment, as one frozen value. Knows nothing of their use.

Reading and checking them is in `sources.py`: most calls only take the ones that a run began with.
"""

from detent.config.settings import Settings, kinds, variable

__all__ = ["Settings", "kinds", "variable"]
