"""`detent graph`: a workflow drawn from its table."""

import json

import click

from detent.app.registry import BUILT_IN, workflow_names, workflow_of
from detent.errors import DetentError
from detent.extensions import WORKFLOWS, shadowing
from detent.kernel.draw import as_mermaid, as_table


@click.command("graph")
@click.argument("workflow", required=False)
@click.option("--format", "form", type=click.Choice(["table", "mermaid"]), default="table", show_default=True, help="What to draw.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object with both drawings and the states.")
def command(workflow: str | None, form: str, as_json: bool) -> None:
    """Draw WORKFLOW from the table that the machine runs on; without a name, list the workflows.

    \b
    detent graph                        the workflows that there are
    detent graph pr                     the table: states, rows, gates, jobs
    detent graph tdd --format mermaid   a diagram for markdown pages
    """
    if workflow is None:
        _list(as_json)
        return
    table = workflow_of(workflow).table
    if as_json:
        states = {name: {"actor": s.actor, "role": s.role, "end": s.end} for name, s in table.states.items()}
        drawn = {"table": as_table(table), "mermaid": as_mermaid(table)}
        click.echo(json.dumps({"workflow": table.name, "title": table.title, "starts": table.starts, "states": states, **drawn}))
    else:
        click.echo(as_table(table) if form == "table" else as_mermaid(table), nl=False)


def _list(as_json: bool) -> None:
    """Print every workflow with its title, or why it cannot be used."""
    found = {name: _title(name) for name in workflow_names()}
    hidden = shadowing(WORKFLOWS, BUILT_IN)
    if as_json:
        rows = [{"workflow": name, "title": title, "error": wrong} for name, (title, wrong) in found.items()]
        click.echo(json.dumps({"workflows": rows, "ignored": list(hidden)}))
        return
    wide = max(map(len, found))
    for name, (title, wrong) in found.items():
        click.echo(f"{name:<{wide}}  {title or wrong}")
    for sentence in hidden:
        click.echo(f"Ignored: {sentence}.")


def _title(name: str) -> tuple[str | None, str | None]:
    """The title of a workflow, or why it cannot be used."""
    try:
        return workflow_of(name).table.title, None
    except DetentError as e:
        return None, e.message
