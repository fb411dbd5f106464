"""Looks up runs by id, the errors for missing or stale things, and cutting of long flags. Reads only."""

import msgspec

from detent.app import App
from detent.errors import DetentError
from detent.journal.journal import Head
from detent.kernel.model import Flag

LARGEST_HUNK = 20_000  # characters of each version in a flag


class NotFound(DetentError):
    """The thing that the path names does not exist."""


class StalePage(DetentError):
    """What the page showed is out of date; nothing was recorded."""


def head_of(app: App, run: str) -> Head:
    found = app.journal.heads(run)
    if not found:
        raise NotFound(f"there is no run {run}", "GET /api/runs lists them")
    return found[0]


def cut_flag(flag: Flag) -> Flag:
    """A flag with very long versions cut."""
    return msgspec.structs.replace(flag, before=flag.before[:LARGEST_HUNK], after=flag.after[:LARGEST_HUNK])
