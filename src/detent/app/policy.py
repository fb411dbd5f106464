"""Answers that a person gives beforehand, for runs that nobody attends: `--yes-to`. What they cover, and the words they become. Decides nothing."""

import getpass
import os
from collections.abc import Iterable

from detent.door import AnyRun
from detent.errors import DetentError
from detent.gates.documents import recommended
from detent.gates.human import pending
from detent.kernel.model import Sent

POLICIES: dict[str, tuple[str, ...]] = {  # the first value is what the bare name means
    "approve-design": ("approved",),
    "review-strategy": ("recommended", "per-batch", "single-final"),
    "notes": ("accept", "fix"),
    "questions": ("own-judgement",),
}
KINDS = {"approval": "approve-design", "strategy": "review-strategy", "notes": "notes", "question": "questions"}
WORDS = {
    "own-judgement": "Nobody can be asked now. Decide by what the request and the documents say, and tell in artifacts.notes what you assumed."
}
MOST_QUESTIONS = 2  # of one role that a policy answers; who still cannot go on then needs a person


def read_policies(words: Iterable[str]) -> dict[str, str]:
    """`approve-design,review-strategy=recommended` as a table; what is not known is refused with what is."""
    found: dict[str, str] = {}
    for word in (w.strip() for line in words for w in line.split(",") if w.strip()):
        name, _, value = word.partition("=")
        takes = POLICIES.get(name)
        if takes is None:
            raise DetentError(f"--yes-to: there is no policy '{name}'", f"known: {', '.join(POLICIES)}")
        if value and value not in takes:
            raise DetentError(f"--yes-to: {name} does not take '{value}'", f"it takes: {', '.join(takes)}")
        found[name] = value or takes[0]
    return found


def answer_of(run: AnyRun) -> Sent | None:
    """The answer that a run's policies give to its open question; None where they say nothing. A question about security is never theirs."""
    asked = pending(run.data) if run.workflow in ("pipeline", "task") else None
    if asked is None or asked.security:
        return None
    name = KINDS.get(asked.kind, "")
    value = run.data.policies.get(name, "")
    if not value:
        return None
    before = [d for d in run.data.decisions if d.kind == "question" and d.channel == "policy" and d.state_context == asked.state_context]
    if asked.kind == "question" and len(before) >= MOST_QUESTIONS:
        return None
    value = recommended(run.data.tasks)[0] if value == "recommended" else WORDS.get(value, value)
    said = f"by the policy {name}={run.data.policies[name]}, given when the run was started"
    return Sent("answer", by="human", channel="policy", decision=asked.decision_id, value=value, note=said, facts={"who": user()})


def user() -> str:
    """Who runs this process."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return f"uid {os.getuid()}"
