"""Guards decisions that only people may take: by [decisions] require, by the channel, and by whether the caller looks like an agent. Only refuses.

By default it refuses in an agent's shell; while a run in pull mode is open, it also requires a terminal, the web page or a client's dialog.
"""

import os
from collections.abc import Callable
from contextlib import suppress

from detent.app import App
from detent.app.executions import is_execution
from detent.app.questions import open_runs
from detent.errors import DetentError

DIALOG, NOWHERE, WEB = "client dialog", "no terminal", "web"
GONE = "it has ended already, so Detent cannot see whose it is"
WAY_ON = (
    "do it in a terminal of your own or on the page of `detent serve`; if programs are to speak for people here, commit "
    '[decisions] require = "anywhere" (docs/configuration.md)'
)


def allowed(app: App, by: str, run: str | None = None) -> None:
    """Refuse a decision through this channel if the run's configuration forbids it; without a run, that of an open run in pull mode,
    or main's."""
    wanted = wanted_of(app, run)
    if wanted == "anywhere":
        return
    must_be_a_persons_shell(by)
    if wanted and wanted != by:
        raise DetentError(
            f"only a person at a {wanted} may do this (decisions.require)", f"run it in a {wanted}, not through another program"
        )
    if by == NOWHERE and (open_now := pulled(app)):
        raise DetentError(f"only a person may do this, but there is no terminal here, and an agent works on run {open_now[0]}", WAY_ON)


def by_a_person(app: App, by: str) -> None:
    """Like `allowed`, before there is a run: refuses only a shell that belongs to an agent."""
    if wanted_of(app, None) != "anywhere":
        must_be_a_persons_shell(by)


def wanted_of(app: App, run: str | None) -> str:
    """The [decisions] require that holds for a run; without a run, for an open run in pull mode, or on main."""
    if run and app.journal.heads(run):
        return str(app.world.config_of(app.door.load(run).run).settings.get("decisions.require", ""))
    if open_now := pulled(app):
        return str(app.world.config_of(app.door.load(open_now[0]).run).settings.get("decisions.require", ""))
    return _on_main(app)


def _on_main(app: App) -> str:
    """The setting on main, whatever is checked out. Where HEAD names another main branch than git does, the stricter one holds."""
    from detent.app.commit_settings import ANYWHERE, settings_at
    from detent.git.commits import main_branch

    git, outer, refs = app.world.git, app.world.outer, list[str]()
    for name in (settings_at(git, "HEAD", outer).git.main, ""):
        with suppress(DetentError):
            refs.append(main_branch(git, name))
    return max({settings_at(git, ref, outer).decisions.require for ref in refs or ["HEAD"]} - {ANYWHERE}, default=ANYWHERE)


def pulled(app: App) -> list[str]:
    """The open runs in pull mode."""
    runs = (app.door.load(run).run for run in open_runs(app))
    return [run.id for run in runs if not is_execution(run.workflow) and not run.data.setup.agent]


def must_be_a_persons_shell(by: str) -> None:
    """Refuse a call from an agent's shell. Dialogs and the web page have checks of their own."""
    from detent.app.speaker import agent_above, why_detached

    if by in (WEB, DIALOG):
        return  # checked where the connection is known
    if seen := agent_above(os.environ, os.getpid()):
        raise DetentError(f"only a person may do this, but this shell belongs to an agent ({seen})", WAY_ON)
    if seen := why_detached(os.getpid()):
        raise DetentError(f"only a person may do this, but this is not a person's shell ({seen})", WAY_ON)


def must_be_a_persons_dialog(app: App, port: int | None, run: str) -> None:
    """Refuse an answer from a program that an agent started and that poses as a client with a dialog. `port`: its end of the connection."""
    from detent.app.speaker import agent_behind, agent_variable

    mark = agent_variable(os.environ) if port is None else ""
    seen = f"{mark} is set" if mark else agent_behind(os.getppid()) if port is None else _connected(port, agent_behind)
    if seen and wanted_of(app, run) != "anywhere":
        raise DetentError(f"only a person may do this, but the calling program is not a person's client ({seen})", WAY_ON)


def must_be_a_persons_page(app: App, port: int, run: str | None) -> None:
    """Refuse a request over loopback from a program in an agent's shell, with or without a token."""
    from detent.app.speaker import agent_above

    seen = _connected(port, lambda pid: agent_above(None, pid))
    if seen and wanted_of(app, run) != "anywhere":
        raise DetentError(f"only a person may do this, but the calling program belongs to an agent ({seen})", WAY_ON)


def _connected(port: int, look: Callable[[int], str]) -> str:
    """What `look` finds of the process at the other end of a connection; GONE, which refuses, if it closes meanwhile."""
    from detent.app.speaker import process_at

    if not port or (pid := process_at(port)) == 0:
        return ""  # on another machine, or another user's
    seen = look(pid) if pid else GONE
    return seen or ("" if process_at(port) == pid else GONE)
