"""What a run and its children ask people, and what was answered, read off the journal. Changes nothing."""

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from detent.app import App
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
STATE = "state"  # the kind of a question that a state asks by itself


def asked_of(app: App, run: str) -> list[dict[str, object]]:
    """Every question of a run, in the order of its runs."""
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
    """The question about flags lists them; any other stands as it was asked."""
    return {"question": _flagged(run)} if asked.kind == "flags" and asked.status == "pending" else {}


def _shown(run: AnyRun, paths: list[str]) -> list[str]:
    """Where a person finds what they are shown: in their own checkout, also where the work is elsewhere."""
    return [f"{run.worktree}/{path}" for path in paths if path.startswith(run.data.session)]


def open_of_run(app: App, run: str) -> list[dict[str, object]]:
    """What a run and its children ask a person now: their open questions, and what only their tables know to ask."""
    rows = [d for d in asked_of(app, run) if d["status"] == "pending"]
    return rows + [d for each in waiting(app, run) if all(d["run"] != each.id for d in rows) for d in _of_table(app, each)]


def open_everywhere(app: App) -> list[dict[str, object]]:
    """The same of every run that has not ended."""
    return [d for run in open_runs(app) for d in open_of_run(app, run)]


def open_runs(app: App) -> list[str]:
    """The runs that have not ended, no children; none of a workflow that is not installed any more."""
    return [head.run for head in app.journal.heads() if not head.parent and not head.ended and usable(head.workflow) is not None]


def waiting(app: App, run: str) -> Iterator[AnyRun]:
    """The runs of a family that wait for a person."""
    return (each for each in at_work(app, run) if app.door.tables[each.workflow].states[each.state].actor == "human")


def _of_table(app: App, run: AnyRun) -> Iterator[dict[str, object]]:
    """The question of a state that takes answers by name, as a row like any other."""
    event = app.door.load(run.id)
    return state_rows(run, ways(app, run), app.door.briefing(event), event.at)


def state_rows(run: AnyRun, open_now: Mapping[str, Sent], briefing: Briefing, at: str) -> Iterator[dict[str, object]]:
    """The rows of a state's own questions, one for each name that an answer is given to."""
    said = f"{briefing.goal}\n{run.last_reason}".strip() if run.cause != CAUSE else _flagged(run)
    parts = (said, why_of(briefing)) if run.cause != CAUSE else (why_of(briefing), said)
    text = "\n\n".join(filter(None, parts))
    by_name: dict[str, list[str]] = {}
    for word, sent in open_now.items():
        if sent.verb == "answer":
            by_name.setdefault(sent.decision, []).append(word)
    for name, options in by_name.items():
        row: dict[str, object] = {"run": run.id, "kind": STATE, "decision_id": name, "question": said, "options": options}
        yield {**row, "status": "pending", "asked_at": at, "state_context": run.state, "task_id": None, "shown": [], "text": text}


def why_of(briefing: Briefing) -> str:
    """What a briefing says to a person of why the run waits and what they can do, in markdown."""
    found = WHY.search(briefing.briefing)
    return found[1].strip() if found else ""


def _flagged(run: AnyRun) -> str:
    """The question about flags, with everything there is to look at."""
    shown = (line for flag in asking(run) for line in (f"- {line_of(flag)}", *(f"  {line}" for line in hunk_of(flag, MOST_OF_HUNK))))
    return "\n".join(filter(None, (run.last_reason, run.last_error, *shown)))


def asks_about_flags(app: App, run: str) -> bool:
    """Whether a run waits for an answer about its flags."""
    return app.door.load(run).run.cause == CAUSE


def who_asks(app: App, run: str, decision: str) -> str:
    """The run of a family that asks a question: several tasks may be at work at once, and each has its own. Else the run itself."""
    asking = (str(d["run"]) for d in asked_of(app, run) if d["decision_id"] == decision and d["status"] == "pending")
    return next(asking, run)


def at_work(app: App, run: str) -> list[AnyRun]:
    """The runs that something can be said to: the children at work, or the run itself."""
    return [app.door.load(child).run for child in app.door.open_children(app.door.load(run).run)] or [app.door.acting(run)]


def choices(app: App, run: AnyRun) -> dict[str, Sent]:
    """The answers and the release that the run's table takes now from a person, by the word for each. Ending a run for good is none of them."""
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
    """The choices, and with them the answer that ends the run for good, where its table takes one for what it asks."""
    return offered_with_end(app.door.tables[run.workflow], run)


def offered_with_end(table: Table[Any], run: AnyRun) -> dict[str, Sent]:
    """The same, by a table."""
    found = offered(table, run)
    asked = {sent.decision for sent in found.values() if sent.verb == "answer" and not workflow_of(run.workflow).has_decisions}
    said = (Sent("answer", by="human", decision=name, value=END) for name in sorted(asked))
    return found | {sent.value: sent for sent in said if table.kind(run, sent) == END}


def _of_decision(run: AnyRun) -> dict[str, Sent]:
    """The answers to the open question of a session; one that ends in a colon, or has no words of its own, takes the remark for its words."""
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
    """What the words of a move say, where they leave nothing open but guidance."""
    match how.split():
        case ["detent", "answer", decision, value, *_]:
            return Sent("answer", by="human", decision=decision, value=value)
        case ["detent", ("resume" | "review") as verb, *_]:
            return Sent(verb, by="human")
    return None
