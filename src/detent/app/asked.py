"""What a run and its children ask people, and what was answered, read off the journal. Changes nothing."""

from detent.app import App
from detent.door import AnyRun
from detent.kernel.model import Sent

SESSION = ("pipeline", "task")
CHANGES = "changes-requested: TEXT"
ANSWER = "answer with the note"


def asked_of(app: App, run: str) -> list[dict[str, object]]:
    """Every question of a run, in the order of its runs."""
    from detent.gates.human import DecisionData
    from detent.workflows.session_files import decision_row

    found: list[dict[str, object]] = []
    for each in app.worlds.gear.family(run):
        if isinstance(each.data, DecisionData):
            rows = [(d, decision_row(d, each.id, app.worlds.gear.when)) for d in each.data.decisions]
            found += [{"run": each.id, "kind": d.kind, **row, "shown": _shown(each, sorted(d.shown))} for d, row in rows]
    return found


def _shown(run: AnyRun, paths: list[str]) -> list[str]:
    """Where a person finds what they are shown: in their own checkout, also where the work is elsewhere."""
    return [f"{run.worktree}/{path}" for path in paths if path.startswith(run.data.session)]


def who_asks(app: App, run: str, decision: str) -> str:
    """The run of a family that asks a question: several tasks may be at work at once, and each has its own. Else the run itself."""
    asking = (str(d["run"]) for d in asked_of(app, run) if d["decision_id"] == decision and d["status"] == "pending")
    return next(asking, run)


def at_work(app: App, run: str) -> list[AnyRun]:
    """The runs that something can be said to: the children at work, or the run itself."""
    return [app.door.load(child).run for child in app.door.open_children(app.door.load(run).run)] or [app.door.acting(run)]


def choices(app: App, run: AnyRun) -> dict[str, Sent]:
    """The answers and the release that the run's table takes now from a person, by the word for each. Ending a run for good is none of them."""
    if run.workflow in SESSION and (made := _of_decision(run)):
        return made
    table = app.door.hands.tables[run.workflow]
    found: dict[str, Sent] = {}
    for row in table.at(run.state):
        move = table.moves[row.on]
        sent = _meant(move.how)
        if sent is None or "human" not in move.by or any(lock.shut(run) for lock in row.locks):
            continue
        if table.kind(run, sent) == row.on:
            found[sent.value or sent.verb] = sent
    return found


def _of_decision(run: AnyRun) -> dict[str, Sent]:
    """The answers to the open question of a session; one that ends in a colon, or has no words of its own, takes the remark for its words."""
    from detent.gates.human import CORRECTIONS, pending

    asked = pending(run.data) if run.state != "BLOCKED" else None
    if asked is None:
        return {}
    plain = {value: value for value in asked.options if value != CHANGES} or {ANSWER: ""}
    sent = {word: Sent("answer", by="human", decision=asked.decision_id, value=value) for word, value in plain.items()}
    roles = [role for role in CORRECTIONS if role] if CHANGES in asked.options else []
    return sent | {
        f"changes-requested, to {role}": Sent("answer", by="human", decision=asked.decision_id, value="changes-requested:", to=role)
        for role in roles
    }


def _meant(how: str) -> Sent | None:
    """What the words of a move say, where they leave nothing open but guidance."""
    match how.split():
        case ["detent", "answer", decision, value]:
            return Sent("answer", by="human", decision=decision, value=value)
        case ["detent", "resume", *_]:
            return Sent("resume", by="human")
    return None
