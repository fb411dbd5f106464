"""What a run of `pr` shows and reads: descriptions of its events, an agent's last message, its published files (ACTIVE_PR.json,
ORCHESTRATION_STATE.json, error.log), its title, and the progress of its plan.

Made from the run alone; published files are written, never read back as truth.
"""

import json
from collections.abc import Mapping

import msgspec
from msgspec.structs import replace

from detent.blocks.briefs import TEXTS, last_object, summary_of
from detent.blocks.common import DRIVEN, PEOPLE, Part, Step
from detent.blocks.open_flags import ACCEPTED, BY_MACHINE
from detent.gates.plan import PlanTask
from detent.kernel.model import Briefing, Run, Sent
from detent.kernel.table import Move, by_agent, by_human, by_system
from detent.workflows.pr.pr_data import PrData, current
from detent.workflows.pr.pr_facts import facts

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
    reply = last_object(text, "action", *TEXTS, "findings", "no_pr_left", "overall_assessment")
    if (action := str(reply.get("action", ""))) in ACTIONS:
        return Sent(ACTIONS[action], report=str(reply.get("report", "")) or text, summary=summary_of(text))
    fields = {**known, **{n: str(reply[n]) for n in TEXTS if reply.get(n)}}
    fields["summary"] = fields.get("summary") or summary_of(text)
    findings = reply if "overall_assessment" in reply else reply.get("findings")
    sent = Sent("submit", findings=json.dumps(findings) if findings is not None else "", no_pr_left=reply.get("no_pr_left") is True)
    return msgspec.structs.replace(sent, **fields)


def known(briefing: Briefing, command: str) -> dict[str, str]:
    """Defaults for an agent's message: the step's expectation and the full test command."""
    if briefing.state not in ("EXECUTING_TDD", "DEBUGGING") or briefing.step is None:
        return {}
    return {"expectation": EXPECTATIONS[briefing.step.type], **({"test_command": command} if command else {})}


ASIDE = "The project has its own files with these names, so read and write the machine's copies instead: "
UNPROVEN = "unproven"  # done according to an earlier agent, without evidence
MOST = 20  # limit of the entries that are shown
OTHER_ENTRIES = (
    "Not these? Mark the right lines with check boxes (- [ ]) or as 'PR 1: …', or set [pr] entries to a pattern, and start again."
)
WRITES_PLAN = ("INITIALIZING", "REPLANNING")
PLAN_FILE, STATE_FILE, ERROR_FILE = "ACTIVE_PR.json", "ORCHESTRATION_STATE.json", "error.log"


def protected(briefing: Briefing) -> tuple[str, ...]:
    """The agent may change the plan only while it is asked for."""
    return () if PLAN_FILE in briefing.writes else (PLAN_FILE,)


def being_written(run: Run[PrData]) -> tuple[str, ...]:
    """The plan belongs to the agent while it is asked to write it."""
    return (PLAN_FILE,) if run.state in WRITES_PLAN else ()


def published(run: Run[PrData]) -> dict[str, str | None]:
    """Every published file by name; None means that it must not exist. After a finished pull request all are None."""
    run = replace(run, data=PrData(setup=run.data.setup)) if run.data.landed else run
    return {PLAN_FILE: active_pr(run), STATE_FILE: orchestration_state(run), ERROR_FILE: run.last_error or None}


def facts_and_places(run: Run[PrData]) -> Mapping[str, str]:
    """The names that briefings may use; `aside` says where published files are that cannot be at the root."""
    elsewhere = run.data.setup.aside
    return {**facts(run), "aside": ASIDE + ", ".join(f"`{path}`" for path in elsewhere) if elsewhere else ""}


def active_pr(run: Run[PrData]) -> str | None:
    """ACTIVE_PR.json: the plan with its current statuses."""
    plan = run.data.plan
    if plan is None:
        return None
    head = {
        "masterPlanPath": plan.masterPlanPath,
        "prTitle": plan.prTitle,
        "summary": plan.summary,
        "verificationPlan": plan.verificationPlan,
    }
    return json.dumps({**head, "tasks": [_task(run, t) for t in plan.tasks]}, indent=2, ensure_ascii=False) + "\n"


def _task(run: Run[PrData], task: PlanTask) -> dict[str, object]:
    steps = [{"type": s.type, "description": s.description, "status": s.status} for s in task.tdd_steps]
    history = (
        {"originalTaskName": task.breakdownHistory.originalTaskName, "justification": task.breakdownHistory.justification}
        if task.breakdownHistory
        else None
    )
    shown: dict[str, object] = {"taskName": task.taskName, "status": _status(run, task), "tdd_steps": steps}
    return {**shown, "breakdownHistory": history} if history else shown


def _status(run: Run[PrData], task: PlanTask) -> str:
    if all(s.status == "DONE" for s in task.tdd_steps):
        return "DONE"
    now = current(run.data)
    if now is None or now[0] is not task:
        return "TODO"
    if run.state == "HALTED":
        return "ERROR"
    begun = any(s.status == "DONE" for s in task.tdd_steps) or run.state in ("DEBUGGING", "NEEDS_ANALYSIS")
    return "IN_PROGRESS" if begun or run.state == "EXECUTING_TDD" else "TODO"


def orchestration_state(run: Run[PrData]) -> str:
    """ORCHESTRATION_STATE.json: the live state, with the field names that agents know."""
    done = [s for t in (run.data.plan.tasks if run.data.plan else ()) for s in t.tdd_steps if s.status == "DONE"]
    fields: dict[str, object] = {
        "status": run.state,
        "debug_attempt_counter": run.counts.get("debug", 0),
        "last_commit_hash": run.data.last_commit_hash or None,
        "current_pr_branch": run.data.branch.removeprefix("refs/heads/") or None,
        "last_error": run.last_error or None,
        "last_completed_step": f"{done[-1].type}{'' if done[-1].proof else ' (unproven)'}: {done[-1].description}" if done else None,
    }
    return json.dumps({k: v for k, v in fields.items() if v is not None}, indent=2, ensure_ascii=False) + "\n"


def title(run: Run[PrData]) -> str:
    """The current pull request; without one, those that are done, or the first open entry, so that runs of one plan can be told apart."""
    data = run.data
    if data.plan:
        return data.plan.prTitle
    return "; ".join(data.merged) or next(iter(data.setup.entries), "") or f"plan {data.setup.plan}"


def at_start(run: Run[PrData]) -> tuple[str, ...]:
    """The plan's open entries, shown before the first step."""
    path, left = run.data.setup.plan, run.data.setup.entries
    if not left:
        return (f"The plan {path} has no open entry.", OTHER_ENTRIES)
    more = [f"  and {len(left) - MOST} more"] if len(left) > MOST else []
    count = f"{len(left)} open {'entry' if len(left) == 1 else 'entries'}"
    return (f"The plan {path} has {count}, one pull request each:", *(f"  {each}" for each in left[:MOST]), *more, OTHER_ENTRIES)


def plan(run: Run[PrData]) -> tuple[Part, ...]:
    parts, found = [], False
    for task in run.data.plan.tasks if run.data.plan else ():
        steps = []
        for step in task.tdd_steps:
            done = step.status == "DONE"
            shown = step.description if step.proof or not done else f"{step.description} ({UNPROVEN})"
            steps.append(Step(step.type, shown, "done" if done else "open" if found else "now", step.proof))
            found = found or not done
        seen = {s.status for s in steps}
        status = "done" if seen == {"done"} else "now" if "now" in seen else "open"
        parts.append(Part("", task.taskName, status, tuple(steps)))
    return tuple(parts)
