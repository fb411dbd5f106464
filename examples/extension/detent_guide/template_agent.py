"""The agent `template:FILE`: it asks no model, and writes the text of a file as the guide."""

from pathlib import Path

from detent.agents import Reply
from detent.agents.question import Asked
from detent.errors import DetentError


def ask_template(asked: Asked) -> Reply:
    """One turn. `asked.rest` is what stands behind the colon; `asked.turn` has the briefing, the workspace and the budget."""
    try:
        text = Path(asked.rest).read_text("utf-8")
    except OSError as e:
        raise DetentError(f"the template {asked.rest} cannot be read: {e.strerror}", "write template:FILE") from e
    (asked.turn.workspace / "guide.md").write_text(text, "utf-8")
    return Reply(f"Wrote guide.md from {Path(asked.rest).name}.", asked.meter.usage, 1)
