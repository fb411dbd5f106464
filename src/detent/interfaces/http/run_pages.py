"""API calls for one run in full and for its events. Changes nothing."""

from collections.abc import Sequence

import msgspec

from detent.app import App
from detent.app.live_log import driver_log, live_file
from detent.app.outline import merged_into, plan_of
from detent.app.push import commits_of
from detent.app.questions import actor_now
from detent.app.revising import edited_documents, stages
from detent.app.run_rows import about_event, costs_of
from detent.app.tally import budget_of, turn_of
from detent.blocks.common import Part
from detent.door import AnyEvent
from detent.interfaces.http import shapes
from detent.interfaces.http.heads import NotFound, head_of
from detent.interfaces.http.inbox import open_questions
from detent.interfaces.http.runs_board import MOST, RunsBoard, stamp_of
from detent.interfaces.http.usage import limits_of, usage_of
from detent.journal.journal_rows import from_entry


def run_shown(app: App, board: RunsBoard, run_id: str) -> shapes.RunShown:
    head = head_of(app, run_id)
    stamp = stamp_of(app, head)
    event = app.door.load(run_id)
    run, table = event.run, app.door.tables[head.workflow]
    acting = run if head.ended else app.door.acting(run_id)
    briefing = app.door.load(acting.id).briefing
    inner, sums = app.door.tables[acting.workflow], board.tally.of(app, run_id, head.seq)
    return shapes.RunShown(
        run=board.row(app, stamp),
        request=getattr(run.data, "feature_request", "") or getattr(run.data, "request", ""),
        briefing=briefing.briefing if briefing else "",
        actor=actor_now(app, acting),
        role=inner.states[acting.state].role,
        instruction=inner.instruction(acting),
        counts=run.counts,
        limits=run.limits,
        budget=limits_of(budget_of(app, board.tally, run, (head, *stamp.children))),
        plan=tuple(_part(p) for p in plan_of(run)),
        children=tuple(board.row(app, stamp_of(app, h)) for h in stamp.children),
        path=tuple(shapes.PathTaken(at=at, to=to, times=n) for (at, to), n in sums.path.items()),
        commits=tuple(shapes.CommitRow(**c._asdict()) for c in commits_of(app, run)),
        base=getattr(run.data, "base", ""),
        workspace=run.data.setup.workspace,
        agent=run.data.setup.agent,
        sandbox=event.verdict.evidence.sandbox if event.verdict.evidence else "",
        guidance=acting.guidance,
        last_error=acting.last_error,
        unproven=tuple(table.unproven(run)),
        flags=run.flags,
        held_by=stamp.driver,
        trouble="" if head.ended or stamp.driver else _trouble(app, run_id),
        asks=() if head.ended else tuple(q.id for q in open_questions(app, head)),
        output_size=_size(app, run_id),
        edited=() if head.ended or head.parent else tuple(sorted("/".join(path.split("/")[2:]) for path in edited_documents(app, run_id))),
        stages=() if head.ended or head.parent else stages(app, run_id),
        roles=costs_of(app, run_id),
        has_documents=not head.parent and bool(stages(app, run_id)),
        merged_into=merged_into(app, run_id),
    )


def _part(part: Part) -> shapes.PartRow:
    steps = tuple(shapes.StepRow(**s._asdict()) for s in part.steps)
    return shapes.PartRow(name=part.name, title=part.title, status=part.status, steps=steps, needs=part.needs)


def _trouble(app: App, run: str) -> str:
    """The error of the last driver process that the page started; else empty."""
    try:
        row = msgspec.json.decode(driver_log(app, run).read_bytes().strip().splitlines()[-1], type=dict[str, object])
    except (OSError, IndexError, msgspec.DecodeError):
        return ""
    parts = (str(row[name]) for name in ("error", "hint") if row.get(name) and "exit_code" in row)
    return ". ".join(parts)


def _size(app: App, run: str) -> int:
    file = live_file(app, run)
    return file.stat().st_size if file.is_file() else 0


# -- events --------------------------------------------------------------------------------------------------------------------


def events(app: App, run: str, after: int, limit: int) -> shapes.Events:
    """The events after a number, in order."""
    head = head_of(app, run)
    return shapes.Events(run=run, events=tuple(event_rows(app, run, after, min(limit, MOST))), last=head.seq)


def event_rows(app: App, run: str, after: int, limit: int) -> list[shapes.EventRow]:
    start = max(0, after - 1)  # the previous event has the step
    found = [from_entry(app.door.tables[e.workflow], e) for e in app.journal.events(run, start, limit + min(1, max(0, after)))]
    return [event_row(app, e, found[i - 1] if i else None) for i, e in enumerate(found) if e.run.seq > after]


def event_row(app: App, event: AnyEvent, before: AnyEvent | None) -> shapes.EventRow:
    sent, facts = event.sent, event.sent.facts
    step = app.door.tables[event.run.workflow].step((before or event).run)
    summary = sent.summary or sent.note or sent.guidance or sent.report[:200] or sent.value or (sent.output[:200] if sent.outcome else "")
    return shapes.EventRow(
        seq=event.run.seq,
        at=event.at,
        by=sent.by,
        channel=sent.channel,
        on=event.on,
        was=event.was,
        state=event.run.state,
        status=event.status,
        reasons=event.verdict.reasons,
        flags=event.found.flagged,
        summary=summary,
        about=about_event(event),
        tree=event.found.tree,
        evidence=event.verdict.evidence,
        usage=_used(event) if "usage" in facts else None,
        attempt=turn_of(event),
        step=f"{step.type}: {step.description}" if step and sent.verb == "submit" else "",
        output_size=len(event.verdict.output),
    )


def _used(event: AnyEvent) -> shapes.TokenUse:
    from detent.drive.spent import spent_in

    return usage_of(spent_in([event], whole=True))


def two_events(app: App, run: str, seq: int) -> Sequence[AnyEvent]:
    """An event, preceded by the one before it, if any."""
    head_of(app, run)
    found = [from_entry(app.door.tables[e.workflow], e) for e in app.journal.events(run, max(0, seq - 2), 2 if seq > 1 else 1)]
    if not found or found[-1].run.seq != seq:
        raise NotFound(f"run {run} has no event {seq}", f"GET /api/runs/{run}/events lists them")
    return found


def event_shown(app: App, run: str, seq: int) -> shapes.EventShown:
    found = two_events(app, run, seq)
    event = found[-1]
    return shapes.EventShown(
        event=event_row(app, event, found[0]),
        output=event.verdict.output,
        report=event.sent.report,
        note=event.sent.note or event.sent.guidance,
        held=event.found.held,
        command=event.verdict.evidence.command if event.verdict.evidence else event.sent.test_command,
        instruction=event.verdict.instruction,
    )
