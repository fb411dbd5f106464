"""How an execution ended, by its journal, and what a person can do about it. Reads only."""

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
}  # state -> how a person answers an execution that waits there
FLAGGED = "Look: detent decisions --run {run}. Then: detent answer FLAGS accept --run {run}"
ENDS = {"COMPLETED": "done", "FAILED": "failed", "TIMEOUT": "failed", "BLOCKED": "blocked", "CANCELLED": "cancelled"}
WAITS = "something that it needs asked it to wait"
ASKED = "Detent asks again, and the run continues automatically"
LATER = 60.0  # seconds until a retry, where no time was named
HALTS = {"errors": "tests", "model": "model"}  # cause of a halt -> the outage behind it
PERSON, PARKED, TROUBLE = 10, 75, (2, 3)  # exit codes


def read_end(root: Path, run: str, code: int | None, last: str = "") -> ExecutionEnd:
    """How an execution ended, by its journal rather than by its exit code. An outage is named in the last line of its process."""
    fields = _last_words(last)
    with closing(journal_at(root)) as journal:  # one of this thread's own
        if not journal.heads(run):
            return ExecutionEnd("failed", f"there is no run {run} in this repository")
        if (outcome := end_of(journal, run)) is not None:
            return _once_settled(outcome, fields) if code and journal.owed(run) else outcome
        if code == PERSON:
            return ExecutionEnd("blocked", _waits(journal, run), cause=_away(journal, run))
        if code == PARKED and (cause := fields.get("cause", "")) in RECOVERY:
            asked = RECOVERY[cause].holds
            way = ASKED if asked else f"Fix that, then: detent queue retry --cause {cause}"
            return ExecutionEnd("again" if asked else "blocked", f"{fields.get('reason', '?')}. {way}", cause=cause)
        if code == PARKED and (until := _parked(journal, run)):
            trouble = _trouble(journal, run)
            why = (
                f"the model's service is away ({trouble}); it is asked again at {until}"
                if trouble
                else f"a usage limit holds it until {until}"
            )
            return ExecutionEnd("again", why, max(1.0, seconds_until(until)), "model" if trouble else "")
        if code == PARKED:
            return _asked_later(fields)
    if code in TROUBLE:
        why = " ".join(str(fields.get("error") or last).split())[:300].rstrip(". ") or "its output says why"
        return ExecutionEnd("failed", f"it could not be driven (exit code {code}): {why}. Then: detent queue retry {run}")
    return ExecutionEnd("again")


def _once_settled(outcome: ExecutionEnd, fields: dict[str, str]) -> ExecutionEnd:
    """The end of a run that still has effects to settle (its item not updated, its workspace not removed). Proved work is retried for that;
    for failed or waiting work the person who looks at it settles them."""
    cause = fields.get("cause", "")
    if outcome.state != "done":
        return outcome
    if fields.get("not_before"):
        return _asked_later(fields)
    return ExecutionEnd(
        "again", f"{fields.get('reason', 'its end is not reported everywhere yet')}. {ASKED}", cause=cause if cause in RECOVERY else ""
    )


def _asked_later(fields: dict[str, str]) -> ExecutionEnd:
    """The end "again" after the time that a tracker or forge named, or while CI runs; it does not count as a start."""
    until = fields.get("not_before", "")
    return ExecutionEnd("again", f"{fields.get('reason', WAITS)}. {ASKED}", max(1.0, seconds_until(until)) if until else LATER)


def _last_words(line: str) -> dict[str, str]:
    """The last line of a process as a JSON object; empty if it is none."""
    try:
        fields = json.loads(line) if line.startswith("{") else {}
    except ValueError:
        fields = {}
    return {name: str(value) for name, value in fields.items() if value is not None} if isinstance(fields, dict) else {}


def _away(journal: AnyJournal, run: str) -> str:
    """The outage for which a run is halted; empty if it waits for another reason."""
    inner = next((head for head in journal.children(run) if not head.ended), None)
    last = journal.last(inner.run if inner else run)
    now = json.loads(last.body)["run"] if last else {}
    return HALTS.get(now.get("cause", ""), "") if now.get("state") == "HALTED" else ""


def _trouble(journal: AnyJournal, run: str) -> str:
    """The trouble of the model service that parked a run; empty if a usage limit did."""
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
    reasons = {"done": "", "blocked": f"{_reason(journal, run)}. Once that is over: detent queue retry {run}"}
    return ExecutionEnd(state, reasons.get(state, _reason(journal, run)))


def _waits(journal: AnyJournal, run: str) -> str:
    """Why a run, or its inner run, waits for a person, and what they can do."""
    inner = next((head for head in journal.children(run) if not head.ended), None)
    head = inner or journal.heads(run)[0]
    last = journal.last(head.run)
    flagged = last is not None and json.loads(last.body)["run"].get("cause") == CAUSE
    way = (FLAGGED if flagged else WAYS.get(head.state, WAY)).format(run=run)
    return f"it waits for a person in {head.state}: {_reason(journal, head.run)}. {way}"


def _parked(journal: AnyJournal, run: str) -> str:
    """The time until which a usage limit holds a run or its inner run; else empty."""
    lasts = (journal.last(each) for each in (run, *(head.run for head in journal.children(run) if not head.ended)))
    return max((json.loads(last.body)["run"].get("not_before", "") for last in lasts if last), default="")


def _reason(journal: AnyJournal, run: str) -> str:
    """Why a run is in its state, in one line, from its last event."""
    last = journal.last(run)
    now = json.loads(last.body).get("run", {}) if last else {}
    data = now.get("data", {})
    text = data.get("reason") or (data.get("review") or {}).get("summary") or now.get("last_reason") or now.get("cause") or "?"
    return " ".join(str(text).split())[:300].rstrip(". ")
