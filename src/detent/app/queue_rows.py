"""Executions of the queue as JSON objects."""

from datetime import UTC, datetime
from typing import Any

from detent.queue.queue_protocol import Execution


def when(seconds: float | None) -> str | None:
    """A time of the queue, for programs."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")


def as_row(e: Execution) -> dict[str, Any]:
    times = {name: when(getattr(e, name)) for name in ("added", "started", "ended")}
    return {**e._asdict(), **times, "worker": e.worker or None, "reason": e.reason or None, "waits_for": list(e.waits_for)}
