"""What a run is about and how far its plan has come, read off its data: one shape for all workflows. Changes nothing, decides nothing."""

from detent.app.registry import workflow_of
from detent.blocks.ground import Part
from detent.door import AnyRun

LONGEST_TITLE = 160


def title_of(run: AnyRun) -> str:
    """What the run is about, on one line."""
    lines = [line.strip() for line in workflow_of(run.workflow).title(run).splitlines()]
    words = " ".join(next((line for line in lines if line), str(run.id)).lstrip("# ").split())
    return words if len(words) <= LONGEST_TITLE else f"{words[: LONGEST_TITLE - 1]}…"


def plan_of(run: AnyRun) -> tuple[Part, ...]:
    """The plan as it stands."""
    return workflow_of(run.workflow).plan(run)
