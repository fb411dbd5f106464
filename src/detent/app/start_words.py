"""What a person is told when a run has begun and before its first step: what it will work through."""

from detent.app import App
from detent.app.registry import workflow_of
from detent.app.settings_of_main import not_counted


def said_at_start(app: App, run: str) -> tuple[str, ...]:
    now = app.door.load(run).run
    other = not_counted(app.world.git, app.world.outer)
    return (*workflow_of(now.workflow).at_start(now), *filter(None, (other,)))
