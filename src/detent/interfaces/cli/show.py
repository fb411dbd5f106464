"""`detent show`: one run, event by event."""

import json
from pathlib import Path

import click

from detent.app import journal_at
from detent.app.plain_text import plain
from detent.app.run_rows import card_object
from detent.errors import DetentError
from detent.git.place import find_place
from detent.interfaces.cli.runner import here
from detent.interfaces.cli.tell import card_lines, fold, local_time
from detent.journal.journal import Entry
from detent.world.pulls import kept_url


@click.command("show")
@click.argument("run", default="")
@click.option("-n", "count", type=click.IntRange(1), default=50, show_default=True, help="How many events, the newest ones.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(run: str, count: int, as_json: bool) -> None:
    """Show RUN, or else the run of this checkout: its state, its newest events with verdict and tree, and what its branch proves, once
    it was about to land.

    \b
    detent show
    detent show pr-1a2b3c
    """
    journal, common = journal_at(Path.cwd()), find_place(Path.cwd()).common_dir
    run = run or here().chosen(None)
    last = journal.last(run)
    if last is None:
        raise DetentError(f"there is no run {run}", _near(run, [head.run for head in journal.heads()]))
    events = journal.events(run, after=max(0, last.seq - count), limit=count)
    url = json.loads(last.body)["run"].get("data", {}).get("pull", "") or kept_url(common, run)
    if as_json:
        owed = [o.effect for o in journal.owed(run)]
        head = {"run": run, "workflow": last.workflow, "state": last.state, "ended": last.ended, "owed": owed, "flags": _flags(last)}
        click.echo(
            json.dumps({**head, "pull_request": url or None, "events": [_plain(e) for e in events], "card": card_object(common, run)})
        )
        return
    click.echo(f"{run}  {last.workflow}  {last.state}")
    if url:
        click.echo(f"  Pull request: {plain(url)}")
    for flag in _flags(last):
        label = "Note" if flag.get("level") == "note" else "Flag"
        click.echo(fold(f"  {label}: {plain('  '.join(filter(None, (flag['kind'], flag.get('place', ''), flag['sentence']))))}", 4))
    day = ""
    for e in events:
        before, (day, clock) = day, local_time(e.at).split()
        if day != before:
            click.echo(f"  {day}")
        click.echo(f"{e.seq:>4}  {clock}  {e.status:<14}  {e.on:<16} → {e.state}{f'  {e.tree[:7]}' if e.tree else ''}")
    accepted = json.loads(last.body)["run"].get("accepted", "")
    for line in card_lines(common, run, accepted):
        click.echo(line)


def _near(run: str, runs: list[str]) -> str:
    """A hint with the closest run id, or how to list them."""
    from difflib import get_close_matches

    near = [name for name in runs if name.startswith(run)] or get_close_matches(run, runs, 1)
    return f"did you mean {near[0]}? `detent runs --all` lists them" if near else "see `detent runs --all`"


def _flags(entry: Entry) -> list[dict[str, str]]:
    """The open flags of a run after an event."""
    found: list[dict[str, str]] = json.loads(entry.body)["run"].get("flags", [])
    return found


def _plain(entry: Entry) -> dict[str, str | int]:
    return {"seq": entry.seq, "at": entry.at, "on": entry.on, "status": entry.status, "state": entry.state, "tree": entry.tree}
