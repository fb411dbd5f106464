"""Runs, events and executions as JSON objects, for CLI, MCP and HTTP. Changes nothing."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from detent.app import App
from detent.app.registry import workflow_of
from detent.blocks.common import is_driven
from detent.door import AnyEvent, AnyRun
from detent.queue.queue_protocol import Execution
from detent.world.pulls import url_of


def card_object(common: Path, run: str) -> dict[str, object] | None:
    """The proof card of a run as a JSON object; None if it has none."""
    from detent.blocks.check_card import object_of
    from detent.evidence.outcomes.card import kept_card

    found = kept_card(common, run)
    return object_of(found) if found else None


def known_before(run: AnyRun) -> dict[str, list[str]]:
    """The baseline of a run: tests and preflight commands that failed before it, and which of them are fixed."""
    setup = getattr(run.data, "setup", None)
    failing = [*getattr(setup, "baseline", ()), *getattr(setup, "red_preflight", ())]
    return {"failing": failing, "fixed": [each for each in failing if each in run.fixed]}


def agent_at_work(app: App, run: AnyRun) -> str:
    from detent.app.driving import driving

    return driving(app, run.id).agent if is_driven(run.data) else ""


def second_try_of(app: App, run: AnyRun) -> str:
    """The agent that took over after failed attempts; empty if none did, or no agent acts now."""
    from detent.app.who import second_try

    return second_try(app, run) if is_driven(run.data) and app.door.tables[run.workflow].states[run.state].actor == "agent" else ""


def costs_of(app: App, run: str) -> dict[str, dict[str, float]]:
    """The cost of each role of a session, its tasks included; empty for other runs."""
    flow = workflow_of(app.door.load(run).run.workflow)
    return flow.costs(app.worlds.runs.spent(run)) if flow.has_decisions else {}


def stands(app: App, event: AnyEvent) -> dict[str, object]:
    """The status of a run after its newest event, as a JSON object."""
    run_now, table = event.run, app.door.tables[event.run.workflow]
    step = table.step(run_now)
    return {
        "run": run_now.id,
        "workflow": run_now.workflow,
        "state": run_now.state,
        "cause": run_now.cause or None,
        "reason": (reason_of(run_now) or None) if run_now.cause else None,
        "step": {"task": step.task, "type": step.type, "description": step.description} if step else None,
        "agent": agent_at_work(app, run_now) or None,
        "second_try": second_try_of(app, run_now) or None,
        "tests": workflow_of(run_now.workflow).tests(run_now) or None,
        "roles": costs_of(app, run_now.id) or None,
        "counts": run_now.counts,
        "limits": run_now.limits,
        "branch": getattr(run_now.data, "branch", "") or None,
        "pull_request": url_of(app.place.common_dir, run_now) or None,
        "events": run_now.seq,
        "flags": [msgspec.to_builtins(flag) for flag in run_now.flags],
        "accepted": run_now.accepted or None,
        "known_failures": known_before(run_now),
        "said": list(run_now.said),
        "card": card_object(app.place.common_dir, run_now.id),
        "last": {"on": event.on, "status": event.status, "reasons": list(event.verdict.reasons), "at": event.at},
        "unproven": list(table.unproven(run_now)),
        "owed": [o.effect for o in app.journal.owed(run_now.id)],
    }


def newest(app: App, run: str, count: int) -> list[AnyEvent]:
    """The newest events of a run, in the order they happened."""
    from detent.journal.journal_rows import from_entry

    last = app.journal.heads(run)[0]
    table = app.door.tables[last.workflow]
    return [from_entry(table, e) for e in app.journal.events(run, max(0, last.seq - count), count)]


def history_of(app: App, run: str, count: int) -> dict[str, object]:
    """The newest events of a run and its proof card, as a JSON object."""
    from detent.git.commits import commits_by_event

    commits, left = commits_by_event(app.world.git, run), left_behind(app, run)
    rows = [
        event_row(e) | {"left": left.get(e.run.seq), "commit": commits.get(e.run.seq), **cycle_fields(e)} for e in newest(app, run, count)
    ]
    return {"run": run, "events": rows, "card": card_object(app.place.common_dir, run)}


def left_behind(app: App, run: str) -> dict[int, str]:
    """The work of undone turns, by the event that ended each: the ref that keeps it, and its files."""
    from detent.app.tally import turn_of
    from detent.world.turn_tree import left_by

    left = left_by(app.world.git, run)
    events = app.worlds.runs.history(run) if left else ()
    return {e.run.seq: f"{left[turn_of(e)].ref} ({left[turn_of(e)].names})" for e in events if turn_of(e) in left}


def cycle_fields(e: AnyEvent) -> dict[str, object]:
    """The cycle of an event, and its test or step, if any."""
    test = getattr(getattr(e.run.data, "current", None), "description", "")
    steps = (step for part in workflow_of(e.run.workflow).plan(e.run) for step in part.steps)
    proved = next((f"{step.kind}: {step.text}" for step in steps if step.proof == e.run.seq), "")
    return {"cycle": getattr(e.run.data, "cycle", 0) or None, "test": test or proved or None}


def about_event(e: AnyEvent) -> str:
    """The subject of an event beside its summary: its task, or what a person answered, changed or sent back."""
    answer = f"{e.sent.decision}: {e.sent.value}" if e.sent.verb == "answer" else ""
    edits = f"changed {', '.join(sorted(path.rpartition('/')[2] for path in e.sent.documents))}" if e.sent.documents else ""
    return " ".join(" ".join(filter(None, (_child_words(e.sent.child), answer, edits, e.sent.to and f"to {e.sent.to}"))).split())


def _child_words(child: str) -> str:
    """A child's task, and which try at it this was."""
    task, _, nth = child.rpartition("-") if child.count("-") > child.startswith("T-") else (child, "", "")
    return f"{task} (try {nth})" if nth else child


def reason_of(run: AnyRun) -> str:
    """Why a run stopped, in one line."""
    reason = run.last_reason or getattr(run.data, "reason", "") or run.last_error
    return next((line.strip() for line in reason.splitlines() if line.strip()), "")


def event_row(e: AnyEvent) -> dict[str, object]:
    """An event as a JSON object."""
    return {
        "seq": e.run.seq, "at": e.at, "by": e.sent.by, "channel": e.sent.channel, "on": e.on, "from": e.was, "state": e.run.state,
        "status": e.status, "reasons": list(e.verdict.reasons), "tree": e.found.tree, "summary": e.sent.summary, "report": e.sent.report,
        "flags": [msgspec.to_builtins(flag) for flag in e.found.flagged], "note": e.sent.note, "who": e.sent.facts.get("who") or None, "asked": e.sent.facts.get("asked") or None,
        "usage": json.loads(e.sent.facts.get("usage", "null")), "transcript": e.sent.facts.get("transcript") or None,
    }  # fmt: skip


def when(seconds: float | None) -> str | None:
    """A time of the queue as ISO text."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")


def as_row(e: Execution) -> dict[str, Any]:
    times = {name: when(getattr(e, name)) for name in ("added", "started", "ended")}
    return {**e._asdict(), **times, "worker": e.worker or None, "reason": e.reason or None, "waits_for": list(e.waits_for)}
