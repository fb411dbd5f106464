"""Finding what an address names, or saying that it is not there. Reads only."""

from detent.app import App
from detent.errors import DetentError
from detent.kernel.journal import Head


class NotThere(DetentError):
    """What the address names does not exist."""


def head_of(app: App, run: str) -> Head:
    found = app.journal.heads(run)
    if not found:
        raise NotThere(f"there is no run {run}", "GET /api/runs lists them")
    return found[0]
