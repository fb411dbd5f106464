"""Settings: `detent.toml`, or `[tool.detent]` in `pyproject.toml`, and the environment, as one frozen value. Knows nothing of their use."""

from detent.config.settings import Settings, kinds, variable
from detent.config.sources import FILE, PYPROJECT, load

__all__ = ["FILE", "PYPROJECT", "Settings", "kinds", "load", "variable"]
