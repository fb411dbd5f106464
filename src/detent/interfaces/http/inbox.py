"""The inbox: open questions to people with everything needed to answer, and answers bound to what was shown. The door decides."""

from collections.abc import Iterator
from hashlib import sha256
from itertools import chain, islice

import msgspec

from detent.app import App
from detent.app.land_asked import Left, open_landings
from detent.app.next_step import nobody_drives
from detent.app.outline import title_of
from detent.app.push import STUCK
from detent.app.questions import actor_now, at_work, choices, ways
from detent.app.registry import workflow_of
from detent.blocks.open_flags import ACCEPT, CAUSE, asking, hunk_of
from detent.door import AnyRun
from detent.errors import DetentError
from detent.gates.human import CORRECTIONS, PICKING, DecisionData, PersonDecision, pending
from detent.interfaces.http import shapes, shapes_inbox
from detent.interfaces.http.answer_words import ALONE, CONTINUE, DOES, MERGE, STOPPED, WHY, options_of
from detent.interfaces.http.heads import NotFound, StalePage, cut_flag, head_of
from detent.interfaces.http.runs_board import MOST, RowStamp, RunsBoard, stands
from detent.journal.journal import Head
from detent.kernel.model import Flag
from detent.world.pulls import url_of

LANDING = "land:"  # prefix of the ids of `land` questions, which belong to no run
AFTERWARDS = (
    "If you accept, it is recorded, and `detent land {branch}` lands the branch as it is; in a terminal, `{command}` does both. "
    "To change it, change the branch: it is checked again."
)
UNDRIVEN = "undriven"  # kind of the row for a run that should be driven and is not
DRIVE = "drive"  # the verb that has it driven again
WAITS = "waits"  # decision of the row for a run that waits to be released


def questions(app: App, board: RunsBoard, asked: shapes.DecisionsAsked) -> shapes_inbox.Decisions:
    """A page of questions: those of `land`, then those of open runs, the oldest run last; with `all`, answered ones too.

    Only runs that may have questions are read.
    """
    mine = (s for s in stands(app).values() if not s.head.parent and (asked.all or _may_ask(app, board, s)))
    end = asked.offset + min(asked.limit, MOST)
    every = chain(landings(app), (q for s in mine for q in _of_run(app, s.head, asked.all)))
    found = list(islice(every, asked.offset, end + 1))
    return shapes_inbox.Decisions(decisions=tuple(found[: end - asked.offset]), next=end if len(found) > end - asked.offset else None)


def _may_ask(app: App, board: RunsBoard, stamp: RowStamp) -> bool:
    """Whether a run may have open questions: it waits, has no driver, or has several children at work."""
    several = sum(not c.ended for c in stamp.children) > 1
    return not stamp.head.ended and (not stamp.driver or several or board.group(app, stamp) == "waiting")


def open_questions(app: App, head: Head) -> list[shapes_inbox.DecisionRow]:
    return [q for q in _of_run(app, head, False) if q.status == "pending"]


def _of_run(app: App, head: Head, every: bool) -> Iterator[shapes_inbox.DecisionRow]:
    top = app.door.load(head.run).run
    for run in app.worlds.runs.family(head.run) if every else ():
        if isinstance(run.data, DecisionData):
            yield from (_row(app, top, run, d) for d in run.data.decisions if d.status != "pending")
    for acting in () if head.ended else at_work(app, head.run):
        if actor_now(app, acting) == "human":
            asked = pending(acting.data) if isinstance(acting.data, DecisionData) else None
            yield _row(app, top, acting, asked) if asked and "resume" not in choices(app, acting) else _wait(app, top, acting)
    if why := nobody_drives(app, head):
        yield msgspec.structs.replace(_wait(app, top, top), kind=UNDRIVEN, question=why)


def _row(app: App, top: AnyRun, run: AnyRun, asked: PersonDecision) -> shapes_inbox.DecisionRow:
    return shapes_inbox.DecisionRow(
        id=f"{run.id}:{asked.decision_id}",
        run=run.id,
        title=title_of(top),
        workflow=top.workflow,
        state=run.state,
        kind=asked.kind,
        decision=asked.decision_id,
        question=asked.question,
        asked_at=app.worlds.runs.when(run.id, asked.asked),
        security=asked.security,
        status=asked.status,
        answer=asked.answer or asked.resolution_reason,
        answered_by=f"{asked.who} · {asked.channel}".strip(" ·") if asked.status != "pending" else "",
    )


