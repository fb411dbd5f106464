"""What a person does next after they said something to a run: answer what is open, resume it, or nothing, since somebody drives it. Changes nothing."""

from detent.app import App
from detent.app.push import is_pushed
from detent.app.questions import open_of_run
from detent.app.run_driver import driver_of


def after_a_word(app: App, run: str) -> str:
    """The next command, or why none is needed."""
    head = app.journal.heads(run)[0]
    of = "" if (mine := app.current()) and mine.run == run else f" --run {run}"
    if head.ended:
        return "The run has ended."
    if asked := open_of_run(app, run):
        return f"detent decisions{of} shows what is asked now; answer with: detent answer {asked[0]['decision_id']} VALUE{of}"
    if not is_pushed(app.door.load(run).run):
        return "The agent continues at its next call: `detent get-task`, or get_task over MCP."
    if said := driver_of(app, run):
        return f"It continues by itself (process {said}); detent status --watch shows it."
    return f"detent resume{of}"
