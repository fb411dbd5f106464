"""The questions of a run and its children to people, with their answers, read from the journal. Changes nothing."""

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from detent.app import App
from detent.app.driver_lock import driver_of
from detent.app.registry import usable, workflow_of
from detent.blocks.open_flags import CAUSE, asking, hunk_of, line_of
from detent.door import AnyRun
from detent.kernel.model import Briefing, Sent
from detent.kernel.table import Table

if TYPE_CHECKING:
    from detent.gates.human import PersonDecision

CHANGES = "changes-requested: TEXT"
ANSWER = "answer with the note"
END = "abort"
MOST_OF_HUNK = 60  # lines of each version that a question shows
WHY = re.compile(r"^## (?:Why, and what you can do|What you can do)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
STATE = "state"  # the kind of a question that comes from a state of the table, not from a recorded decision


def asked_of(app: App, run: str) -> list[dict[str, object]]:
    """Every recorded question of a run and its children."""
    from detent.gates.human import DecisionData, decision_row, decisions_of

    found: list[dict[str, object]] = []
    for each in app.worlds.runs.family(run):
        if isinstance(each.data, DecisionData):
            ended = bool(app.door.tables[each.workflow].states[each.state].end)
            rows = [(d, decision_row(d, each.id, app.worlds.runs.when)) for d in decisions_of(each, ended)]
            flow = workflow_of(each.workflow)
            found += [
                {
                    "run": each.id,
                    "kind": d.kind,
                    **row,
                    **_words(each, d),
                    "shown": _shown(each, sorted(d.shown)),
                    "text": flow.asks(app, each, d),
                    "means": dict(flow.means(each, d)) if d.status == "pending" else {},
                }
                for d, row in rows
            ]
    return found


def _words(run: AnyRun, asked: "PersonDecision") -> dict[str, str]:
    """The text of an open question about flags, with the flags listed; nothing for others."""
    return {"question": _flagged(run)} if asked.kind == "flags" and asked.status == "pending" else {}


def _shown(run: AnyRun, paths: list[str]) -> list[str]:
    """The documents of a question, as paths in the person's own checkout."""
    return [f"{run.worktree}/{path}" for path in paths if path.startswith(run.data.session)]


def open_of_run(app: App, run: str) -> list[dict[str, object]]:
    """The open questions of a run and its children: recorded ones, and those that their states ask."""
    rows = [d for d in asked_of(app, run) if d["status"] == "pending"]
    return rows + [d for each in waiting(app, run) if all(d["run"] != each.id for d in rows) for d in _of_table(app, each)]


def open_everywhere(app: App) -> list[dict[str, object]]:
    """The open questions of all open runs."""
    return [d for run in open_runs(app) for d in open_of_run(app, run)]


def open_runs(app: App) -> list[str]:
    """The open top-level runs whose workflow is installed."""
    return [head.run for head in app.journal.heads() if not head.parent and not head.ended and usable(head.workflow) is not None]


def waiting(app: App, run: str) -> Iterator[AnyRun]:
    """The runs of a family that wait for a person."""
    return (each for each in at_work(app, run) if actor_now(app, each) == "human")


def actor_now(app: App, run: AnyRun) -> str:
    """Who acts in a run now. Where the machine tries something before it asks a person, that is the machine as long as a process drives the run."""
    state = app.door.tables[run.workflow].states[run.state]
    return "system" if state.job is not None and state.actor == "human" and driver_of(app, run.parent or run.id) else state.actor


def _of_table(app: App, run: AnyRun) -> Iterator[dict[str, object]]:
    """The questions that a run's state asks, as rows."""
    event = app.door.load(run.id)
    return state_rows(run, ways(app, run), app.door.briefing(event), event.at)


def state_rows(run: AnyRun, open_now: Mapping[str, Sent], briefing: Briefing, at: str) -> Iterator[dict[str, object]]:
    """The rows of a state's questions, one for each name to answer to."""
    question = f"{briefing.goal}\n{run.last_reason}".strip() if run.cause != CAUSE else _flagged(run)
    parts = (question, why_of(briefing)) if run.cause != CAUSE else (why_of(briefing), question)
    text = "\n\n".join(filter(None, parts))
    by_name: dict[str, list[str]] = {}
    for word, sent in open_now.items():
        if sent.verb == "answer":
            by_name.setdefault(sent.decision, []).append(word)
    for name, options in by_name.items():
        row: dict[str, object] = {"run": run.id, "kind": STATE, "decision_id": name, "question": question, "options": options}
        yield {**row, "status": "pending", "asked_at": at, "state_context": run.state, "task_id": None, "shown": [], "text": text}


def why_of(briefing: Briefing) -> str:
    """The part of a briefing that tells a person why the run waits and what they can do, in markdown."""
    found = WHY.search(briefing.briefing)
    return found[1].strip() if found else ""


def _flagged(run: AnyRun) -> str:
    """The question about flags, with each flag and its hunk."""
    shown = (line for flag in asking(run) for line in (f"- {line_of(flag)}", *(f"  {line}" for line in hunk_of(flag, MOST_OF_HUNK))))
    return "\n".join(filter(None, (run.last_reason, run.last_error, *shown)))


def asks_about_flags(app: App, run: str) -> bool:
    """Whether a run waits for an answer about its flags."""
    return app.door.load(run).run.cause == CAUSE


def who_asks(app: App, run: str, decision: str) -> str:
    """The run or child that asks a question, since parallel tasks have their own; else the run itself."""
    asking = (str(d["run"]) for d in asked_of(app, run) if d["decision_id"] == decision and d["status"] == "pending")
    return next(asking, run)


def at_work(app: App, run: str) -> list[AnyRun]:
    """The runs that take answers: the open children, or the run itself."""
    return [app.door.load(child).run for child in app.door.open_children(app.door.load(run).run)] or [app.door.acting(run)]


def choices(app: App, run: AnyRun) -> dict[str, Sent]:
    """The answers and the release that a run takes from a person now, by the word for each; without the answer that ends the run."""
    return offered(app.door.tables[run.workflow], run)


def offered(table: Table[Any], run: AnyRun) -> dict[str, Sent]:
    """The same, by a table."""
    if workflow_of(run.workflow).has_decisions and (made := _of_decision(run)):
        return made
    found: dict[str, Sent] = {}
    for row in table.at(run.state):
        move = table.moves[row.on]
        sent = _meant(move.how)
        if sent is None or "human" not in move.by or any(lock.shut(run) for lock in row.locks):
            continue
        if table.kind(run, sent) == row.on:
            found[sent.value or sent.verb] = sent
    return found


def ways(app: App, run: AnyRun) -> dict[str, Sent]:
    """The choices, and the answer that ends the run for good, if its table takes one."""
    return offered_with_end(app.door.tables[run.workflow], run)


def offered_with_end(table: Table[Any], run: AnyRun) -> dict[str, Sent]:
    """The same, by a table."""
    found = offered(table, run)
    asked = {sent.decision for sent in found.values() if sent.verb == "answer" and not workflow_of(run.workflow).has_decisions}
    ends = (Sent("answer", by="human", decision=name, value=END) for name in sorted(asked))
    return found | {sent.value: sent for sent in ends if table.kind(run, sent) == END}


def _of_decision(run: AnyRun) -> dict[str, Sent]:
    """The answers to the open question of a session. One that ends in a colon, or is empty, is completed by the person's remark."""
    from detent.gates.human import CORRECTIONS, pending

    asked = pending(run.data) if run.state != "BLOCKED" else None
    if asked is None:
        return {}
    plain = {value: value for value in asked.options if value != CHANGES} or {ANSWER: ""}
    plain |= {ANSWER: ""} if asked.kind == "clarify" else {}
    sent = {word: Sent("answer", by="human", decision=asked.decision_id, value=value) for word, value in plain.items()}
    roles = [role for role in CORRECTIONS if role] if CHANGES in asked.options and asked.kind == "approval" else []
    if CHANGES in asked.options and asked.kind != "approval":
        sent["changes-requested"] = Sent("answer", by="human", decision=asked.decision_id, value="changes-requested:")
    return sent | {
        f"changes-requested, to {role}": Sent("answer", by="human", decision=asked.decision_id, value="changes-requested:", to=role)
        for role in roles
    }


def _meant(how: str) -> Sent | None:
    """What the command of a move sends, if it leaves nothing open but guidance; else None."""
    match how.split():
        case ["detent", "answer", decision, value, *_]:
            return Sent("answer", by="human", decision=decision, value=value)
        case ["detent", ("resume" | "review") as verb, *_]:
            return Sent(verb, by="human")
    return None
