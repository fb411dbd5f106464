"""Which entries of a script were played: a small file beside the transcript, written before an entry is played. Knows no entry's content.

A repeated attempt gets its entry again. Concurrent processes are serialized by a lock.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from detent.errors import DetentError

FILE = "scripted.json"


class PlayedEntries(msgspec.Struct, forbid_unknown_fields=True):
    """attempt -> the number of its entry; and the entries whose failure was delivered."""

    taken: dict[str, int] = {}
    failed: list[int] = []


def choose(transcript: Path | None, script: str, attempt: str, fitting: list[tuple[int, bool]]) -> int | None:
    """The entry for an attempt: the one it had, else the first fitting one that is not used up. Without a transcript, simply the first."""
    if transcript is None:
        return fitting[0][0] if fitting else None
    with _kept(transcript.parent) as all_played:
        played = all_played.setdefault(script, PlayedEntries())
        had = played.taken.get(attempt)
        if had is not None and had not in played.failed:
            return had
        used = {*played.taken.values(), *played.failed}
        number = next((i for i, again in fitting if again or i not in used), None)
        if number is not None:
            played.taken[attempt] = number
        return number


def spend_entry(transcript: Path | None, script: str, attempt: str, number: int) -> None:
    """Mark an entry's failure as delivered, so that the same attempt moves on to the next entry."""
    if transcript is not None:
        with _kept(transcript.parent) as all_played:
            all_played.setdefault(script, PlayedEntries()).failed.append(number)


@contextmanager
def _kept(folder: Path) -> Iterator[dict[str, PlayedEntries]]:
    """Load the file under a lock, and replace it afterwards."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / FILE
    with (folder / (FILE + ".lock")).open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            played = msgspec.json.decode(file.read_bytes(), type=dict[str, PlayedEntries]) if file.exists() else {}
        except msgspec.MsgspecError as e:
            raise DetentError(f"{file} cannot be read: {e}", "remove it to play the script from its beginning") from e
        yield played
        scratch = file.with_suffix(".new")
        with scratch.open("wb") as out:
            out.write(msgspec.json.encode(played))
            out.flush()
            os.fsync(out.fileno())
        os.replace(scratch, file)
