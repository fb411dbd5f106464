"""Revisions of a session: documents that a person edited, and stages that a person wants done again. Which are possible when, what they change,
and what they invalidate, in words. Pure; knows no git and no rows."""

from collections.abc import Callable, Iterator, Mapping

import msgspec

from detent.evidence.look import FilesLook, SubmitLook
from detent.gates.documents import (
    ACCEPTANCE,
    ARCHITECTURE,
    RECORDS,
    RESEARCH,
    SPEC,
    SPECS,
    TASKS,
    acceptance_is_sound,
    architecture_is_sound,
    context_is_there,
    design_files,
    listed_below,
    one_task_only,
    read_acceptance,
    read_tasks,
    short_spec_is_sound,
    spec_is_sound,
)
from detent.gates.human import APPROVE, close_question, pending, resolve
from detent.kernel.model import Found, Sent
from detent.workflows.pipeline.pipeline_data import DONE, PipelineData, Session, keep_tasks
from detent.workflows.pipeline.pipeline_states import STATES
from detent.workflows.pipeline.task_data import META, ROLES

replace = msgspec.structs.replace

STAGES: Mapping[str, str] = {  # the stages that a person may have done again, and the state that does each
    "spec": "INTAKE",
    "acceptance": "FIX_ACCEPTANCE",
    "research": "DESIGN_RESEARCH",
    "architecture": "DESIGN",
    "design": "DESIGN_UI",
    "plan": "PLAN",
}
AT_WORK = "at_work"  # the fact that names the tasks now being worked on
EARLY = ("INTAKE", "INTAKE_LEAN", "DESIGN_RESEARCH", "DESIGN", "DESIGN_UI", "FIX_ACCEPTANCE")  # before the approval
EDITABLE = (SPEC, ACCEPTANCE, ARCHITECTURE, TASKS)
FOLDERS = (RESEARCH, RECORDS, SPECS)


def is_editable(data: PipelineData, path: str) -> bool:
    """Whether a path is a document that a person may edit; the others are written by the machine."""
    name = path.removeprefix(f"{data.session}/")
    return name in EDITABLE or (name.startswith(FOLDERS) and not name.endswith((".rejected", ".new")))


def revision(run: Session, sent: Sent) -> str:
    """The event that a revision causes."""
    if not sent.documents:
        return "again-lean" if run.data.mode == "lean" else f"again-{sent.to}" if sent.to in STAGES else "revise"
    at = run.back if run.state in ("ASK_USER", "BLOCKED") else run.state
    if at in EARLY:
        return "edited-early"
    if run.data.mode == "lean":
        return "edited-lean"
    return "edited-tasks" if _names(run, sent) == {TASKS} else "edited-design"


def _names(run: Session, sent: Sent) -> set[str]:
    return {path.removeprefix(f"{run.data.session}/") for path in sent.documents}


# Gates


def edits_are_sound(look: FilesLook[PipelineData]) -> str | None:
    """What a person changed is valid, already exists, and is not being written by a role right now."""
    return "\n".join(dict.fromkeys(_faults(look))) or None


def _faults(look: FilesLook[PipelineData]) -> Iterator[str]:
    run = look.run
    lean, start = run.data.mode == "lean", f"{run.data.session}/"
    changed = {path.removeprefix(start) for path in look.sent.documents}
    for path in design_files(run.data):
        look.read(path)  # reads them all, because the new approval is bound to all of them
    checks: dict[str, tuple[Callable[[FilesLook[PipelineData]], str | None], ...]]
    checks = {SPEC: (short_spec_is_sound if lean else spec_is_sound,), ACCEPTANCE: (acceptance_is_sound,)}
    checks |= {ARCHITECTURE: (architecture_is_sound,), TASKS: (_tasks_fit, context_is_there, *((one_task_only,) if lean else ()))}
    for name in sorted(changed):
        if not is_editable(run.data, name):
            yield f"{name} is written by the machine; change spec.md, acceptance.json, architecture.md or tasks.yaml"
        if any(_covers(pattern.removeprefix("$session/"), name) for pattern in STATES[run.state].writes):
            yield f"{ROLES[run.state]} is writing {name} now; say what you want with `detent steer`, or change the file once it is done"
        yield from (fault for check in checks.get(name, ()) if (fault := check(look)))
    if TASKS in changed and not run.data.tasks:
        yield f"{TASKS} is not planned yet; the tasks can be changed once the Planner has written them"


