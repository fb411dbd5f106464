"""`detent escalate-for-external-help`: the last escape hatch. Prints the report and halts the run for a person."""

import sys
from pathlib import Path

import click

from detent.errors import DetentError
from detent.interfaces.cli.tell import tell_verdict
from detent.kernel.model import Sent


@click.command("escalate-for-external-help")
@click.option("--report", required=True, metavar="FILE|-", help="A markdown report: goal, what was tried, the last error, analysis.")
@click.option("--run", metavar="ID", help="The run (default: the one of this checkout).")
@click.option("--attempt-id", default="", help="The briefing's attempt_id.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def command(report: str, run: str | None, attempt_id: str, as_json: bool) -> int:
    """Halt the run and show a person the report. Locked until enough attempts have failed; released by `detent resume`."""
    from detent.interfaces.cli.runner import say

    try:
        text = sys.stdin.read() if report == "-" else Path(report).read_text("utf-8", "replace")
    except OSError as e:
        raise DetentError(f"the report {report} cannot be read: {e.strerror}", "name a file that exists, or - for standard input") from e
    if not text.strip():
        raise DetentError("the report is empty", "write what you tried, the last error, and what you think is wrong")
    verdict = say(run, Sent("escalate", channel="cli", report=text, attempt_id=attempt_id, output=text))
    if verdict.status == "HALTED" and not as_json:
        click.echo(text)
        return 10
    return tell_verdict(verdict, as_json)
