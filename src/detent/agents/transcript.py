"""The transcript of a turn: JSON Lines, one per message, redacted, readable only by its owner. Owns the file; knows no backend.

Nothing goes unrecorded: if the transcript cannot be written, the turn ends.
"""

import json
import os
from datetime import UTC, datetime
from pathlib import Path

from detent.agents.texts import whole
from detent.errors import DetentError
from detent.kernel.redact import Redact, redact_all


class Transcript:
    """Appends to a file; does nothing without one."""

    def __init__(self, path: Path | None, redact: Redact) -> None:
        self.path, self.redact = path, redact

    def add(self, kind: str, **fields: object) -> None:
        """Append one line: its kind, the time, and the fields."""
        if self.path is None:
            return
        line = {"at": datetime.now(UTC).isoformat(timespec="milliseconds"), "kind": kind, **fields}
        try:
            self._append(self.path, as_line(line, self.redact))
        except OSError as e:
            raise DetentError(f"the transcript {self.path} cannot be written: {e.strerror}", "free some space, or make it writable") from e

    def _append(self, path: Path, line: bytes) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            os.fchmod(fd, 0o600)
            while line:
                line = line[os.write(fd, line) :]
        finally:
            os.close(fd)


def as_line(value: object, redact: Redact) -> bytes:
    """One line of valid JSON, whatever the texts hold; lone surrogates are escaped."""
    try:
        text = json.dumps(redact_all(lambda t: whole(redact(t)), value), ensure_ascii=False, allow_nan=False, default=str)
    except (ValueError, RecursionError):
        text = json.dumps({"kind": "unreadable", "text": "a message that cannot be written as JSON"})
    return text.encode("utf-8", "replace") + b"\n"