def _covers(pattern: str, name: str) -> bool:
    return name == pattern or (pattern.endswith("/**") and name.startswith(pattern[:-2]))


def _tasks_fit(look: FilesLook[PipelineData]) -> str | None:
    """Whether tasks.yaml is well formed. Its statuses are the machine's and are not read."""
    return "; ".join(read_tasks(look.read(f"{look.run.data.session}/{TASKS}") or "")[1]) or None


def stage_can_run(look: SubmitLook[PipelineData]) -> str | None:
    """A stage can be done again once what it depends on exists."""
    data, to = look.run.data, look.sent.to
    approved = any(d.decision_id == APPROVE and d.status == "answered" and d.answer == "approved" for d in data.decisions)
    if data.mode == "lean" and to not in ("spec", "plan"):
        return f"a lean session has no stage '{to}'; its only stage is spec"
    if to == "plan" and not approved:
        return "the design is not approved yet, so there is nothing to plan; answer UD-APPROVE-DESIGN first"
    if to == "acceptance" and not data.criteria:
        return "there are no acceptance criteria yet; they come with the specification"
    if to in ("research", "architecture", "design") and "SpecAgent" not in data.roles:
        return "there is no specification yet to base it on"
    return None if to != "design" or "Architect" in data.roles else "there is no architecture yet to base a design on"


# Changes


def keep_edits(run: Session, sent: Sent, found: Found) -> Session:
    """Keep what the person wrote; the last checks no longer count."""
    data, start = run.data, run.data.session
    if text := sent.documents.get(f"{start}/{ACCEPTANCE}"):
        read = read_acceptance(text)[0]
        data = replace(data, criteria=read.acceptance_criteria if read else data.criteria)
    if text := sent.documents.get(f"{start}/{SPEC}"):
        data = replace(data, assumptions=listed_below(text, "assum"))
    return replace(run, data=replace(data, checked_tree="", keeps_plan=_keeps_plan(run, sent)))


def _keeps_plan(run: Session, sent: Sent) -> bool:
    """Whether the tasks stay although the design is asked about again: only acceptance.json changed, and the tasks were approved."""
    return _plan_stands(run) and _names(run, sent) == {ACCEPTANCE}


def _plan_stands(run: Session) -> bool:
    """Whether work on the planned tasks had begun."""
    at = run.back if run.state in ("ASK_USER", "BLOCKED") else run.state
    if at == "APPROVE_DESIGN":
        return run.data.keeps_plan
    return at not in (*EARLY, "PLAN", "REVIEW_STRATEGY") and bool(run.data.tasks) and bool(run.data.strategy)


def keep_lean(run: Session, sent: Sent, found: Found) -> Session:
    """Keep an edit in lean mode: the task is worked on again if it or its purpose changed."""
    names = _names(run, sent)
    if TASKS in names:
        return keep_tasks(run, sent, found)
    tasks = run.data.tasks if names == {ACCEPTANCE} else tuple(replace(t, status="not-started") for t in run.data.tasks)
    return replace(run, data=replace(run.data, tasks=tasks))


def tell_role(run: Session, sent: Sent, found: Found) -> Session:
    """Tell the role that acts now or next about the edit."""
    return replace(
        run, steers=(*run.steers, f"A person changed {', '.join(sorted(_names(run, sent)))}. Read it again before you continue.")
    )


def release(run: Session, sent: Sent, found: Found) -> Session:
    """Drop whatever the run waited for and stop its child runs; the next child of a task gets a new name."""
    data, asked = run.data, pending(run.data)
    ended = {id: data.ended.get(id, 0) + 1 for id in (META, *(t.id for t in data.tasks if t.status not in DONE))}
    tasks = tuple(replace(t, status="not-started") if t.status == "blocked" else t for t in data.tasks)
    data = replace(data, ended={**data.ended, **ended}, laid={}, merging=None, tasks=tasks, held=None, accepted=None)
    after = replace(run, data=data, cause="", last_error="", last_reason="", guidance="")
    return close_question(after, "a person changed what it was about") if asked else after


