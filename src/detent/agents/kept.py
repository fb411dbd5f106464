"""What survives a turn that is cut off: its reply and the tokens it used, kept beside the transcript. Knows no run.

A turn that was paid for is not paid for twice, and what a killed turn used counts towards the one that replaces it. A turn is known by
its attempt, which changes with every event, so a kept reply is always the one that the run still waits for.
"""

import contextlib
import json
import os
from pathlib import Path

from detent.agents.agent_protocol import Reply, Usage

REPLY, SPENT = ".reply.json", ".spent.json"


def kept_reply(transcript: Path | None) -> Reply | None:
    """The kept reply of this attempt, if its agent finished before the machine was stopped; else None."""
    try:
        raw = json.loads(transcript.with_suffix(REPLY).read_bytes()) if transcript else None
        return Reply(raw["text"], Usage(**raw["usage"]), raw["turns"]) if raw else None
    except (OSError, ValueError, LookupError, TypeError):
        return None  # it was never written, or not completely


def keep_reply(transcript: Path | None, reply: Reply) -> None:
    """Keep a reply durably."""
    if transcript is not None:
        _keep(transcript.with_suffix(REPLY), {"text": reply.text, "usage": reply.usage._asdict(), "turns": reply.turns})


def kept_spent(transcript: Path | None) -> Usage:
    """The tokens of this attempt's earlier turns that ended without a reply. A turn whose reply is kept carries its own usage."""
    if transcript is None:
        return Usage()
    try:
        raw = json.loads(transcript.with_suffix(SPENT).read_bytes())
        before, now = Usage(**raw["before"]), Usage(**raw["now"])
    except (OSError, ValueError, LookupError, TypeError):
        return Usage()  # no turn was killed
    return before if kept_reply(transcript) else before + now


def keep_spent(transcript: Path | None, before: Usage, now: Usage) -> None:
    """Keep what this turn used so far and what earlier ones used, in case it is killed. Ignores a full disk."""
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
