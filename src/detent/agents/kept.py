"""The reply of a turn, kept beside its transcript before anyone looks at it: a turn that was paid for is not paid for twice. Knows no run.

A turn is known by its attempt, which is new after every event; so a reply that is kept is the one that the run still waits for.
"""

import json
import os
from pathlib import Path

from detent.agents.protocol import Reply, Usage


def _file(transcript: Path) -> Path:
    return transcript.with_suffix(".reply.json")


def kept_reply(transcript: Path | None) -> Reply | None:
    """The reply of this very turn, if its agent had ended when the machine was stopped."""
    try:
        raw = json.loads(_file(transcript).read_bytes()) if transcript else None
        return Reply(raw["text"], Usage(**raw["usage"]), raw["turns"]) if raw else None
    except (OSError, ValueError, LookupError, TypeError):
        return None  # it was never written, or not to its end


def keep_reply(transcript: Path | None, reply: Reply) -> None:
    """Keep a reply for good."""
    if transcript is None:
        return
    file = _file(transcript)
    file.parent.mkdir(parents=True, exist_ok=True)
    scratch = file.with_suffix(".new")
    with scratch.open("w", encoding="ascii") as out:
        out.write(json.dumps({"text": reply.text, "usage": reply.usage._asdict(), "turns": reply.turns}))
        out.flush()
        os.fsync(out.fileno())
    os.replace(scratch, file)
