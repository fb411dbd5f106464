"""Begins a turn of a driven agent, and undoes a failed one, so that a workspace never holds the work of a failed turn."""

from contextlib import suppress

from detent.app.opened import App
from detent.app.registry import workflow_of
from detent.app.tally import turn_of
from detent.door import AnyEvent, AnyRun
from detent.errors import CannotTell
from detent.git.repo import GitError
from detent.kernel.model import Briefing
from detent.world.turn_tree import begin_turn, open_attempt, undo_turn
from detent.world.work_tree import RepoWorld

PASSED = ("SUCCESS", "NEEDS_ANALYSIS")


def prepare_turn(app: App, run: AnyRun, briefing: Briefing) -> None:
    """Bring the workspace to where the turn should start, and record the turn as open. One left open failed or was killed, and is undone
    unless its work was judged."""
    world = app.worlds.of(run)
    attempt = open_attempt(world.git, run.id)
    with suppress(CannotTell):  # the verdict will report a broken checkout
        if attempt and (attempt == briefing.attempt_id or not _taken(app, run, attempt)):
            _undo(world, run)
        begin_turn(world, run, briefing.attempt_id)


def undo(app: App, briefing: Briefing) -> None:
    """Undo a failed turn. If that fails now, the next turn does it before it begins."""
    run = app.door.load(briefing.run).run
    if app.door.tables[run.workflow].states[run.state].end:
        return  # its workspace is removed anyway
    try:
        world = app.worlds.of(run)
        if open_attempt(world.git, run.id) == briefing.attempt_id:
            _undo(world, run)
    except (CannotTell, GitError, OSError):
        return


def _undo(world: RepoWorld, run: AnyRun) -> None:
    workflow_of(run.workflow).forget(world, run)
    undo_turn(world, run)  # last: it closes the turn


def _taken(app: App, run: AnyRun, attempt: str) -> bool:
    """Whether the work of a turn was judged: handed in, and neither refused nor "cannot tell"."""
    return any(_judged(event) for event in app.worlds.runs.history(run.id) if turn_of(event) == attempt)


def _judged(event: AnyEvent) -> bool:
    found = event.found
    return event.status in PASSED or bool(found.tree and not found.refused and not found.unclear)
