"""Which files are generated code, whose lines need no tests. Pure.

A file must have been generated before the change too, so a change cannot exempt its own lines.
"""

import re
from pathlib import PurePosixPath

NAMED = re.compile(
    r".*(?:_pb2(?:_grpc)?\.pyi?|\.pb\.go|\.pb\.(?:cc|h)|\.g\.dart|\.freezed\.dart|\.[Dd]esigner\.cs|\.generated\.\w+|_generated\.\w+|\.min\.js)"
)
SAYS = re.compile(r"(?i)@generated\b|\b(?:auto-?|automatically )?generated (?:by|from|with|file|code)\b|\bcode generated\b|\bdo not edit\b")
LINES = 12  # searched at the top of a file


def is_generated(path: str, old: str, new: str) -> bool:
    """Whether a file was and still is generated, by its name or its first lines."""
    return bool(old) and all(NAMED.fullmatch(PurePosixPath(path).name) or _says(text) for text in (old, new))


def _says(text: str) -> bool:
    return SAYS.search("\n".join(text.splitlines()[:LINES])) is not None
