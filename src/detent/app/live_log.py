"""The live log of a driven run: a text file that grows while agents work and is read by byte offset. Nothing is decided by it.

Lines that begin with a record separator are the machine's, in JSON: which turn begins, how it was judged. All others are an agent's output.
"""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from detent.app import App, now
from detent.drive import Seen
from detent.errors import DetentError

MARK = "\x1e"
LARGEST = 64_000_000  # bytes of one file; the rest is dropped
LONGEST_READ = 1_000_000
LONGEST_STOP = 10_000
STOPPED = "stopped"  # the kind of the line that says why driving stopped


class LogChunk(NamedTuple):
    """A piece of the log, and the offset of the next one."""

    text: str
    next: int
    size: int


def live_file(app: App, run: str) -> Path:
    return app.place.common_dir / "detent" / "live" / f"{run}.log"


def driver_log(app: App, run: str) -> Path:
    """The output file of the process that the web page started to drive a run."""
    return live_file(app, run).with_suffix(".driver")


def kept_live(app: App, run: str, watch: Callable[[Seen], None]) -> Callable[[Seen], None]:
    """A watcher that also appends to the run's live log."""
    file = live_file(app, run)

    def see(seen: Seen) -> None:
        watch(seen)
        if text := _line(seen):
            append(file, text)

    return see


def _line(seen: Seen) -> str:
    if seen.kind == "progress":
        return "" if seen.progress and seen.progress.kind == "usage" else seen.text.replace(MARK, " ").rstrip("\n") + "\n"
    if seen.kind == "state":
        return ""
    row = {"kind": seen.kind, "at": now(), "run": seen.run.id, "state": seen.briefing.state, "role": seen.briefing.role}
    verdict = {"status": seen.verdict.status, "to": seen.verdict.state} if seen.verdict else {}
    return f"{MARK}{json.dumps({**row, **verdict, 'text': seen.text})}\n"


def keep_stop(app: App, run: str, why: DetentError) -> None:
    """Log why a driver gave up on a run, since no event records that."""
    message = f"{why.message} ({why.hint})" if why.hint else why.message
    append(
        live_file(app, run),
        f"{MARK}{json.dumps({'kind': STOPPED, 'at': now(), 'run': run, 'state': STOPPED.upper(), 'role': '', 'text': message})}\n",
    )


def why_stopped(app: App, run: str) -> str:
    """Why driving stopped, if that is the last line of the log; else empty."""
    last = read_from(live_file(app, run), -LONGEST_STOP).text.rstrip("\n").rpartition("\n")[2]
    try:
        row = json.loads(last.removeprefix(MARK)) if last.startswith(MARK) else {}
    except ValueError:
        return ""
    return str(row.get("text", "")) if row.get("kind") == STOPPED else ""


def append(file: Path, text: str) -> None:
    """Append to a log; write errors are ignored, since the journal is the record."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        fd = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError:
        return
    try:
        if os.fstat(fd).st_size < LARGEST:
            os.write(fd, text.encode("utf-8", "replace"))
    except OSError:
        pass
    finally:
        os.close(fd)


def read_from(file: Path, after: int, most: int = LONGEST_READ) -> LogChunk:
    """Whole lines from an offset on; a negative offset counts from the end. An unfinished last line is left for the next read."""
    try:
        with file.open("rb") as source:
            size = os.fstat(source.fileno()).st_size
            start = max(0, size + after) if after < 0 else min(after, size)
            source.seek(start)
            data = source.read(most)
    except FileNotFoundError:
        return LogChunk("", 0, 0)
    whole = data[: data.rfind(b"\n") + 1] or (data if len(data) >= most else b"")
    return LogChunk(whole.decode("utf-8", "replace"), start + len(whole), size)
