"""What an execution's driver saw, kept line by line as it happens, and read from any line on. Shows; decides nothing."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from detent.app import App, now
from detent.drive import Seen

MOST = 20_000_000  # bytes of one log; what comes later is in the journal and the transcripts


def log_file(app: App, run: str) -> Path:
    return app.place.common_dir / "detent" / "transcripts" / run / "log.jsonl"


def logged(app: App, run: str, watch: Callable[[Seen], None]) -> Callable[[Seen], None]:
    """Whoever watches, and a log beside."""
    file = log_file(app, run)
    file.parent.mkdir(parents=True, exist_ok=True)

    def see(seen: Seen) -> None:
        if not file.exists() or file.stat().st_size < MOST:
            with file.open("a", encoding="utf-8", errors="backslashreplace") as out:
                out.write(json.dumps(_row(seen), ensure_ascii=False) + "\n")
        watch(seen)

    return see


def _row(seen: Seen) -> dict[str, Any]:
    row: dict[str, Any] = {"at": now(), "event": seen.kind, "run": seen.run.id, "state": seen.run.state}
    if seen.text:
        row["text"] = seen.text
    if seen.verdict is not None:
        row |= {"status": seen.verdict.status, "reasons": list(seen.verdict.reasons)}
    return row


def read_log(file: Path, after: int = 0, limit: int = 1000) -> list[dict[str, Any]]:
    """The lines after the one of this number, each with its own; a line that is being written is left for the next time."""
    found: list[dict[str, Any]] = []
    if not file.exists():
        return found
    with file.open("rb") as lines:
        for n, line in enumerate(lines, 1):
            if n > after and line.endswith(b"\n"):
                found.append({"n": n, **json.loads(line)})
            if len(found) >= limit:
                break
    return found
