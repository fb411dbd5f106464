"""What the last words of an agent of `pr` hand in: the fields of a submit, findings, or a call for help. And what the machine knows itself."""

import json
from collections.abc import Mapping

import msgspec

from detent.blocks.last_words import TEXTS, last_object, summary_of
from detent.kernel.model import Briefing, Sent

ACTIONS = {"request_scope_reduction": "scope-reduction", "escalate_for_external_help": "escalate"}
EXPECTATIONS = {"RED": "FAIL", "GREEN": "PASS", "REFACTOR": "PASS"}


def read(briefing: Briefing, text: str, known: Mapping[str, str]) -> Sent:
    said = last_object(text, "action", *TEXTS, "findings", "no_pr_left", "overall_assessment")
    if (action := str(said.get("action", ""))) in ACTIONS:
        return Sent(ACTIONS[action], report=str(said.get("report", "")) or text, summary=summary_of(text))
    fields = {**known, **{n: str(said[n]) for n in TEXTS if said.get(n)}}
    fields["summary"] = fields.get("summary") or summary_of(text)
    findings = said if "overall_assessment" in said else said.get("findings")
    sent = Sent("submit", findings=json.dumps(findings) if findings is not None else "", no_pr_left=said.get("no_pr_left") is True)
    return msgspec.structs.replace(sent, **fields)


def known(briefing: Briefing, command: str) -> dict[str, str]:
    """The step's expectation and the full test command."""
    if briefing.state not in ("EXECUTING_TDD", "DEBUGGING") or briefing.step is None:
        return {}
    return {"expectation": EXPECTATIONS[briefing.step.type], **({"test_command": command} if command else {})}
