"""What a run asks a person, read off its table: the moves that are open to people now, and the words that make them.

Knows tables, not the protocol. Leaving a run for good (abort) is not offered: that is for a command line.
"""

from detent.app import App
from detent.door import AnyRun
from detent.interfaces.mcp.answers import cut
from detent.interfaces.mcp.dialog import CHANNEL, Question
from detent.kernel.model import Briefing, Sent

LARGEST_MESSAGE = 6_000
SESSION = ("pipeline", "task")
CHANGES = "changes-requested: TEXT"
ANSWER = "answer with the note"


def question(app: App, briefing: Briefing) -> Question | None:
    """What to ask, if a person is to act and may be asked in a dialog."""
    if briefing.actor != "human":
        return None
    run = app.door.load(briefing.run).run
    require = app.world.kit_of(run).settings.get("decisions.require", "")
    choices = _choices(app, run)
    if require not in ("", CHANNEL) or not choices:
        return None
    return Question(run.id, cut(briefing.briefing, LARGEST_MESSAGE), choices)


def _choices(app: App, run: AnyRun) -> dict[str, Sent]:
    """The answers and the release that the table takes now, by the word for each."""
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
