"""What the end of a child means for its session: names of children, what is learnt from them, and the way of work that was done apart. Pure; knows no git and no rows."""

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
    """The task that a child works on now; empty if the child is of an earlier round."""
    found = re.fullmatch(r"(T-\d+|meta)(-\d+)?", child)
    return found[1] if found and child == child_name(data, found[1]) else ""


def child_name(data: PipelineData, task: str) -> str:
    """A name that no earlier child had: the task, and from its second try on the number of it."""
    n = 1 + data.ended.get(task, 0)
    return task if n == 1 else f"{task}-{n}"


def _learn(run: Session, sent: Sent) -> PipelineData:
    """What the session takes over from a child that ended: its tree, its known issues, and the roles that worked."""
    try:
        issues = msgspec.json.decode(sent.facts.get("issues", "[]"), type=tuple[KnownIssue, ...])
        told = msgspec.json.decode(sent.facts.get("decisions", "[]"), type=tuple[KnownDecision, ...])
        left = msgspec.json.decode(sent.facts.get("asides", "[]"), type=tuple[Aside, ...])
        notes = msgspec.json.decode(sent.facts.get("notes", "{}"), type=dict[str, tuple[str, ...]])
    except msgspec.DecodeError:
        issues, told, left, notes = (), (), run.data.asides, {}
    known = {i.finding for i in run.data.known_issues}
    roles = tuple(r for r in sent.facts.get("roles", "").split(",") if r)
    return replace(
        run.data,
        good_tree=sent.facts.get("tree", "") or run.data.good_tree,
        ended=_one_more(run.data, sent),
        changed_files=changed_of(sent, "session_files") or run.data.changed_files,
        known_issues=(*run.data.known_issues, *(i for i in issues if i.finding not in known)),
        roles=tuple(dict.fromkeys((*run.data.roles, *roles))),
        earlier=(*run.data.earlier, *told),
        notes={**run.data.notes, **notes},
        asides=left,  # the child had all of them: what it left was for others
        instructed=tuple(dict.fromkeys((*run.data.instructed, *sent.facts.get("instructed", "").splitlines()))),
    )


def _one_more(data: PipelineData, sent: Sent) -> dict[str, int]:
    """Every end is counted, so that the next child for the same task gets a name of its own."""
    id = task_of(data, sent.child)
    return {**data.ended, id: data.ended.get(id, 0) + 1}


def _mark(data: PipelineData, id: str, status: Literal["implemented", "completed", "blocked"]) -> PipelineData:
    return replace(data, tasks=tuple(replace(t, status=status) if t.id == id else t for t in data.tasks))


def task_completed(run: Session, sent: Sent, found: Found) -> Session:
    """All gates of the task passed. In a lean session its review is the only one."""
    data = _mark(_learn(run, sent), task_of(run.data, sent.child), "completed")
    return replace(run, data=replace(data, reviewed_tree=data.good_tree) if data.mode == "lean" else data)


def task_implemented(run: Session, sent: Sent, found: Found) -> Session:
    """Coded and proved; it is completed by the final review."""
    return replace(run, data=_mark(_learn(run, sent), task_of(run.data, sent.child), "implemented"))


def final_review_passed(run: Session, sent: Sent, found: Found) -> Session:
    """The review covers every change so far, so what was implemented is completed."""
    data = _learn(run, sent)
    tasks = tuple(replace(t, status="completed") if t.status == "implemented" else t for t in data.tasks)
    return replace(run, data=replace(data, tasks=tasks, reviewed_tree=data.good_tree))


def task_stopped(run: Session, sent: Sent, found: Found) -> Session:
    """The child ended without success."""
    return replace(run, data=replace(_mark(run.data, task_of(run.data, sent.child), "blocked"), ended=_one_more(run.data, sent)))


def all_stopped(run: Session, sent: Sent, found: Found) -> Session:
    """The child ended without success, and those at work beside it are stopped: whoever takes up a task again gets a name of its own."""
    data = task_stopped(run, sent, found).data
    beside = {t.id: data.ended.get(t.id, 0) + 1 for t in data.tasks if t.status == "not-started"}
    return replace(run, data=replace(data, ended={**data.ended, **beside}, laid={}))


# Changes: tasks that worked apart


def begin_merge(run: Session, sent: Sent, found: Found) -> Session:
    """The task is done where it worked; it counts once it is merged."""
    status: Literal["implemented", "completed"] = "completed" if sent.outcome == "COMPLETED" else "implemented"
    made = Merging(task_of(run.data, sent.child), sent.facts.get("start", ""), sent.facts.get("tree", ""), status)
    learnt = replace(_learn(run, sent), good_tree=run.data.good_tree, changed_files=run.data.changed_files, merging=made)
    return replace(run, data=learnt)


def task_merged(run: Session, sent: Sent, found: Found) -> Session:
    """The merged tree passes: it is the session's, and the task is done."""
    data, made = run.data, run.data.merging
    if made is None:
        return run
    changed = changed_of(sent) or data.changed_files
    left = {id: laid for id, laid in data.laid.items() if id != made.task_id}
    done = replace(data, good_tree=sent.facts.get("tree", "") or data.good_tree, changed_files=changed, merging=None, laid=left)
    return replace(run, data=_mark(done, made.task_id, made.status), guidance="")


def merge_failed(run: Session, sent: Sent, found: Found) -> Session:
    """The work goes back to a Coder, laid over what the session has by now."""
    data, made = run.data, run.data.merging
    if made is None:
        return run
    said = sent.output + (f"\n\nA person says: {run.guidance}" if run.guidance else "")
    laid = {**data.laid, made.task_id: Laid(sent.facts.get("tree", ""), said)}
    return replace(run, data=replace(data, merging=None, laid=laid), guidance="")
