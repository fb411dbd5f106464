"""`detent submit-work`: hands in one attempt and prints the verdict."""

import sys

import click
import msgspec

from detent.errors import DetentError
from detent.interfaces.cli.plain_commands import DECISIONS, EXPECTATIONS
from detent.interfaces.cli.runner import LARGEST, SubmitFields, submit
from detent.interfaces.cli.tell import tell_verdict


@click.command("submit-work")
@click.argument("source", required=False, metavar="[-]")
@click.option("--run", metavar="ID", help="The run (default: the one of this checkout).")
@click.option("--summary", help="What was done, in a sentence or two.")
@click.option("--test-command", help="The project's test runner with selectors, e.g. 'pytest tests/test_x.py'.")
@click.option("--expectation", type=click.Choice(EXPECTATIONS), help="FAIL for a RED step, PASS for GREEN and REFACTOR.")
@click.option("--analysis-decision", type=click.Choice(DECISIONS), help="Whether the RED test failed as intended.")
@click.option("--commit-hash", help="The squashed commit; must be HEAD.")
@click.option("--findings", metavar="FILE", help="The review's findings: JSON, or a file with it; [] approves.")
@click.option("--reply", metavar="FILE", help="A reply: JSON, a file with it, or the word ALREADY_SATISFIED or TEST_WRONG.")
@click.option("--no-pr-left", is_flag=True, default=None, help="The plan has no open entry left.")
@click.option("--attempt-id", help="The briefing's attempt_id: a repeated call then gets the same verdict again.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def command(source: str | None, as_json: bool, **given: str | bool | None) -> int:
    """Hand in one attempt. The machine runs the tests itself, decides, and answers with a verdict and the next call to make.

    \b
    detent submit-work --summary "test for add" --test-command "pytest tests/test_add.py" --expectation FAIL
    detent submit-work --summary "it fails as it should" --analysis-decision SUCCESS
    echo '{"summary": "…", "test_command": "pytest", "expectation": "PASS"}' | detent submit-work -
    """
    call = _read_call() if source == "-" else _from_flags(source, given)
    return tell_verdict(submit(call), as_json)


def _from_flags(source: str | None, given: dict[str, str | bool | None]) -> SubmitFields:
    if source is not None:
        raise click.UsageError(f"'{source}' is not understood; the only argument is -, for JSON on standard input")
    if not given.get("summary"):
        raise click.UsageError("--summary is missing: say in a sentence what was done")
    return msgspec.convert({k: v for k, v in given.items() if v is not None}, SubmitFields)


def _read_call() -> SubmitFields:
    raw = sys.stdin.buffer.read(LARGEST + 1)
    if len(raw) > LARGEST:
        raise DetentError("the JSON on standard input is larger than 5 MB", "hand in files by their path")
    try:
        return msgspec.json.decode(raw, type=SubmitFields)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as e:
        raise DetentError(
            f"the JSON on standard input is not a submit: {e}", "one object with summary, test_command, expectation, …"
        ) from e
