"""The base of all API shapes, a frozen struct that forbids unknown fields, and the limits of their numbers and texts."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

SAFE = 2**53 - 1  # the largest integer that every JSON reader keeps exact
WRITTEN = "^[^\\u0000]*$"  # no zero byte: git, files and databases have none

Number = Annotated[int, Meta(ge=0, le=SAFE)]
Offset = Annotated[int, Meta(ge=-SAFE, le=SAFE)]
Most = Annotated[int, Meta(ge=1, le=SAFE)]
Line = Annotated[str, Meta(max_length=1000, pattern=WRITTEN)]
Text = Annotated[str, Meta(max_length=200_000, pattern=WRITTEN)]
Group = Literal["waiting", "working", "ended"]


class Shape(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A frozen value that refuses fields it does not know."""
