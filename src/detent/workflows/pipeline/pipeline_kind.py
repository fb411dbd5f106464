"""Which event a call to a session causes. Pure: reads only the run and what was sent, and decides nothing."""

from detent.gates.human import event_of, pending, reopened
from detent.gates.reply import RoleReply, effective_status, read_reply
from detent.kernel.model import Run, Sent
from detent.workflows.pipeline.pipeline_data import PipelineData, all_done, manual_open, reviewed, unproven
from detent.workflows.pipeline.pipeline_revise import revision
from detent.workflows.pipeline.pipeline_states import ACTING
from detent.workflows.pipeline.pipeline_tasks import task_of
from detent.workflows.pipeline.task_data import META, ROLES

ENDS = {"COMPLETED": "task-completed", "IMPLEMENTED": "task-implemented", "RESCOPED": "task-rescoped"}
STOPS = {"ESCALATED_TO_FULL": "task-escalated", "ABORTED": "task-aborted"}


def kind(run: Run[PipelineData], sent: Sent) -> str:
    """The event that a call causes. A reply is read in the format of the acting role; one that cannot be read is `no-reply`."""
    if sent.verb == "due":
        return _due(run)
    if sent.verb == "submit":
        return _submitted(run, sent) if run.state in ACTING else "submit"
    if sent.verb == "answer":
        on = event_of(pending(run.data), sent)
        if on == "approved" and run.data.keeps_plan:
            return "approved-again"
        return "simplify-lean" if on == "simplify" and run.data.mode == "lean" else on
    if sent.verb == "revise":
        return revision(run, sent)
    if sent.verb == "resume":
        return "ask-again" if run.state == "BLOCKED" and reopened(run.data) else "resume"
    if sent.verb == "steer" and sent.to:
        return "steer-to"
    if sent.verb == "child":
        return _child_ended(run, sent)
    if sent.verb == "outcome":
        without = run.data.mode == "lean" or bool(run.counts.get("FIX_BUILD"))
        return "red-again" if sent.outcome == "red" and without else sent.outcome
    return sent.verb


def _due(run: Run[PipelineData]) -> str:
    """The system event that is due, if there is one."""
    data = run.data
    if run.state in ACTING:
        return _forward(run, data.accepted) if data.accepted else ""
    if run.state == "IMPLEMENT_LOOP" and all_done(data):
        return "all-done-again" if data.mode == "lean" or data.integrated else "all-done"
    if run.state != "INTEGRATED":
        return ""
    if not reviewed(data):
        return "unreviewed"
    if data.mode == "full" and not data.documented:
        return "to-release"
    if manual_open(data):
        return "manual-open"
    return "open-ends" if unproven(run) else "finished"


def _submitted(run: Run[PipelineData], sent: Sent) -> str:
    reply, _ = read_reply(sent.reply, ROLES[run.state])
    if reply is None:
        return "no-reply"
    status = effective_status(reply)
    if status == "OK":
        return _forward(run, reply)
    if status == "NEEDS_INFO" and run.state in ("INTAKE", "INTAKE_LEAN"):
        return "asked-twice" if run.data.clarified else "clarify"
    return {"FAIL": "failed", "PASS_WITH_NOTES": "notes"}.get(status, "asks")


def _forward(run: Run[PipelineData], reply: RoleReply) -> str:
    """The event that moves the session on when a role's reply is OK."""
    data = run.data
    if run.state == "INTAKE":
        return "specified-research" if data.wants_research or reply.next.research else "specified"
    if run.state == "DESIGN":
        return "designed-ui" if data.wants_ui else "designed"
    if run.state == "FIX_ACCEPTANCE":
        return "respecified-lean" if data.mode == "lean" else "respecified"
    fixed = {"INTAKE_LEAN": "specified-lean", "DESIGN_RESEARCH": "researched", "DESIGN_UI": "drawn", "PLAN": "planned"}
    later = {"INTEGRATE": "integrated", "RELEASE": "released", "RELEASE_FILES": "packed"}
    return fixed.get(run.state) or later.get(run.state, "fixed")


def _child_ended(run: Run[PipelineData], sent: Sent) -> str:
    """The event that a child's end causes; the end of a child of an earlier round is `old-child`."""
    task = task_of(run.data, sent.child)
    on = {**ENDS, **STOPS}.get(sent.outcome, "")
    if not task or not on:
        return "old-child"
    if sent.outcome in ("COMPLETED", "IMPLEMENTED") and not sent.facts.get("tree"):
        return "task-unproved"
    if sent.outcome in ("COMPLETED", "IMPLEMENTED") and sent.facts.get("start"):
        return "task-apart"
    if task == META and sent.outcome == "COMPLETED":
        return "final-review-passed"
    return f"{on}-lean" if on == "task-rescoped" and run.data.mode == "lean" else on
