"""The next command for a person after they said something to a run: answer, resume, or nothing because it is driven.
Also why a run that should be driven stands still. Changes nothing.
"""

from detent.app import App
from detent.app.driver_lock import driver_of, was_driven
from detent.app.executions import is_execution
from detent.app.live_log import why_stopped
from detent.app.questions import open_of_run
from detent.blocks.common import is_driven
from detent.journal.journal import Head


def after_a_word(app: App, run: str) -> str:
    """The next command, or why none is needed."""
    head = app.journal.heads(run)[0]
    of = "" if (mine := app.current()) and mine.run == run else f" --run {run}"
    if head.ended:
        return "The run has ended."
    if asked := open_of_run(app, run):
        return f"detent decisions{of} shows what is asked now; answer with: detent answer {asked[0]['decision_id']} VALUE{of}"
    if not is_driven(app.door.load(run).run.data):
        return "The agent continues at its next call: `detent get-task`, or get_task over MCP."
    if process := driver_of(app, run):
        return f"It continues by itself (process {process}); detent status --watch shows it."
    return f"detent resume{of}"


ENDED = "The process that drove it has ended."


def nobody_drives(app: App, head: Head) -> str:
    """Why a run that the machine should drive stands still; empty if it is driven, waits for a person, or belongs to a worker."""
    if head.ended or head.parent or is_execution(head.workflow) or not is_driven(app.door.load(head.run).run.data):
        return ""
    acting = app.door.acting(head.run)
    if app.door.tables[acting.workflow].states[acting.state].actor not in ("agent", "system"):
        return ""
    if driver_of(app, head.run) or not was_driven(app, head.run) or app.door.acting(head.run) != acting:  # it moved meanwhile
        return ""
    return why_stopped(app, head.run) or ENDED
