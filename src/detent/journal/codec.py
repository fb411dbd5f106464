"""Events to journal entries and back. The only place that knows both forms."""

import msgspec

from detent.errors import JournalDamaged
from detent.journal.journal import Entry
from detent.kernel.model import Briefing, Event
from detent.kernel.rows import T
from detent.kernel.table import Table

FINAL = ("SUCCESS", "FAILURE", "NEEDS_ANALYSIS", "HALTED")  # a repeat of such an attempt gets the same answer again


def to_entry(table: Table[T], event: Event[T]) -> Entry:
    run = event.run
    return Entry(
        run=run.id,
        seq=run.seq,
        workflow=run.workflow,
        state=run.state,
        on=event.on,
        status=event.status,
        at=event.at,
        attempt=event.sent.attempt_id if event.status in FINAL else "",
        tree=event.found.tree,
        body=msgspec.json.encode(msgspec.structs.replace(event, briefing=None)),
        brief=msgspec.json.encode(event.briefing).decode() if event.briefing else "",
        parent=run.parent,
        worktree=run.worktree,
        ended=bool(table.states[run.state].end),
        owes=event.owes,
    )


def from_entry(table: Table[T], entry: Entry) -> Event[T]:
    try:
        event = msgspec.json.decode(entry.body, type=Event[table.data])  # type: ignore[name-defined]
        briefing = msgspec.json.decode(entry.brief, type=Briefing) if entry.brief else None
    except msgspec.DecodeError as e:
        raise JournalDamaged(f"event {entry.seq} of run {entry.run} cannot be read: {e}", "a newer Detent may have written it") from e
    return msgspec.structs.replace(event, briefing=briefing)
