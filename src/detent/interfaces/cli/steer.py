"""`detent steer`: tell a run something while it works."""

import click
from msgspec.structs import replace

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
    from detent.app.next_step import after_a_word
    from detent.app.registry import workflow_of
    from detent.interfaces.cli.runner import here, person

    app = here()
    chosen = app.chosen(run)
    if to and not workflow_of(app.door.load(chosen).run.workflow).has_decisions:
        raise DetentError("only a session has roles to name", "leave out --to")
    verdict = person("steer", chosen, note=text, to=to)
    taken = replace(verdict, instruction=after_a_word(app, chosen)) if verdict.status == "SUCCESS" else verdict
    return tell_verdict(taken, as_json)
