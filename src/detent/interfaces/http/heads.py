"""Finding what an address names, or saying that it is not there, or no longer as it was; what is too long to show is cut. Reads only."""

import msgspec

from detent.app import App
from detent.errors import DetentError
from detent.journal.journal import Head
from detent.kernel.model import Flag

LARGEST_HUNK = 20_000  # characters of each version of what is flagged


class NotFound(DetentError):
    """What the address names does not exist."""


class StalePage(DetentError):
    """What was shown is no longer so; nothing was recorded."""


def head_of(app: App, run: str) -> Head:
    found = app.journal.heads(run)
    if not found:
        raise NotFound(f"there is no run {run}", "GET /api/runs lists them")
    return found[0]


def cut_flag(flag: Flag) -> Flag:
    """A flag as it is shown: very long versions are cut."""
    return msgspec.structs.replace(flag, before=flag.before[:LARGEST_HUNK], after=flag.after[:LARGEST_HUNK])
