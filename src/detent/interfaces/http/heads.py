"""Finding what an address names, or saying that it is not there, or no longer as it was. Reads only."""

from detent.app import App
from detent.errors import DetentError
from detent.journal.journal import Head


class NotFound(DetentError):
    """What the address names does not exist."""


class StalePage(DetentError):
    """What was shown is no longer so; nothing was recorded."""


def head_of(app: App, run: str) -> Head:
    found = app.journal.heads(run)
    if not found:
        raise NotFound(f"there is no run {run}", "GET /api/runs lists them")
    return found[0]
