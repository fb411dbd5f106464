"""The reply of a turn, kept beside its transcript before anyone looks at it: a turn that was paid for is not paid for twice. Knows no run.
And what a turn has used so far, so that one that was killed is counted with the one that goes on in its place.

A turn is known by its attempt, which is new after every event; so a reply that is kept is the one that the run still waits for.
"""

import contextlib
import json
import os
from pathlib import Path

from detent.agents.agent_protocol import Reply, Usage

REPLY, SPENT = ".reply.json", ".spent.json"


def kept_reply(transcript: Path | None) -> Reply | None:
    """The reply of this very turn, if its agent had ended when the machine was stopped."""
    try:
        raw = json.loads(transcript.with_suffix(REPLY).read_bytes()) if transcript else None
        return Reply(raw["text"], Usage(**raw["usage"]), raw["turns"]) if raw else None
    except (OSError, ValueError, LookupError, TypeError):
        return None  # it was never written, or not to its end


def keep_reply(transcript: Path | None, reply: Reply) -> None:
    """Keep a reply for good."""
    if transcript is not None:
        _keep(transcript.with_suffix(REPLY), {"text": reply.text, "usage": reply.usage._asdict(), "turns": reply.turns})


def kept_spent(transcript: Path | None) -> Usage:
    """What earlier turns of this attempt used that ended without a word; one whose reply is kept says itself what it used."""
    if transcript is None:
        return Usage()
    try:
        raw = json.loads(transcript.with_suffix(SPENT).read_bytes())
        before, now = Usage(**raw["before"]), Usage(**raw["now"])
    except (OSError, ValueError, LookupError, TypeError):
        return Usage()  # none was killed
    return before if kept_reply(transcript) else before + now


def keep_spent(transcript: Path | None, before: Usage, now: Usage) -> None:
    """Keep what this turn has used so far, beside what earlier ones used. It is for the one that is killed: a full disk ends none."""
    if transcript is None:
        return
    with contextlib.suppress(OSError):
        _keep(transcript.with_suffix(SPENT), {"before": before._asdict(), "now": now._asdict()})


def _keep(file: Path, value: object) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    scratch = file.with_suffix(".new")
    with scratch.open("w", encoding="ascii") as out:
        out.write(json.dumps(value))
        out.flush()
        os.fsync(out.fileno())
    os.replace(scratch, file)
