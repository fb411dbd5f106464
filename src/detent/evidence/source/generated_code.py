"""Code that programs wrote: no test is asked to notice each line of it. Pure.

Only what was such code before counts: a change cannot call its own lines generated.
"""

import re
from pathlib import PurePosixPath

NAMED = re.compile(
    r".*(?:_pb2(?:_grpc)?\.pyi?|\.pb\.go|\.pb\.(?:cc|h)|\.g\.dart|\.freezed\.dart|\.[Dd]esigner\.cs|\.generated\.\w+|_generated\.\w+|\.min\.js)"
)
SAYS = re.compile(r"(?i)@generated\b|\b(?:auto-?|automatically )?generated (?:by|from|with|file|code)\b|\bcode generated\b|\bdo not edit\b")
LINES = 12  # at the top of a file


def is_generated(path: str, old: str, new: str) -> bool:
    """Whether a program wrote a file, before the change and now."""
    return bool(old) and all(NAMED.fullmatch(PurePosixPath(path).name) or _says(text) for text in (old, new))


def _says(text: str) -> bool:
    return SAYS.search("\n".join(text.splitlines()[:LINES])) is not None
