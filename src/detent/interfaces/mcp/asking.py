"""Makes the question that a dialog shows a person: the moves open to people now, and the text.

Knows runs, not the protocol. Does not offer to abort a run; that is for the command line.
"""

from detent.app import App
from detent.app.questions import STATE, asks_about_flags, choices, open_of_run
from detent.interfaces.mcp.dialog import CHANNEL, Question
from detent.interfaces.mcp.mcp_answers import cut
from detent.kernel.model import Briefing

LARGEST_MESSAGE = 6_000


def question(app: App, briefing: Briefing) -> Question | None:
    """The question, if a person is to act and may be asked in a dialog; else None."""
    if briefing.actor != "human":
        return None
    run = app.door.load(briefing.run).run
    require = app.world.config_of(run).settings.get("decisions.require", "")
    open_now = choices(app, run)
    if require not in ("", "anywhere", CHANNEL) or not open_now:
        return None
    return Question(run.id, cut(_message(app, run.id, briefing), LARGEST_MESSAGE), open_now)


def _message(app: App, run: str, briefing: Briefing) -> str:
    """The text of the question, or what the run waits for. Without commands, since the form has the choices."""
    asked = next((d for d in open_of_run(app, run) if d["run"] == run), None)
    flagged = asked is not None and (asked["kind"] == "flags" or asks_about_flags(app, run))
    if asked is not None and briefing.state != "BLOCKED" and (flagged or asked["kind"] != STATE):
        return str(asked["question"] if flagged else asked["text"])
    return briefing.briefing.partition("\n## Next\n")[0].rstrip() + "\n"
