"""What a tracker's program said and how it ended. A value."""

from typing import NamedTuple


class Said(NamedTuple):
    code: int | None
    out: str
    err: str
