"""`detent get-task`: the next briefing. This is the full way; main.py has the fast path."""

import click

from detent.interfaces.cli.tell import tell_briefing


@click.command("get-task")
@click.option("--run", "run", metavar="ID", help="The run (default: the one of this checkout).")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def command(run: str | None, as_json: bool) -> int:
    """Print the briefing for the next step: what to do, what may be written, and the one call to make afterwards.

    Does the machine's own moves first (branch, review, merge). Calling it again changes nothing. Where there is no run,
    nothing is started: `detent start` does that.
    """
    from detent.interfaces.cli.runner import next_briefing

    return tell_briefing(next_briefing(run), as_json)
