"""Where this user's programs keep their state. Knows no file in it."""

import os
from pathlib import Path


def state_dir() -> Path:
    """Where this user's programs keep their state."""
    home = os.environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    return Path(home) / "detent"