def _wait(app: App, top: AnyRun, run: AnyRun) -> shapes_inbox.DecisionRow:
    """The row of a run that waits to be released, or whose state asks a question."""
    event = app.door.load(run.id)
    return shapes_inbox.DecisionRow(
        id=f"{run.id}:{WAITS}",
        run=run.id,
        title=title_of(top),
        workflow=top.workflow,
        state=run.state,
        kind=run.cause or ("merge" if _lands(app, run) else "halted"),
        decision=WAITS,
        question=run.last_reason or app.door.briefing(event).goal or "The run waits for a person.",
        asked_at=event.at,
        security=False,
        status="pending",
        answer="",
        answered_by="",
    )


# -- one question --------------------------------------------------------------------------------------------------------------


def show_decision(app: App, id: str) -> shapes_inbox.DecisionShown:
    """One open question with its documents and flags, and the digest that an answer is bound to."""
    if id.startswith(LANDING):
        return _landing(app, id)
    run, row = _open(app, id)
    asked = pending(run.data) if row.decision != WAITS else None
    flags = asking(run) if run.cause == CAUSE else ()
    alone = row.kind == UNDRIVEN
    text = f"{ALONE}\n\n> {row.question}" if alone else _question_text(app, run, asked)
    options = CONTINUE if alone else options_of(run, asked, ways(app, run))
    artifacts = () if alone else _artifacts(app, run, asked)
    return shapes_inbox.DecisionShown(
        row=row,
        shown=_digest(row, text, options, artifacts),
        text=text,
        lead=_lead(text, flags),
        options=options,
        free=asked is not None and asked.kind in ("question", "clarify"),
        to=tuple(t for t in CORRECTIONS if t) if asked and asked.kind == "approval" else (),
        artifacts=artifacts,
        flags=tuple(cut_flag(flag) for flag in flags),
        may_cancel=asked is not None,
    )


def _digest(
    row: shapes_inbox.DecisionRow, text: str, options: tuple[shapes_inbox.Option, ...], artifacts: tuple[shapes_inbox.Artifact, ...]
) -> str:
    """The digest of everything shown, which an answer is bound to."""
    parts = [row.id, text, *(o.value for o in options), *(f"{a.path}\n{a.text}" for a in artifacts)]
    return sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()


# -- questions of `land`, which belong to no run ---------------------------------------------------------------------------------


def landings(app: App) -> Iterator[shapes_inbox.DecisionRow]:
    """Rows for the branches that `land` left because of their flags."""
    return (_landing_row(left) for left in open_landings(app))


def left_of(app: App, id: str) -> Left:
    """The branch of an open question of `land`."""
    left = next((each for each in open_landings(app) if f"{LANDING}{each.branch}" == id), None)
    if left is None:
        raise NotFound(f"{id} is not open", "the branch changed, was accepted, or is in main; GET /api/decisions lists what is open")
    return left


def _landing(app: App, id: str) -> shapes_inbox.DecisionShown:
    left = left_of(app, id)
    row, options, artifacts = _landing_row(left), (shapes_inbox.Option(value=ACCEPT, words="note", does=DOES[ACCEPT]),), _hunks(left.flags)
    text = f"{left.question}\n\n{_lines(left.flags)}\n\n{AFTERWARDS.format(branch=left.branch, command=left.command)}"
    return shapes_inbox.DecisionShown(
        row=row,
        shown=_digest(row, text, options, (*artifacts, shapes_inbox.Artifact(path="tree", text=left.tree))),
        text=text,
        lead=_lead(text, left.flags),
        options=options,
        free=False,
        to=(),
        artifacts=artifacts,
        flags=tuple(cut_flag(flag) for flag in left.flags),
        may_cancel=False,
    )


def _landing_row(left: Left) -> shapes_inbox.DecisionRow:
    return shapes_inbox.DecisionRow(
        id=f"{LANDING}{left.branch}",
        run="",
        title=left.branch,
        workflow="land",
        state="",
        kind=CAUSE,
        decision="LAND",
        question=left.question,
        asked_at=left.at,
        security=False,
        status="pending",
        answer="",
        answered_by="",
    )


def _open(app: App, id: str) -> tuple[AnyRun, shapes_inbox.DecisionRow]:
    run_id = id.rpartition(":")[0]
    head = head_of(app, run_id)
    top = head_of(app, head.parent) if head.parent else head
    row = next((q for q in open_questions(app, top) if q.id == id), None)
    if row is None:
        raise NotFound(f"{id} is not open", "it was answered, or the run moved on; GET /api/decisions lists what is open")
    return app.door.load(row.run).run, row


