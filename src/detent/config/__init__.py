"""Settings from `detent.toml` or `[tool.detent]` in `pyproject.toml`, and the environment, as one frozen value. Knows nothing of their use.

`sources.py` reads and checks them, and is imported late: most calls use the settings stored in the run.
"""

from detent.config.settings import Settings, kinds, variable

__all__ = ["Settings", "kinds", "variable"]
