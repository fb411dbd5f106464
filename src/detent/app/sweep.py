"""Cleans up after executions that other machines ended: their workspaces here, and their shared refs at the remote. Loses no work.

A workspace is removed only after a snapshot of it; a shared ref only once its run's commit is in main.
"""

from contextlib import suppress

from detent.app import App
from detent.app.driver_lock import driver_of
from detent.app.executions import is_completed, is_execution
from detent.app.opened import shared_url
from detent.app.project import project_settings
from detent.errors import CannotTell, DetentError
from detent.git.commits import main_branch
from detent.git.land_merge import fetch_main
from detent.git.remote import forget, has_remote, shared
from detent.git.workspace import runs_here


def sweep(app: App) -> list[str]:
    """Clean up; returns the runs concerned."""
    done = [run for run in runs_here(app.place.common_dir) if _leave(app, run)]
    if shared_url(app.place, app.world.outer):
        with suppress(CannotTell, DetentError):  # an unreachable remote is left to the next sweep
            done += forget_landed(app)
    return done


def _leave(app: App, run: str) -> bool:
    """Remove the workspace of a run that has ended anywhere. One whose snapshot fails stays."""
    heads = app.journal.heads(run)
    if not heads or not heads[0].ended or not is_execution(heads[0].workflow) or driver_of(app, run):
        return False
    with suppress(CannotTell, DetentError):
        app.worlds.leave(app.door.load(run).run)
        return True
    return False


def forget_landed(app: App) -> list[str]:
    """Delete the shared refs at the remote of runs whose work is in main."""
    git = app.world.git
    settings, _ = project_settings(git, app.world.outer)
    remote = settings.git.remote
    if not has_remote(git, remote) or not (there := shared(git, remote)):
        return []
    main = fetch_main(git, main_branch(git, settings.git.main), remote)
    landed = [run for run in sorted(there) if _is_landed(app, run.partition(".")[0], main)]
    forget(git, remote, [ref for run in landed for ref in there[run]])
    return landed


def _is_landed(app: App, run: str, main: str) -> bool:
    heads = app.journal.heads(run)
    if not heads or not is_execution(heads[0].workflow) or not is_completed(heads[0]):
        return False
    pushed = app.door.load(run).run.data.pushed
    return bool(app.world.git.resolve(f"{pushed}^{{commit}}")) and app.world.git.is_ancestor(pushed, main)
