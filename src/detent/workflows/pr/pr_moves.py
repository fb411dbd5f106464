"""The moves of `pr`: every event by name, who may cause it, and the words by which they do; and how the last words of an agent become a submit."""

import json
from collections.abc import Mapping

import msgspec

from detent.blocks.common import DRIVEN, PEOPLE
from detent.blocks.last_words import TEXTS, last_object, summary_of
from detent.blocks.open_flags import ACCEPTED, BY_MACHINE
from detent.kernel.model import Briefing, Sent
from detent.kernel.table import Move, by_agent, by_human, by_system

SUBMIT = "submit_work"
MOVES: dict[str, Move] = {
    "plan": by_agent(SUBMIT, "write ACTIVE_PR.json, then call submit_work with summary"),
    "plan-here": by_agent(SUBMIT, "write ACTIVE_PR.json, then call submit_work with summary"),
    "no-pr-left": by_agent(SUBMIT, "call submit_work with summary and no_pr_left true"),
    "red": by_agent(SUBMIT, 'call submit_work with summary, test_command and expectation "FAIL"'),
    "verify": by_agent(SUBMIT, 'call submit_work with summary, test_command and expectation "FAIL"'),
    "green": by_agent(SUBMIT, 'call submit_work with summary, test_command and expectation "PASS"'),
    "refactor": by_agent(SUBMIT, 'call submit_work with summary, test_command and expectation "PASS"'),
    "already": by_agent(SUBMIT, 'call submit_work with summary, test_command, expectation "FAIL" and reply "ALREADY_SATISFIED"'),
    "test-wrong": by_agent(SUBMIT, 'call submit_work with reply "TEST_WRONG" and a summary that says what is wrong with the test'),
    "checkpoint": by_agent(SUBMIT, "commit everything, then call submit_work with summary"),
    "success": by_agent(SUBMIT, 'call submit_work with summary and analysis_decision "SUCCESS" or "FAILURE"'),
    "failure": by_agent(SUBMIT, 'call submit_work with summary and analysis_decision "FAILURE"'),
    "scope-reduction": by_agent("request_scope_reduction", "call request_scope_reduction"),
    "escalate": by_agent("escalate_for_external_help", "call escalate_for_external_help with markdown_report"),
    "replan": by_agent(SUBMIT, "rewrite the task in ACTIVE_PR.json, then call submit_work with summary"),
    "none-left": by_system("every step is done"),
    "branched": by_system("the branch is there"),
    "approved": Move(("agent", "system"), SUBMIT, "call submit_work with summary and findings ([] approves)"),
    "findings": Move(("agent", "system"), SUBMIT, "call submit_work with summary and findings ([] approves)"),
    "wait": by_agent(
        SUBMIT, "hand in nothing: you cannot report this review; call get_task again, and the machine asks the reviewer again"
    ),
    "squashed": Move(("agent", "system"), SUBMIT, "squash as the briefing says, then call submit_work with summary and commit_hash"),
    "plan-done": by_agent(SUBMIT, "mark the entry in the plan, then call submit_work with summary"),
    "plan-done-here": by_agent(SUBMIT, "mark the entry in the plan, then call submit_work with summary"),
    "to-merge": by_system("the plan is updated"),
    "merged": by_system("the branch is in main"),
    "conflict": by_system("the merge conflicts"),
    "red-merge": by_system("the merged tree does not pass"),
    "resume": by_human("resume", "detent resume"),
    "guided": by_human("resume", "detent resume --guidance TEXT"),
    "approve": by_human("answer", "detent answer REVIEW approve"),
    "another-round": by_human("answer", "detent answer REVIEW another-round"),
    "finish": by_human("answer", "detent answer PLAN finish"),
    **BY_MACHINE,
    **ACCEPTED,
    **DRIVEN,
    **PEOPLE,
}


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
