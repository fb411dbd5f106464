"""`detent resume`: releases a run that waits for a person, and continues a driven one."""

from typing import TYPE_CHECKING

import click

from detent.app.plain_text import STUCK
from detent.blocks.common import is_driven
from detent.errors import DetentError
from detent.interfaces.cli.tell import channel, exit_code, tell_verdict

if TYPE_CHECKING:
    from detent.app import App
    from detent.door import AnyRun


@click.command("resume")
@click.option("--guidance", default="", metavar="TEXT", help="What the agent should know; its next briefing includes it.")
@click.option("--run", metavar="ID", help="The run (default: the one of this checkout).")
@click.option(
    "--agent",
    default="",
    metavar="SPEC",
    help="The agent from now on (default: the one before, or as [agents] says).",
)
@click.option("--events", is_flag=True, help="For a driven run: print JSON Lines as things happen, the result last.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def command(guidance: str, run: str | None, agent: str, events: bool, as_json: bool) -> int:
    """Release a halted run, or continue a driven one that was stopped or killed.

    A halted run goes back to where it came from; after a conflict, Detent first checks whether the branch is in main. A run that
    `detent run` started is driven again. In a clone that has only the handoff notes, the run continues after the newest of them, once its
    last phase is proved again.

    Agent and limits are read again: --agent names another agent, and [agents] and [limits] are taken from your checkout as it is now.
    Everything else stays as it was when the run began.
    """
    from detent.app.push import fit_for_push, recorded_agent
    from detent.interfaces.cli.runner import here, person

    app = here(create=True)
    if run is None and app.newest() is None:
        from detent.app.starting import start_from_notes
        from detent.kernel.model import Sent

        fit_for_push(app, agent)
        return _follow(start_from_notes(app, Sent("resume", by="human", channel=channel()), recorded_agent(agent)), as_json, events)
    now = app.door.load(app.chosen(run)).run
    if is_driven(now.data):
        return _drive_on(app, now, guidance, agent, as_json, events)
    if agent:
        raise DetentError(
            f"--agent is for a run that the machine drives; {now.id} is worked on by an agent that calls by itself", "leave it out"
        )
    return tell_verdict(person("resume", run, guidance=guidance), as_json)


def _drive_on(app: "App", now: "AnyRun", guidance: str, agent: str, as_json: bool, events: bool) -> int:
    """Release a driven run and its halted children, and continue driving it."""
    from detent.app.driving import driving, renewed
    from detent.app.executions import is_execution
    from detent.app.push import fit_for_push
    from detent.app.questions import at_work
    from detent.interfaces.cli.runner import person

    if not app.journal.heads(now.id)[0].ended:
        fit_for_push(app, agent or driving(app, now.id).named)
    terms = renewed(app, now.id, agent)
    stuck = [each.id for each in at_work(app, now.id) if each.state in STUCK]
    for each in stuck:
        verdict = person("resume", each, terms, guidance=guidance)
        if exit_code(verdict):
            return tell_verdict(verdict, as_json)
    if (guidance or terms) and not stuck:
        person("steer", now.id, terms, note=guidance)
    code = _follow(now.id, as_json, events)
    if is_execution(now.workflow):
        from detent.app.queueing import catch_up

        catch_up(app, now.id)
    return code


def _follow(run: str, as_json: bool, events: bool) -> int:
    from detent.interfaces.cli.live import follow
    from detent.interfaces.cli.runner import here

    return follow(here(), run, as_json, events)
