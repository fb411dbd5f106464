"""How an execution ended, as its journal has it, and what a person can do about it. Reads only."""

import json
from contextlib import closing
from pathlib import Path

from detent.app import AnyJournal, journal_at
from detent.app.overtime import seconds_until
from detent.blocks.open_flags import CAUSE
from detent.queue.queue_protocol import ExecutionEnd
from detent.queue.recovery import RECOVERY

WAY = "Look: detent status --run {run}. Then: detent resume --run {run}"
WAYS = {
    "HALTED": "Fix that, then: detent queue retry {run}",
    "NOT_READY": "It is reviewed again once the items of its review are closed. Or: detent answer REVIEW fix (or override) --run {run}",
}  # what a person can do where an execution waits for one
FLAGGED = "Look: detent decisions --run {run}. Then: detent answer FLAGS accept --run {run}"
ENDS = {"COMPLETED": "done", "FAILED": "failed", "TIMEOUT": "failed", "BLOCKED": "blocked", "CANCELLED": "cancelled"}
WAITS = "something that it needs asked it to wait"
ASKED = "Detent asks again, and the run continues automatically"
LATER = 60.0  # seconds until that is asked again, where no time was named
HALTS = {"errors": "tests", "model": "model"}  # what is away where a run waits for a person because of this
PERSON, PARKED, TROUBLE = 10, 75, (2, 3)  # exit codes


def ended(root: Path, run: str, code: int | None, last: str = "") -> ExecutionEnd:
    """How an execution ended, as its journal has it; an exit code alone says nothing. What was away, its program says in its last line."""
    said = _last_words(last)
    with closing(journal_at(root)) as journal:  # one of this thread's own
        if not journal.heads(run):
            return ExecutionEnd("failed", f"there is no run {run} in this repository")
        if (outcome := end_of(journal, run)) is not None:
            return _once_settled(outcome, said) if code and journal.owed(run) else outcome
        if code == PERSON:
            return ExecutionEnd("blocked", _waits(journal, run), cause=_away(journal, run))
        if code == PARKED and (cause := said.get("cause", "")) in RECOVERY:
            asked = RECOVERY[cause].holds
            way = ASKED if asked else f"Fix that, then: detent queue retry --cause {cause}"
            return ExecutionEnd("again" if asked else "blocked", f"{said.get('reason', '?')}. {way}", cause=cause)
        if code == PARKED and (until := _parked(journal, run)):
            trouble = _trouble(journal, run)
            why = (
                f"the model's service is away ({trouble}); it is asked again at {until}"
                if trouble
                else f"a usage limit holds it until {until}"
            )
            return ExecutionEnd("again", why, max(1.0, seconds_until(until)), "model" if trouble else "")
        if code == PARKED:
            return _asked_later(said)
    if code in TROUBLE:
        why = " ".join(str(said.get("error") or last).split())[:300].rstrip(". ") or "its output says why"
        return ExecutionEnd("failed", f"it could not be driven (exit code {code}): {why}. Then: detent queue retry {run}")
    return ExecutionEnd("again")


def _once_settled(outcome: ExecutionEnd, said: dict[str, str]) -> ExecutionEnd:
    """The end of a run whose item was not told yet, or whose workspace is still there. What is proved is taken up again for that; whoever
    looks at what failed or waits does it there."""
    cause = said.get("cause", "")
    if outcome.state != "done":
        return outcome
    if said.get("not_before"):
        return _asked_later(said)
    return ExecutionEnd(
        "again", f"{said.get('reason', 'its end is not reported everywhere yet')}. {ASKED}", cause=cause if cause in RECOVERY else ""
    )


def _asked_later(said: dict[str, str]) -> ExecutionEnd:
    """A tracker or a forge takes no more requests, or CI is at work: it waits until the time that was named, which counts no start."""
    until = said.get("not_before", "")
    return ExecutionEnd("again", f"{said.get('reason', WAITS)}. {ASKED}", max(1.0, seconds_until(until)) if until else LATER)


def _last_words(line: str) -> dict[str, str]:
    """The last line of a program as it says it to programs; empty if it is none of that kind."""
    try:
        said = json.loads(line) if line.startswith("{") else {}
    except ValueError:
        said = {}
    return {name: str(value) for name, value in said.items() if value is not None} if isinstance(said, dict) else {}


def _away(journal: AnyJournal, run: str) -> str:
    """What is away, where that is why a run waits for a person."""
    inner = next((head for head in journal.children(run) if not head.ended), None)
    last = journal.last(inner.run if inner else run)
    now = json.loads(last.body)["run"] if last else {}
    return HALTS.get(now.get("cause", ""), "") if now.get("state") == "HALTED" else ""


def _trouble(journal: AnyJournal, run: str) -> str:
    """What was wrong with the model's service, where that parked a run, and no usage limit did."""
    for each in (run, *(head.run for head in journal.children(run) if not head.ended)):
        last = journal.last(each)
        sent = json.loads(last.body).get("sent", {}) if last else {}
        if sent.get("outcome") == "limited" and sent.get("facts", {}).get("trouble"):
            return " ".join(str(sent.get("output", "")).split())[:200].rstrip(". ")
    return ""


def end_of(journal: AnyJournal, run: str) -> ExecutionEnd | None:
    """How a run ended, and what a person can do about it; None if it has not ended."""
    heads = journal.heads(run)
    if not heads or not heads[0].ended:
        return None
    state = ENDS.get(heads[0].state, "failed")
    said = {"done": "", "blocked": f"{_reason(journal, run)}. Once that is over: detent queue retry {run}"}
    return ExecutionEnd(state, said.get(state, _reason(journal, run)))


def _waits(journal: AnyJournal, run: str) -> str:
    """Why a run waits for a person, and what they can say. It may be an inner run that waits."""
    inner = next((head for head in journal.children(run) if not head.ended), None)
    head = inner or journal.heads(run)[0]
    last = journal.last(head.run)
    flagged = last is not None and json.loads(last.body)["run"].get("cause") == CAUSE
    way = (FLAGGED if flagged else WAYS.get(head.state, WAY)).format(run=run)
    return f"it waits for a person in {head.state}: {_reason(journal, head.run)}. {way}"


def _parked(journal: AnyJournal, run: str) -> str:
    """Until when a usage limit holds a run, or its inner run; empty if none does."""
    lasts = (journal.last(each) for each in (run, *(head.run for head in journal.children(run) if not head.ended)))
    return max((json.loads(last.body)["run"].get("not_before", "") for last in lasts if last), default="")


def _reason(journal: AnyJournal, run: str) -> str:
    """Why a run is where it is, in a line, from its last event."""
    last = journal.last(run)
    now = json.loads(last.body).get("run", {}) if last else {}
    data = now.get("data", {})
    text = data.get("reason") or (data.get("review") or {}).get("summary") or now.get("last_reason") or now.get("cause") or "?"
    return " ".join(str(text).split())[:300].rstrip(". ")
