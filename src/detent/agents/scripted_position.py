"""Which entries of a script were played: a small file beside the transcript, written before an entry is played. Knows no entry's content.

An attempt that comes again gets the entry it had. Two processes at once take turns.
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
    """By attempt, the number of its entry; and the entries whose failure was delivered."""

    taken: dict[str, int] = {}
    failed: list[int] = []


def choose(transcript: Path | None, script: str, attempt: str, fitting: list[tuple[int, bool]]) -> int | None:
    """The entry for an attempt: the one it had, or else the first that fits and is not used up. Without a transcript, the first that fits."""
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
    """A failure was played: the same attempt goes on with the next entry."""
    if transcript is not None:
        with _kept(transcript.parent) as all_played:
            all_played.setdefault(script, PlayedEntries()).failed.append(number)


@contextmanager
def _kept(folder: Path) -> Iterator[dict[str, PlayedEntries]]:
    """What is kept, under a lock; written back whole."""
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
