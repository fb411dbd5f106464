"""The values that all tools share: where they work and what they return. Knows none of the tools."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from detent.sandbox.process import Ran
from detent.tools.beneath import Beneath, FileStamp


class ToolResult(NamedTuple):
    """What a tool call returns to the model."""

    text: str
    failed: bool = False  # shown to the model as an error


class ToolRoom(NamedTuple):
    """Where the tools work, and what they may do there."""

    files: Beneath  # the workspace, and the only way into it
    may_write: Callable[[str], str | None]
    shell: Callable[[str], Ran]
    spill: Path
    rg: Path | None  # None: fallback.py searches
    seen: dict[str, FileStamp]  # path -> the file as the model last saw it
