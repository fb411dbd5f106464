"""`detent steer`: tell a run something while it works."""

import click

from detent.errors import DetentError
from detent.interfaces.cli.tell import tell_verdict


@click.command("steer")
@click.argument("text")
@click.option("--to", default="", metavar="ROLE", help="For one role of a session (pipeline): kept until that role is next.")
@click.option("--run", metavar="ID", help="The run (default: the one of this checkout).")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def command(text: str, to: str, run: str | None, as_json: bool) -> int:
    """Tell the agent TEXT: it is kept, and the next briefing includes it.

    \b
    detent steer "prices are in cents"
    detent steer "look at the rounding" --to Reviewer
    """
    from detent.app.registry import workflow_of
    from detent.interfaces.cli.runner import here, person

    if to and not workflow_of((app := here()).door.load(app.chosen(run)).run.workflow).has_decisions:
        raise DetentError("only a session has roles to name", "leave out --to")
    return tell_verdict(person("steer", run, note=text, to=to), as_json)
