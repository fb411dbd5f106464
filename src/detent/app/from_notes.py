"""Resuming in a clone that has no run, from the notes that a workflow left on its commits. And which workflows write such notes.

Knows no workflow by name; how notes are read and written is each workflow's own.
"""

from detent.app import App
from detent.app.registry import workflows
from detent.app.workflow import Notes
from detent.errors import DetentError
from detent.kernel.model import Sent


def start_from_notes(app: App, sent: Sent, agent: str) -> str:
    """A new run that goes on after the newest note of this branch; its id."""
    for _, flow in workflows():
        if flow.from_notes is not None:
            return flow.from_notes(app, sent, agent)
    raise DetentError("there is no run in this checkout", "start one with `detent start` or `detent run`")


def noted() -> dict[str, Notes]:
    """The workflows that write notes of their own, by name."""
    return {name: flow.notes for name, flow in workflows() if flow.notes is not None}
