"""`detent history`: what happened to the run of this checkout."""

import json

import click
import msgspec

from detent.app import App
from detent.door import AnyEvent
from detent.interfaces.cli.tell import card_lines, card_object, flag_lines, plain


@click.command("history")
@click.option("-n", "count", type=click.IntRange(1), default=30, show_default=True, help="How many events, the newest ones.")
@click.option("--run", metavar="ID", help="The run; without it, the one of this checkout.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
def command(count: int, run: str | None, as_json: bool) -> int:
    """Show the newest events: who said what, what the machine found, where it led. Refusals and errors too.

    At the end: what the branch of the run proves, once it was about to land.
    """
    from detent.interfaces.cli.runner import here

    app = here()
    chosen = app.chosen(run)
    if as_json:
        click.echo(json.dumps(told(app, chosen, count)))
        return 0
    last = ""
    for e in newest(app, chosen, count):
        asked = e.sent.facts.get("asked", last)
        said = plain(e.sent.summary or e.sent.note or e.sent.report[:200])
        click.echo(
            f"{e.run.seq:>4}  {e.at[:19]}  {e.sent.by:<6}  {e.on:<16} {e.status:<14} → {e.run.state}" + (f"  {said}" if said else "")
        )
        for line in (*([f"asked: {asked}"] if asked != last else []), *e.verdict.reasons, *flag_lines(e.found.flagged, hunks=False)):
            click.echo(f"{'':38}{plain(line)}")
        last = asked
    for line in card_lines(app.place.common_dir, chosen, app.door.load(chosen).run.accepted):
        click.echo(line)
    return 0


def newest(app: App, run: str, count: int) -> list[AnyEvent]:
    """The newest events of a run, in the order they happened."""
    from detent.kernel.codec import from_entry

    last = app.journal.heads(run)[0]
    table = app.door.hands.tables[last.workflow]
    return [from_entry(table, e) for e in app.journal.events(run, max(0, last.seq - count), count)]


def told(app: App, run: str, count: int) -> dict[str, object]:
    """The newest events of a run, and what its branch proves, as one JSON object."""
    return {"run": run, "events": [row(e) for e in newest(app, run, count)], "card": card_object(app.place.common_dir, run)}


def row(e: AnyEvent) -> dict[str, object]:
    """An event as one JSON object."""
    return {
        "seq": e.run.seq, "at": e.at, "by": e.sent.by, "channel": e.sent.channel, "on": e.on, "from": e.was, "state": e.run.state,
        "status": e.status, "reasons": list(e.verdict.reasons), "tree": e.found.tree, "summary": e.sent.summary, "report": e.sent.report,
        "flags": [msgspec.to_builtins(flag) for flag in e.found.flagged], "note": e.sent.note, "who": e.sent.facts.get("who") or None,
        "asked": e.sent.facts.get("asked") or None,
        "usage": json.loads(e.sent.facts.get("usage", "null")), "transcript": e.sent.facts.get("transcript") or None,
    }  # fmt: skip
