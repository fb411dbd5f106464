"""`detent history`: what happened to the run of this checkout."""

import json

import click

from detent.app.plain_text import typed
from detent.app.run_rows import history_of, left_behind, newest, worked_on
from detent.door import AnyEvent
from detent.interfaces.cli.tell import card_lines, flag_lines, plain


@click.command("history")
@click.option("-n", "count", type=click.IntRange(1), default=30, show_default=True, help="How many events, the newest ones.")
@click.option("--run", metavar="ID", help="The run (default: the one of this checkout).")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def command(count: int, run: str | None, as_json: bool) -> int:
    """Show the newest events: who said what, what the machine found, where it led. Refusals and errors too.

    At the end: what the branch of the run proves, once it was about to land.
    """
    from detent.interfaces.cli.runner import here

    app = here()
    chosen = app.chosen(run)
    if as_json:
        click.echo(json.dumps(history_of(app, chosen, count)))
        return 0
    from detent.world.commits_made import commits_by_event

    last, commits, about, left = "", commits_by_event(app.world.git, chosen), "", left_behind(app, chosen)
    for e in newest(app, chosen, count):
        asked = e.sent.facts.get("asked", last)
        said = plain(e.sent.summary or e.sent.note or e.sent.report[:200])
        click.echo(
            f"{e.run.seq:>4}  {e.at[:19]}  {e.sent.by:<6}  {e.on:<16} {e.status:<14} → {e.run.state}" + (f"  {said}" if said else "")
        )
        now = _about(e)
        made = f"commit {commits[e.run.seq][:10]}" if e.run.seq in commits else ""
        if found := "  ".join(filter(None, (made, now if now != about or made else ""))):
            click.echo(f"{'':38}{plain(found)}")
        about = now
        gone = [f"what it wrote was removed; it is kept under {left[e.run.seq]}"] if e.run.seq in left else []
        who = [f"asked: {asked}"] if asked != last else []
        for line in (*who, *map(typed, e.verdict.reasons), *gone, *flag_lines(e.found.flagged, hunks=False)):
            click.echo(f"{'':38}{plain(line)}")
        last = asked
    for line in card_lines(app.place.common_dir, chosen, app.door.load(chosen).run.accepted):
        click.echo(line)
    return 0


def _about(e: AnyEvent) -> str:
    """The cycle and the test or step that an event was about."""
    found = worked_on(e)
    cycle = f"cycle {found['cycle']}" if found["cycle"] else ""
    return ": ".join(str(part) for part in (cycle, found["test"]) if part)
