"""What an agent's last words hand in. The words are data: the last JSON object in them fills a submit, and the gates judge the tree.

Decides nothing. What a workflow's submit carries is read by a function of its own.
"""

import json
from collections.abc import Callable, Iterator, Mapping

import msgspec

from detent.gates.plain_values import Object, last_span, spans_of
from detent.kernel.model import Briefing, Sent

LONGEST = 400_000  # characters of a reply that are looked through, its end
SUMMARY = 500
TEXTS = ("summary", "test_command", "expectation", "analysis_decision", "commit_hash", "reply")

Reader = Callable[[Briefing, str, Mapping[str, str]], Sent]  # the briefing, the words, and the fields that the machine knows


def objects(text: str) -> Iterator[Object]:
    """The JSON objects that stand in a text, in order, none inside another."""
    return (value for _, _, value in spans_of(text))


def last_object(text: str, *names: str) -> Object:
    """The last object that has one of these keys."""
    fitting = [o for o in objects(text) if any(n in o for n in names)]
    return fitting[-1] if fitting else {}


def summary_of(text: str) -> str:
    """The first line of the last words that is not markup."""
    lines = (line.strip(" #*`>-\t") for line in text.splitlines())
    return next((line for line in lines if line and line[0] not in "{}[]"), "")[:SUMMARY]


def read_summary(briefing: Briefing, text: str, known: Mapping[str, str]) -> Sent:
    """A submit with a summary, and the words as they stand."""
    said = str(last_object(text, "summary").get("summary", "")) or summary_of(text)
    return Sent("submit", summary=said, reply=text)


def read_status(briefing: Briefing, text: str, known: Mapping[str, str]) -> Sent:
    """The last JSON object with a status, as it stands there, so that a strict reader sees every key."""
    reply = last_span(text, "status")
    said = json.loads(reply).get("summary", "") if reply else ""
    return Sent("submit", summary=str(said)[:SUMMARY] or summary_of(text), reply=reply)


def hand_in(read: Reader, briefing: Briefing, text: str, known: Mapping[str, str]) -> Sent:
    """What is handed in for the agent; `known` are the fields that the machine fills where the agent says nothing."""
    sent = read(briefing, text[-LONGEST:], known)
    whole = {name: getattr(sent, name).encode("utf-8", "backslashreplace").decode() for name in (*TEXTS, "report")}
    return msgspec.structs.replace(sent, **whole)  # half a character could not be written down
