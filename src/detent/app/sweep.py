"""Clearing up after executions that other machines ended: their workspaces here, and what was shared of them at the remote. Loses nothing.

A workspace is removed only after what lies in it was kept; a shared ref only once its run's commit is in main.
"""

from contextlib import suppress

from detent.app import App
from detent.app.executions import is_completed, is_execution
from detent.app.opened import shared_url
from detent.app.project import project_settings
from detent.app.run_driver import driver_of
from detent.errors import CannotTell, DetentError
from detent.git.commits import main_branch
from detent.git.land_merge import fetch_main
from detent.git.remote import forget, has_remote, shared
from detent.git.workspace import runs_here


def sweep(app: App) -> list[str]:
    """The runs after which something was cleared up."""
    done = [run for run in runs_here(app.place.common_dir) if _leave(app, run)]
    if shared_url(app.place, app.world.outer):
        with suppress(CannotTell, DetentError):  # the remote does not answer now; there is a next time
            done += forget_landed(app)
    return done


def _leave(app: App, run: str) -> bool:
    """Remove the workspace of a run that has ended, wherever that was. One that cannot be kept first stays."""
    heads = app.journal.heads(run)
    if not heads or not heads[0].ended or not is_execution(heads[0].workflow) or driver_of(app, run):
        return False
    with suppress(CannotTell, DetentError):
        app.worlds.leave(app.door.load(run).run)
        return True
    return False


def forget_landed(app: App) -> list[str]:
    """Take away at the remote what was shared of runs whose work is in main by now: no machine has to go on with them."""
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
