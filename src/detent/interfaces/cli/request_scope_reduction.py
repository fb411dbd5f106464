"""`detent request-scope-reduction`: the escape hatch for a task that is too big."""

import click

from detent.interfaces.cli.tell import tell_verdict
from detent.kernel.model import Sent


@click.command("request-scope-reduction")
@click.option("--run", metavar="ID", help="The run (default: the one of this checkout).")
@click.option("--attempt-id", default="", help="The briefing's attempt_id.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def command(run: str | None, attempt_id: str, as_json: bool) -> int:
    """Give up the current approach and plan the task again as smaller ones.

    Brings the workspace back to the last good commit; everything stays recoverable. Locked until enough attempts have failed.
    """
    from detent.interfaces.cli.runner import say

    return tell_verdict(say(run, Sent("scope-reduction", channel="cli", attempt_id=attempt_id)), as_json)
