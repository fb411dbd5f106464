"""`detent abort`: end a run for good."""

import click

from detent.interfaces.cli.tell import tell_verdict


@click.command("abort")
@click.option("--run", metavar="ID", help="The run; without it, the one of this checkout.")
@click.option("--reason", default="", metavar="TEXT", help="Why; kept in the journal.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
def command(run: str | None, reason: str, as_json: bool) -> int:
    """End the run. Files and branch stay as they are, a snapshot is kept; a test run in progress is stopped."""
    from detent.interfaces.cli.runner import person

    return tell_verdict(person("abort", run, note=reason), as_json)
