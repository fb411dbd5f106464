"""`detent rollback`: go back to an earlier point, as a new run."""

import click

from detent.interfaces.cli.tell import channel, tell_briefing


@click.command("rollback")
@click.argument("to", metavar="EVENT|COMMIT")
@click.option("--run", metavar="ID", help="The run (default: the one of this checkout).")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def command(to: str, run: str | None, as_json: bool) -> int:
    """End the run and start a new one where it stood after EVENT (a number of `detent history`) or at COMMIT.

    Branch and files go back to that point; everything after it stays reachable below refs/detent/. Counters are kept: going back does
    not buy new attempts.
    """
    from detent.app.people import allowed
    from detent.app.rolling_back import roll_back
    from detent.interfaces.cli.runner import here

    app = here()
    chosen = app.chosen(run)
    allowed(app, channel(), chosen)
    fresh = roll_back(app, chosen, to, channel())
    code = tell_briefing(app.door.next(fresh), as_json)
    if not as_json:
        from detent.app.push import is_pushed

        then = f"detent resume --run {fresh}" if is_pushed(app.door.load(fresh).run) else "detent get-task"
        click.echo(f"The new run is {fresh}; {chosen} is ended. Next: {then}")
    return code