def ask_stage(run: Session, sent: Sent, found: Found) -> Session:
    """Keep what must change for the briefing of the stage's role and of the roles after it."""
    words = sent.note.strip() or "A person wants this stage done again, without a note."
    research, ui = run.data.wants_research or sent.to == "research", run.data.wants_ui or sent.to == "design"
    data = replace(run.data, correction="queued", correction_note=words, wants_research=research, wants_ui=ui, checked_tree="")
    return replace(run, data=replace(data, keeps_plan=sent.to == "acceptance" and _plan_stands(run)))


def ask_planner(run: Session, sent: Sent, found: Found) -> Session:
    """Keep what must change in the plan, for the Planner."""
    return replace(run, guidance=f"A person sends the plan back: {sent.note.strip() or 'plan again; the person left no note.'}")


def ask_acceptance(run: Session, sent: Sent, found: Found) -> Session:
    """Correct only the acceptance checks: once they are approved, the work continues with the same tasks."""
    after = resolve(run, sent, found)
    data = replace(after.data, correction="queued", correction_note=after.guidance, keeps_plan=True, checked_tree="")
    return replace(after, data=data, guidance="")


def send_back(run: Session, sent: Sent, found: Found) -> Session:
    """Send the plan back to the Planner, with what must change."""
    after, words = resolve(run, sent, found), " ".join((sent.value.partition(":")[2].strip(), sent.note)).strip()
    return replace(after, guidance=f"A person sends the plan back: {words}")


# What a person is told


def invalidated(run: Session, sent: Sent) -> tuple[str, ...]:
    """What a revision invalidates and what happens instead, one line each."""
    return tuple(_invalid(run, sent, revision(run, sent)))


def _invalid(run: Session, sent: Sent, on: str) -> Iterator[str]:
    data, lean = run.data, run.data.mode == "lean"
    begun = sent.facts.get(AT_WORK, "").split()
    at_work = [t.id for t in data.tasks if t.id in begun] if run.state in ("IMPLEMENT_LOOP", "MERGING") else []
    if on == "edited-design" and run.state == "APPROVE_DESIGN" and not data.tasks:
        yield "nothing is invalidated: the design is not approved yet, and the question about it shows your change"
        return
    if on == "edited-early":
        yield "nothing is invalidated: the design is not approved yet, and you are asked about it once it is complete"
        return
    if on == "edited-tasks":
        yield from _tasks_invalid(run, sent)
        yield "the review strategy is asked again"
    elif on == "edited-design" and _keeps_plan(run, sent):
        yield "the approval of the design: you are asked again; then the work continues with the tasks as they are"
        yield "the results of the acceptance checks: they run again"
    elif on == "edited-design" or (on.startswith("again-") and on != "again-plan"):
        yield from _stages_again(sent, lean)
        yield "the approval of the design: you are asked again" if not lean else "the task is worked on again"
        if data.tasks and not lean and sent.to != "acceptance":
            yield "the plan: the Planner runs again; a task that stays the same word for word and is done stays done"
    elif on == "again-plan":
        yield "the plan: the Planner runs again; a task that stays the same word for word and is done stays done"
        yield "the review strategy is asked again"
    if at_work and run.state != "PLAN":
        yield f"work on {', '.join(at_work)} stops; what is written so far is kept in refs/detent/ but not used"


def _stages_again(sent: Sent, lean: bool) -> Iterator[str]:
    if sent.documents or lean:
        return
    order = {
        "spec": "SpecAgent, then Architect",
        "acceptance": "SpecAgent, for acceptance.json alone",
        "research": "Researcher, then Architect",
    }
    yield f"{order.get(sent.to, {'architecture': 'Architect', 'design': 'Designer'}.get(sent.to, sent.to))}: runs again"


def _tasks_invalid(run: Session, sent: Sent) -> Iterator[str]:
    listing, _ = read_tasks(sent.documents.get(f"{run.data.session}/{TASKS}", ""))
    new = {t.id: replace(t, status="not-started") for t in (listing.tasks if listing else ())}
    old = {t.id: t for t in run.data.tasks}
    for id, task in old.items():
        done = task.status in DONE
        if id not in new:
            yield f"{id} is removed" + ("; its work stays in the branch" if done else "")
        elif new[id] != replace(task, status="not-started"):
            yield f"{id} is changed" + (f": it was {task.status}, and is worked on again" if done else "")
    yield from (f"{id} is new" for id in new if id not in old)
