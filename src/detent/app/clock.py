"""The clock of the composition root. Knows nothing else."""

from datetime import UTC, datetime


def now() -> str:
    """The time, for people to read. Nothing is decided by it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
