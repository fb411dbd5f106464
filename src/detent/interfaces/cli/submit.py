"""One submit as a call says it: its fields, the files that it names, and handing it in. Knows nothing of flags; imports no click."""

from pathlib import Path

import msgspec

from detent.errors import DetentError
from detent.kernel.model import Sent, Value, Verdict

LARGEST = 5_000_000


Handed = str | dict[str, object] | list[object]


class SubmitFields(Value, frozen=True):
    """The fields of a submit, as flags or as one JSON object on standard input."""

    summary: str
    test_command: str = ""
    expectation: str = ""
    analysis_decision: str = ""
    commit_hash: str = ""
    findings: Handed = ""  # JSON, or the path of a file
    reply: Handed = ""  # JSON, the path of a file, or the word ALREADY_SATISFIED or TEST_WRONG
    no_pr_left: bool = False
    attempt_id: str = ""
    run: str = ""


def submit(call: SubmitFields) -> Verdict:
    """Hand it in."""
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
        findings=_text(call.findings, "findings"),
        reply=_text(call.reply, "reply"),
        no_pr_left=call.no_pr_left,
    )
    return say(call.run or None, sent)


def _text(value: Handed, what: str) -> str:
    """What a call hands in: JSON as it stands, a word, or the content of a file. A file with nothing in it is still one that was handed in."""
    if not isinstance(value, str):
        return msgspec.json.encode(value).decode()
    return (
        value if value.lstrip()[:1] in ("", "{", "[", '"') or value.strip() in ("ALREADY_SATISFIED", "TEST_WRONG") else _file(value, what)
    )


def _file(path: str, what: str) -> str:
    try:
        file = Path(path)
        if file.stat().st_size > LARGEST:
            raise DetentError(f"{what}: {path} is larger than 5 MB", "hand in a shorter one")
        return file.read_text("utf-8", "replace") or "\n"
    except OSError as e:
        raise DetentError(f"{what}: {path} cannot be read: {e.strerror}", "name a file that exists") from e
