"""`detent runs`: all runs of this repository."""

import json
from pathlib import Path

import click

from detent.app import journal_at
from detent.errors import NoJournal
from detent.interfaces.cli.tell import local_time
from detent.journal.journal import Head


@click.command("runs")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--all", "everything", is_flag=True, help="Ended runs and child runs too.")
def command(as_json: bool, everything: bool) -> None:
    """List the runs of this repository, newest first: where each stands, and since when."""
    try:
        heads = journal_at(Path.cwd()).heads()
    except NoJournal:
        heads = []
    shown = [h for h in heads if everything or not (h.ended or h.parent)]
    if as_json:
        click.echo(json.dumps({"runs": [h._asdict() for h in shown]}))
    elif not shown:
        hidden = len(heads) - len(shown)
        click.echo(
            f"No open runs ({hidden} more with --all)." if hidden else "No runs yet. Start one with `detent start`, or try `detent demo`."
        )
    else:
        _print(shown)


def _print(heads: list[Head]) -> None:
    run, workflow, state = (max(map(len, names)) for names in zip(*((h.run, h.workflow, h.state) for h in heads), strict=True))
    for h in heads:
        click.echo(f"{h.run:<{run}}  {h.workflow:<{workflow}}  {h.state:<{state}}  {h.seq:>4} events  {local_time(h.at)}")
