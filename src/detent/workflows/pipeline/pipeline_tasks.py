"""What the end of a child run means for its session: names of children, what is learnt from them, and the merge of tasks that ran in parallel.
Pure; knows no git and no rows."""

import re
from typing import Literal

import msgspec

from detent.gates.documents import KnownIssue
from detent.kernel.model import Found, Sent
from detent.workflows.pipeline.pipeline_data import Laid, Merging, PipelineData, Session
from detent.workflows.pipeline.session import Aside, KnownDecision
from detent.workflows.pipeline.task_data import changed_of

replace = msgspec.structs.replace


def task_of(data: PipelineData, child: str) -> str:
    """The task that a child run works on; empty if the child belongs to an earlier round."""
    found = re.fullmatch(r"(T-\d+|meta)(-\d+)?", child)
    return found[1] if found and child == child_name(data, found[1]) else ""


def child_name(data: PipelineData, task: str) -> str:
    """The name of the next child run for a task: the task's id, with -2, -3, … after its first."""
    n = 1 + data.ended.get(task, 0)
    return task if n == 1 else f"{task}-{n}"


def _learn(run: Session, sent: Sent) -> PipelineData:
    """Take over from a child that ended: its tree, known issues, decisions, roles, notes and asides."""
    try:
        issues = msgspec.json.decode(sent.facts.get("issues", "[]"), type=tuple[KnownIssue, ...])
        decisions = msgspec.json.decode(sent.facts.get("decisions", "[]"), type=tuple[KnownDecision, ...])
        left = msgspec.json.decode(sent.facts.get("asides", "[]"), type=tuple[Aside, ...])
        notes = msgspec.json.decode(sent.facts.get("notes", "{}"), type=dict[str, tuple[str, ...]])
    except msgspec.DecodeError:
        issues, decisions, left, notes = (), (), run.data.asides, {}
    known = {i.finding for i in run.data.known_issues}
    roles = tuple(r for r in sent.facts.get("roles", "").split(",") if r)
    return replace(
        run.data,
        good_tree=sent.facts.get("tree", "") or run.data.good_tree,
        ended=_one_more(run.data, sent),
        changed_files=changed_of(sent, "session_files") or run.data.changed_files,
        known_issues=(*run.data.known_issues, *(i for i in issues if i.finding not in known)),
        roles=tuple(dict.fromkeys((*run.data.roles, *roles))),
        earlier=(*run.data.earlier, *decisions),
        notes={**run.data.notes, **notes},
        asides=left,  # the child had all of them; those left are for other roles
        instructed=tuple(dict.fromkeys((*run.data.instructed, *sent.facts.get("instructed", "").splitlines()))),
    )


def _one_more(data: PipelineData, sent: Sent) -> dict[str, int]:
    """Count the end of a child, so that the task's next child gets a new name."""
    id = task_of(data, sent.child)
    return {**data.ended, id: data.ended.get(id, 0) + 1}


def _mark(data: PipelineData, id: str, status: Literal["implemented", "completed", "blocked"]) -> PipelineData:
    return replace(data, tasks=tuple(replace(t, status=status) if t.id == id else t for t in data.tasks))


def task_completed(run: Session, sent: Sent, found: Found) -> Session:
    """Mark the task completed. In lean mode its review is the only one, so it covers the session."""
    data = _mark(_learn(run, sent), task_of(run.data, sent.child), "completed")
    return replace(run, data=replace(data, reviewed_tree=data.good_tree) if data.mode == "lean" else data)


def task_implemented(run: Session, sent: Sent, found: Found) -> Session:
    """Mark the task implemented: coded and proved. The final review completes it."""
    return replace(run, data=_mark(_learn(run, sent), task_of(run.data, sent.child), "implemented"))


def final_review_passed(run: Session, sent: Sent, found: Found) -> Session:
    """Mark every implemented task completed, since the final review covers all changes so far."""
    data = _learn(run, sent)
    tasks = tuple(replace(t, status="completed") if t.status == "implemented" else t for t in data.tasks)
    return replace(run, data=replace(data, tasks=tasks, reviewed_tree=data.good_tree))


def task_stopped(run: Session, sent: Sent, found: Found) -> Session:
    """Mark the task of a child that ended without success as blocked."""
    return replace(run, data=replace(_mark(run.data, task_of(run.data, sent.child), "blocked"), ended=_one_more(run.data, sent)))


def all_stopped(run: Session, sent: Sent, found: Found) -> Session:
    """A child ended without success, and the children beside it are stopped; the next child of each task gets a new name."""
    data = task_stopped(run, sent, found).data
    beside = {t.id: data.ended.get(t.id, 0) + 1 for t in data.tasks if t.status == "not-started"}
    return replace(run, data=replace(data, ended={**data.ended, **beside}, laid={}))


# Changes: tasks that ran in parallel


def begin_merge(run: Session, sent: Sent, found: Found) -> Session:
    """The task is done in its own workspace; it counts once it is merged."""
    status: Literal["implemented", "completed"] = "completed" if sent.outcome == "COMPLETED" else "implemented"
    made = Merging(task_of(run.data, sent.child), sent.facts.get("start", ""), sent.facts.get("tree", ""), status)
    learnt = replace(_learn(run, sent), good_tree=run.data.good_tree, changed_files=run.data.changed_files, merging=made)
    return replace(run, data=learnt)


def task_merged(run: Session, sent: Sent, found: Found) -> Session:
    """The merged tree passes: it becomes the session's tree, and the task is done."""
    data, made = run.data, run.data.merging
    if made is None:
        return run
    changed = changed_of(sent) or data.changed_files
    left = {id: laid for id, laid in data.laid.items() if id != made.task_id}
    done = replace(data, good_tree=sent.facts.get("tree", "") or data.good_tree, changed_files=changed, merging=None, laid=left)
    return replace(run, data=_mark(done, made.task_id, made.status), guidance="")


def merge_failed(run: Session, sent: Sent, found: Found) -> Session:
    """The merge failed: the work goes back to a Coder, on top of the session's current tree."""
    data, made = run.data, run.data.merging
    if made is None:
        return run
    reason = sent.output + (f"\n\nA person says: {run.guidance}" if run.guidance else "")
    laid = {**data.laid, made.task_id: Laid(sent.facts.get("tree", ""), reason)}
    return replace(run, data=replace(data, merging=None, laid=laid), guidance="")
