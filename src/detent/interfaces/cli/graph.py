"""`detent graph`: a workflow drawn from its table."""

import json

import click

from detent.app.registry import is_workflow, workflow_names, workflow_of
from detent.errors import DetentError
from detent.kernel.draw import as_mermaid, as_table


@click.command("graph")
@click.argument("workflow")
@click.option("--format", "form", type=click.Choice(["table", "mermaid"]), default="table", show_default=True, help="What to draw.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object with both drawings and the states.")
def command(workflow: str, form: str, as_json: bool) -> None:
    """Draw WORKFLOW (pr, tdd, execute, pipeline or task) from the table that the machine runs on.

    \b
    detent graph pr                     the table: states, rows, gates, jobs
    detent graph tdd --format mermaid   a diagram for markdown pages
    """
    if not is_workflow(workflow):
        raise DetentError(f"there is no workflow '{workflow}'", f"known: {', '.join(workflow_names())}")
    table = workflow_of(workflow).table
    if as_json:
        states = {name: {"actor": s.actor, "role": s.role, "end": s.end} for name, s in table.states.items()}
        drawn = {"table": as_table(table), "mermaid": as_mermaid(table)}
        click.echo(json.dumps({"workflow": table.name, "title": table.title, "starts": table.starts, "states": states, **drawn}))
    else:
        click.echo(as_table(table) if form == "table" else as_mermaid(table), nl=False)
