"""`detent steer`: tell a run something while it works."""

import click

from detent.interfaces.cli.tell import tell_verdict


@click.command("steer")
@click.argument("text")
@click.option("--run", metavar="ID", help="The run; without it, the one of this checkout.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
def command(text: str, run: str | None, as_json: bool) -> int:
    """Say TEXT to the agent: it is kept, and stands in its next briefing."""
    from detent.interfaces.cli.runner import person

    return tell_verdict(person("steer", run, note=text), as_json)
