"""What an attempt wrote beyond its part, brought back where the machine drives: its next agent has no git and could not do it."""

from collections.abc import Callable

from detent.door import AnyEvent
from detent.git.commits import bring_back
from detent.kernel.model import Sent
from detent.world.work_tree import RepoWorld


def undo(world: RepoWorld, event: AnyEvent, strays: Callable[..., list[str]] | None) -> None:
    """Bring back what an attempt may not have written, and leave the rest for the next one. A snapshot of all of it is kept first."""
    run = event.run
    if strays is None or not (run.data.setup.agent and run.data.good_tree):
        return
    kept = world.snapshot(run)
    if paths := strays(world.look(run, Sent("due"), kept)):
        bring_back(world.git, run.data.good_tree, kept, paths)