def _question_text(app: App, run: AnyRun, asked: PersonDecision | None) -> str:
    """The text of a question, in markdown."""
    if asked is None:
        if run.state in STUCK or run.cause in WHY:
            return "\n\n".join(
                filter(
                    None,
                    (WHY.get(run.cause, STOPPED), _reviewed(run) or _flagged(run) or getattr(run.data, "report", "") or run.last_reason),
                )
            )
        return _to_merge(app, run) if _lands(app, run) else app.door.briefing(app.door.load(run.id)).briefing
    points = "".join(f"\n- {p.text} `{p.id}`" for p in asked.points) or (f"\n{_flagged(run)}" if asked.kind == "flags" else "")
    text = workflow_of(run.workflow).asks(app, run, asked)
    question = asked.question.partition("\n")[0] if asked.points and all(p.id in asked.question for p in asked.points) else text
    trouble = f"\n\n> {run.last_error}" if run.last_error and "is not an answer" in run.last_error else ""
    how = f"\n\n{PICKING}" if asked.kind == "notes" and asked.points else ""
    return question + (f"\n\n### Findings\n{points}" if points else "") + how + trouble


def _lands(app: App, run: AnyRun) -> bool:
    """Whether a run waits for a person to merge its branch."""
    return app.door.tables[run.workflow].states[run.state].job is not None and not run.cause


def _to_merge(app: App, run: AnyRun) -> str:
    url = url_of(app.place.common_dir, run)
    return MERGE.format(branch=run.data.branch.removeprefix("refs/heads/"), where=f" ({url})" if url else "")


def _flagged(run: AnyRun) -> str:
    """The flags in question, a line each; both versions are shown as artifacts."""
    return "\n".join(filter(None, (run.last_error, _lines(asking(run))))) if run.cause == CAUSE else ""


def _lines(flags: tuple[Flag, ...]) -> str:
    return "\n".join(f"- **{flag.kind}** `{flag.place}` {flag.sentence}" for flag in flags)


def _lead(text: str, flags: tuple[Flag, ...]) -> str:
    """The text without the list of flags, for a client that shows flags one by one."""
    return text.replace(_lines(flags), "").replace("### Findings\n\n", "").strip() if flags else text


def _hunks(flags: tuple[Flag, ...]) -> tuple[shapes_inbox.Artifact, ...]:
    """Both versions of each flag, as hunks of a diff."""
    shown = ((flag, hunk_of(flag, 400)) for flag in flags)
    return tuple(shapes_inbox.Artifact(path=f"{flag.kind} {flag.place}".strip(), text="\n".join(hunk)) for flag, hunk in shown if hunk)


def _reviewed(run: AnyRun) -> str:
    """The review's findings that a run waits for."""
    return workflow_of(run.workflow).findings(run)


def _artifacts(app: App, run: AnyRun, asked: PersonDecision | None) -> tuple[shapes_inbox.Artifact, ...]:
    """The documents of a question, as they are where the work is."""
    if run.cause == CAUSE:
        return _hunks(asking(run))
    if asked is None:
        return (shapes_inbox.Artifact(path="what was seen last", text=run.last_error),) if run.last_error and run.state in STUCK else ()
    texts = workflow_of(run.workflow).shown(app, run, asked.shown)
    start = f"{run.data.session}/"
    return tuple(shapes_inbox.Artifact(path=p.removeprefix(start), text=t) for p, t in texts.items())


def answer_of(app: App, id: str, asked: shapes.AnswerAsked) -> tuple[str, str, dict[str, str]]:
    """(run, verb, fields) of a person's answer; StalePage if what they were shown has changed."""
    now = show_decision(app, id)
    if now.shown != asked.shown:
        raise StalePage("what was shown has changed since; nothing was recorded", "look at it again, then answer")
    if now.row.kind == UNDRIVEN and asked.value == CONTINUE[0].value:
        return now.row.run, DRIVE, {"guidance": asked.note}
    if asked.cancel:
        return now.row.run, "answer", {"decision": now.row.decision, "value": "cancel", "note": asked.cancel}
    if now.row.decision != WAITS:
        return now.row.run, "answer", {"decision": now.row.decision, "value": asked.value, "note": asked.note, "to": asked.to}
    sent = ways(app, app.door.load(now.row.run).run).get(asked.value)
    if sent is None:
        raise DetentError(f"'{asked.value}' is not an answer here", f"it takes: {', '.join(o.value for o in now.options)}")
    if sent.verb != "answer":
        return now.row.run, sent.verb, {"guidance": asked.note}
    return now.row.run, "answer", {"decision": sent.decision, "value": sent.value, "note": asked.note}
