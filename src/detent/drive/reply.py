"""What an agent's last words hand in. The words are data: the last JSON object in them fills a submit, and the gates judge the tree.

Knows what each workflow's submit carries; decides nothing.
"""

import json
from collections.abc import Callable, Iterator, Mapping

import msgspec

from detent.door import AnyRun
from detent.kernel.model import Briefing, Sent
from detent.kernel.spans import Object, last_span, spans_of

LONGEST = 400_000  # characters of a reply that are looked through, its end
LONGEST_REPORT = 50_000  # characters of a final report that are kept, its end
SUMMARY = 500
WORDS = {"RED": "ALREADY_SATISFIED", "GREEN": "TEST_WRONG"}  # what an agent of `tdd` may say instead of handing in, by phase
TEXTS = ("summary", "test_command", "expectation", "analysis_decision", "commit_hash", "reply")
ACTIONS = {"request_scope_reduction": "scope-reduction", "escalate_for_external_help": "escalate"}


def objects(text: str) -> Iterator[Object]:
    """The JSON objects that stand in a text, in order, none inside another."""
    return (value for _, _, value in spans_of(text))


def _last(text: str, *names: str) -> Object:
    """The last object that has one of these keys."""
    fitting = [o for o in objects(text) if any(n in o for n in names)]
    return fitting[-1] if fitting else {}


def summary_of(text: str) -> str:
    """The first line of the last words that is not markup."""
    lines = (line.strip(" #*`>-\t") for line in text.splitlines())
    return next((line for line in lines if line and line[0] not in "{}[]"), "")[:SUMMARY]


def _tdd(briefing: Briefing, text: str, known: Mapping[str, str]) -> Sent:
    summary = str(_last(text, "summary").get("summary", "")) or summary_of(text)
    if briefing.state == "PLAN":
        named = _last(text, "currentTest")
        return Sent("submit", summary=summary, reply=json.dumps({"currentTest": named["currentTest"]}) if named else "")
    words = [line.strip(" `*.\"'") for line in text.splitlines() if line.strip(" `*.\"'")]
    word = WORDS.get(briefing.state, "")
    return Sent("submit", summary=summary, reply=word if word in words[-3:] else "")


def _pr(briefing: Briefing, text: str, known: Mapping[str, str]) -> Sent:
    said = _last(text, "action", *TEXTS, "findings", "no_pr_left", "overall_assessment")
    if (action := str(said.get("action", ""))) in ACTIONS:
        return Sent(ACTIONS[action], report=str(said.get("report", "")) or text, summary=summary_of(text))
    fields = {**known, **{n: str(said[n]) for n in TEXTS if said.get(n)}}
    fields["summary"] = fields.get("summary") or summary_of(text)
    findings = said if "overall_assessment" in said else said.get("findings")
    sent = Sent("submit", findings=json.dumps(findings) if findings is not None else "", no_pr_left=said.get("no_pr_left") is True)
    return msgspec.structs.replace(sent, **fields)


def _role(briefing: Briefing, text: str, known: Mapping[str, str]) -> Sent:
    """A role's reply: the last JSON object of its words, as it stands there, so that the strict reader sees every key."""
    reply = last_span(text, "status")
    said = json.loads(reply).get("summary", "") if reply else ""
    return Sent("submit", summary=str(said)[:SUMMARY] or summary_of(text), reply=reply)


def _work(briefing: Briefing, text: str, known: Mapping[str, str]) -> Sent:
    """A work agent's final report is its last words as they stand: their last line may say BLOCKED."""
    return Sent("submit", summary=summary_of(text), reply=text[-LONGEST_REPORT:])


READERS: Mapping[str, Callable[[Briefing, str, Mapping[str, str]], Sent]] = {
    "tdd": _tdd,
    "pr": _pr,
    "pipeline": _role,
    "task": _role,
    "execute": _work,
}


def read_reply(run: AnyRun, briefing: Briefing, text: str, known: Mapping[str, str]) -> Sent:
    """What is handed in for the agent; `known` are the fields that the machine fills where the agent says nothing."""
    sent = READERS[run.workflow](briefing, text[-LONGEST:], known)
    whole = {name: getattr(sent, name).encode("utf-8", "backslashreplace").decode() for name in (*TEXTS, "report")}
    return msgspec.structs.replace(sent, **whole)  # half a character could not be written down
