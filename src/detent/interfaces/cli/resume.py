"""`detent resume`: release a run that waits for a person."""

import click

from detent.interfaces.cli.tell import tell_verdict


@click.command("resume")
@click.option("--guidance", default="", metavar="TEXT", help="What the agent should know; it stands in its next briefing.")
@click.option("--run", metavar="ID", help="The run; without it, the one of this checkout.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
def command(guidance: str, run: str | None, as_json: bool) -> int:
    """Release a halted run. It goes back to where it came from; after a conflict, the machine first looks whether the branch is in main."""
    from detent.interfaces.cli.runner import person

    return tell_verdict(person("resume", run, guidance=guidance), as_json)
