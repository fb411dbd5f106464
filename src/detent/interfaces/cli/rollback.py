"""`detent rollback`: go back to an earlier point, as a new run."""

import click

from detent.app import App
from detent.app.plain_text import plain, render_briefing
from detent.interfaces.cli.tell import channel, fold, tell_briefing


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
    briefing = app.door.next(fresh)
    if as_json:
        return tell_briefing(briefing, True)
    _print_where(app, chosen, fresh)
    return render_briefing(briefing)[2]


def echo(line: str) -> None:
    click.echo(fold(line))


def _print_where(app: App, old: str, fresh: str) -> None:
    """Print where the new run is, where the old work is kept, and the next step of a person, instead of the agent's briefing."""
    from detent.app.next_step import after_a_word
    from detent.app.registry import workflow_of

    now = app.door.load(fresh).run
    parts = workflow_of(now.workflow).plan(now)
    done = f"; {sum(part.status == 'done' for part in parts)} of {len(parts)} tasks are done" if parts else ""
    where = app.door.load(fresh).sent.note.removeprefix("from ")
    echo(f"Back at {where}: {now.state}{done}.")
    if branch := now.data.branch.removeprefix("refs/heads/"):
        tip = app.world.git.resolve(now.data.branch)
        echo(f"Branch {branch} is at {tip[:10]} ({plain(app.world.git.message(tip).partition(chr(10))[0])}).")
    echo(f"Nothing is lost: what came after that is kept below refs/detent/{old}/.")
    way = after_a_word(app, fresh).removeprefix("The agent continues at its next call: ")
    echo(f"The new run is {fresh}; {old} is ended. Next: {f'{way} --run {fresh}' if way == 'detent resume' else way}")
