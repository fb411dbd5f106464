"""What a run asks a person in a dialog: the moves that are open to people now, and what they are shown.

Knows runs, not the protocol. Leaving a run for good (abort) is not offered: that is for a command line.
"""

from detent.app import App
from detent.app.asked import choices
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
    open_now = (_of_decision(run) if run.workflow in SESSION else {}) or choices(app, run)
    if require not in ("", CHANNEL) or not open_now:
        return None
    return Question(run.id, cut(briefing.briefing, LARGEST_MESSAGE), open_now)


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
