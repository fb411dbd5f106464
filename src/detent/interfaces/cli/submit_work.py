"""`detent submit-work`: hand in one attempt, get a verdict."""

import sys
from pathlib import Path

import click
import msgspec

from detent.errors import DetentError
from detent.interfaces.cli.tell import tell_verdict
from detent.kernel.model import Sent, Value, Verdict

LARGEST = 5_000_000


class Call(Value, frozen=True):
    """The fields of a submit, as flags or as one JSON object on standard input."""

    summary: str
    test_command: str = ""
    expectation: str = ""
    analysis_decision: str = ""
    commit_hash: str = ""
    findings: str = ""  # the path of a file
    reply: str = ""  # the path of a file, or ALREADY_SATISFIED
    no_pr_left: bool = False
    attempt_id: str = ""
    run: str = ""


@click.command("submit-work")
@click.argument("source", required=False, metavar="[-]")
@click.option("--run", metavar="ID", help="The run; without it, the one of this checkout.")
@click.option("--summary", help="What was done, in a sentence or two.")
@click.option("--test-command", help="The project's test runner with selectors, e.g. 'pytest tests/test_x.py'.")
@click.option("--expectation", type=click.Choice(["PASS", "FAIL"]), help="FAIL for a RED step, PASS for GREEN and REFACTOR.")
@click.option("--analysis-decision", type=click.Choice(["SUCCESS", "FAILURE"]), help="Whether the RED test failed as intended.")
@click.option("--commit-hash", help="The squashed commit; must be HEAD.")
@click.option("--findings", metavar="FILE", help="The review's findings: JSON, or a file of it; [] approves.")
@click.option("--reply", metavar="FILE", help="A reply: JSON, a file of it, or the word ALREADY_SATISFIED.")
@click.option("--no-pr-left", is_flag=True, default=None, help="The plan has no open entry left.")
@click.option("--attempt-id", help="The briefing's attempt_id: a repeated call then gets the same verdict again.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
def command(source: str | None, as_json: bool, **given: str | bool | None) -> int:
    """Hand in one attempt. The machine runs the tests itself, decides, and answers with a verdict and the next call to make.

    \b
    detent submit-work --summary "test for add" --test-command "pytest tests/test_add.py" --expectation FAIL
    detent submit-work --summary "it fails as it should" --analysis-decision SUCCESS
    echo '{"summary": "…", "test_command": "pytest", "expectation": "PASS"}' | detent submit-work -
    """
    call = _read_call() if source == "-" else _from_flags(source, given)
    return tell_verdict(_say(call), as_json)


def _from_flags(source: str | None, given: dict[str, str | bool | None]) -> Call:
    if source is not None:
        raise click.UsageError(f"'{source}' is not understood; the only argument is -, for JSON on standard input")
    if not given.get("summary"):
        raise click.UsageError("--summary is missing: say in a sentence what was done")
    return msgspec.convert({k: v for k, v in given.items() if v is not None}, Call)


def _read_call() -> Call:
    raw = sys.stdin.buffer.read(LARGEST + 1)
    if len(raw) > LARGEST:
        raise DetentError("the JSON on standard input is larger than 5 MB", "hand in files by their path")
    try:
        return msgspec.json.decode(raw, type=Call)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as e:
        raise DetentError(
            f"the JSON on standard input is not a submit: {e}", "one object with summary, test_command, expectation, …"
        ) from e


def _say(call: Call) -> Verdict:
    from detent.interfaces.cli.runner import say

    sent = Sent(
        "submit",
        channel="cli",
        attempt_id=call.attempt_id,
        summary=call.summary,
        test_command=call.test_command,
        expectation=call.expectation,
        analysis_decision=call.analysis_decision,
        commit_hash=call.commit_hash,
        findings=_file(call.findings, "findings"),
        reply=call.reply if call.reply.strip() == "ALREADY_SATISFIED" else _file(call.reply, "reply"),
        no_pr_left=call.no_pr_left,
    )
    return say(call.run or None, sent)


def _file(path: str, what: str) -> str:
    """What a call hands in: JSON as it stands, or the content of the file it names. A file with nothing in it is still one that was handed in."""
    if not path or path.lstrip()[:1] in ("{", "[", '"'):
        return path
    try:
        file = Path(path)
        if file.stat().st_size > LARGEST:
            raise DetentError(f"{what}: {path} is larger than 5 MB", "hand in a shorter one")
        return file.read_text("utf-8", "replace") or "\n"
    except OSError as e:
        raise DetentError(f"{what}: {path} cannot be read: {e.strerror}", "name a file that exists") from e
