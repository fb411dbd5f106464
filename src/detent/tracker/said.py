"""What a tracker's program said and how it ended. A value."""

from typing import NamedTuple


class TrackerSaid(NamedTuple):
    code: int | None
    out: str
    err: str
