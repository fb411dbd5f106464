"""What a session stores about itself, the pure changes to it, and what it still lacks for DONE. Knows no git and no rows."""

from collections.abc import Mapping
from typing import Literal

import msgspec

from detent.evidence.look import SubmitLook
from detent.gates.documents import (
    ACCEPTANCE,
    RECORDS,
    RESEARCH,
    SPEC,
    SPECS,
    TASKS,
    Criterion,
    content_hash,
    design_files,
    listed_below,
    read_acceptance,
    read_tasks,
    recommended,
)
from detent.gates.human import APPROVE, STRATEGY, PersonDecision, ask, meant, pending, question, resolve
from detent.gates.summary import design_summary
from detent.kernel.model import Found, Run, Sent, Value
from detent.workflows.pipeline.session import CommandProof, Grounded
from detent.workflows.pipeline.task_data import ROLES, reply_of
from detent.workflows.pipeline.task_data import keep_prepared as keep_input

replace = msgspec.structs.replace

DONE = ("implemented", "completed")  # a task that others depend on must have one of these statuses
CORE = ("SpecAgent", "Architect", "Planner", "Coder", "Reviewer", "QA", "Security", "Integrator", "Docs")
PUBLISHED: Mapping[str, str] = {
    "DESIGN_RESEARCH": "DESIGN", "DESIGN_UI": "DESIGN", "INTEGRATE_CHECKS": "INTEGRATE", "INTEGRATED": "INTEGRATE",
    "FIX_ACCEPTANCE": "INTAKE", "FIX_BUILD_CODE": "FIX_BUILD", "RELEASE_FILES": "RELEASE", "LANDING": "RELEASE", "MERGING": "IMPLEMENT_LOOP",
}  # fmt: skip


class Manual(Value, frozen=True):
    """A manual check that a person confirmed for a tree."""

    check: str
    tree: str
    decision_id: str


class Merging(Value, frozen=True):
    """The finished work of a task that ran in parallel, while it is merged into the session."""

    task_id: str
    start: str  # the tree it started from
    tree: str
    status: Literal["implemented", "completed"]


class Laid(Value, frozen=True):
    """Work that could not be merged: the Coder gets it again, on top of the session's current tree."""

    tree: str
    said: str


class PipelineData(Grounded, frozen=True):
    """What is stored about one session, from request to release."""

    wants_research: bool = False  # by SpecAgent or a person
    wants_ui: bool = False
    clarified: bool = False  # the SpecAgent has asked its questions; it may do so once
    assumptions: tuple[str, ...] = ()  # assumptions that the specification lists
    criteria: tuple[Criterion, ...] = ()
    correction: Literal["none", "queued", "dispatched", "completed"] = "none"
    correction_note: str = ""
    keeps_plan: bool = False  # once the design is approved again, the work continues with the same tasks
    strategy: Literal["", "per-batch", "single-final"] = ""
    parallel: int = 1  # how many tasks may run at once
    ended: dict[str, int] = {}  # by task: how many of its child runs have ended
    merging: Merging | None = None
    laid: dict[str, Laid] = {}  # by task
    left_out: tuple[str, ...] = ()  # tasks that were done and are no longer planned; their work is still in the branch
    roles: tuple[str, ...] = ()  # roles that have run
    reviewed_tree: str = ""  # the tree that the last review covers
    checked_tree: str = ""  # the tree that the last green checks ran on
    last_ci_result: str = ""
    proofs: tuple[CommandProof, ...] = ()  # the result of each command of the last checks
    manual: tuple[Manual, ...] = ()
    fixing: str = ""  # what a person found wrong, until its fix is committed
    commit_subject: str = ""  # for the tree that just passed
    integrated: bool = False  # the Integrator has finished
    documented: bool = False  # Docs and the release files are finished
    report_notes: tuple[str, ...] = ()  # notes from Docs for the report


Session = Run[PipelineData]


# Derived from the data


def published_state(run: Session) -> str:
    """The state's name in the specification, which does not know the finer ones."""
    return "INTEGRATE" if run.state == "LANDING" and run.data.mode == "lean" else PUBLISHED.get(run.state, run.state)


def manual_open(data: PipelineData) -> str:
    """The first manual check that no person has confirmed for the current tree."""
    checks = (*(v for c in data.criteria for v in c.verify), *(c for t in data.tasks for c in t.acceptance_checks))
    held = {m.check for m in data.manual if m.tree == data.good_tree}
    return next((c for c in checks if c.startswith("manual:") and c not in held), "")


def reviewed(data: PipelineData) -> bool:
    return bool(data.good_tree) and data.reviewed_tree == data.good_tree


def all_done(data: PipelineData) -> bool:
    """Whether every task is completed and the current tree is reviewed."""
    return bool(data.tasks) and all(t.status == "completed" for t in data.tasks) and reviewed(data)


def unproven(run: Session) -> tuple[str, ...]:
    """What DONE still lacks: open tasks, unverified criteria, open decisions, unreviewed changes, roles that never ran."""
    data = run.data
    full = data.mode == "full"
    answered = {d.decision_id for d in data.decisions if d.status == "answered"}
    green = data.checked_tree == data.good_tree and bool(data.checked_tree)
    asked, check = pending(data), manual_open(data)
    return (
        *(f"{t.id} is {t.status}" for t in data.tasks if t.status != "completed"),
        *(("there are no tasks",) if not data.tasks else ()),
        *(("there are no acceptance criteria",) if not data.criteria else ()),
        *(() if green else (f"{c.id} is not verified for the current tree" for c in data.criteria)),
        *((f"{check} has not been confirmed by a person",) if check else ()),
        *((f"{asked.decision_id} is open",) if asked else ()),
        *(f"{id} is not decided" for id in (APPROVE, STRATEGY) if full and id not in answered),
        *(() if reviewed(data) else ("the last changes are not reviewed",)),
        *(f"{role} has not run" for role in CORE if full and role not in data.roles),
        *(("README and release files are not done",) if full and not data.documented else ()),
    )


def nothing_is_open(look: SubmitLook[PipelineData]) -> str | None:
    """Every task is complete, every criterion verified for this tree, every decision made, every change reviewed, every core role has run."""
    return "; ".join(unproven(look.run)) or None


def checks_are_of_this_tree(look: SubmitLook[PipelineData]) -> str | None:
    """The tree about to be committed is the one that the checks ran on."""
    return None if look.tree == look.sent.facts.get("tree") else "the tree changed while the checks ran; they must run again"


# Changes: documents and decisions


def role_ran(run: Session, sent: Sent, found: Found) -> Session:
    return replace(run, data=replace(run.data, roles=tuple(dict.fromkeys((*run.data.roles, ROLES[run.state])))))


def keep_spec(run: Session, sent: Sent, found: Found) -> Session:
    """Keep the criteria that the gate just read, and whether research or UI design is wanted; a wish is never taken back."""
    acceptance, _ = read_acceptance(found.documents.get(f"{run.data.session}/{ACCEPTANCE}", ""))
    reply = reply_of(run, sent)
    research, ui = (reply.next.research, reply.next.ui) if reply else (False, False)
    data = replace(run.data, wants_research=run.data.wants_research or research, wants_ui=run.data.wants_ui or ui)
    taken = listed_below(found.documents.get(f"{run.data.session}/{SPEC}", ""), "assum")
    return replace(run, data=replace(data, assumptions=taken, criteria=acceptance.acceptance_criteria if acceptance else ()))


def _files(run: Session, sent: Sent, folder: str) -> tuple[str, ...]:
    reply = reply_of(run, sent)
    return tuple(path for path in (reply.artifacts.files if reply else ()) if path.startswith(f"{run.data.session}/{folder}"))


def keep_research(run: Session, sent: Sent, found: Found) -> Session:
    return replace(run, data=replace(run.data, research=_files(run, sent, RESEARCH)))


def keep_records(run: Session, sent: Sent, found: Found) -> Session:
    """Keep the paths of all decision records (ADRs) that exist: those named now and those of earlier rounds."""
    known = dict.fromkeys((*run.data.records, *_files(run, sent, RECORDS)))
    return replace(run, data=replace(run.data, records=tuple(path for path in known if found.documents.get(path))))


def keep_design(run: Session, sent: Sent, found: Found) -> Session:
    return replace(run, data=replace(run.data, design_specs=_files(run, sent, SPECS)))


def keep_tasks(run: Session, sent: Sent, found: Found) -> Session:
    """Keep the tasks that the gate just read. A done task that is planned again word for word stays done."""
    listing, _ = read_tasks(found.documents.get(f"{run.data.session}/{TASKS}", ""))
    known = {replace(t, status="not-started"): t.status for t in run.data.tasks if t.status in DONE}
    bare = tuple(replace(t, status="not-started") for t in (listing.tasks if listing else ()))
    tasks = tuple(replace(t, status=known.get(t, "not-started")) for t in bare)
    project = listing.project if listing else run.data.project
    dropped = tuple(f"{t.id} {t.title}" for t in run.data.tasks if t.status in DONE and replace(t, status="not-started") not in bare)
    here = {f"{t.id} {t.title}" for t in tasks if t.status in DONE}
    left = tuple(name for name in dict.fromkeys((*run.data.left_out, *dropped)) if name not in here)
    data = replace(run.data, project=project, tasks=tasks, left_out=left, integrated=False, documented=False)
    return replace(run, data=data)


def ask_approval(run: Session, sent: Sent, found: Found) -> Session:
    """Ask for approval of the current design, bound to its content. Asking again completes a correction."""
    shown = {path: content_hash(found.documents.get(path, "")) for path in design_files(run.data)}
    words = "Do you approve the specification and the design, or what must change?"
    made = PersonDecision(APPROVE, "approval", words, ("approved", "changes-requested: TEXT"), "APPROVE_DESIGN", 0, shown=shown)
    before, wanted = _round_before(run, APPROVE), run.data.correction_note if run.data.correction != "none" else ""
    after = ask(run, replace(made, summary=design_summary(run.data, found.documents), before=before, wanted=wanted))
    return replace(after, data=replace(after.data, correction="none" if run.data.correction == "none" else "completed"))


def _round_before(run: Session, id: str) -> int:
    """The sequence number of the event that asked this question before; 0 if it was never asked."""
    return next((d.asked for d in run.data.decisions if d.decision_id == id), 0)


def begun_again(run: Session) -> Session:
    """A session that starts from a rollback: it keeps all its decisions, numbered as if made at its first event."""
    known = tuple(replace(d, asked=1, before=0, resolved=1 if d.resolved else 0) for d in run.data.decisions)
    return replace(run, data=replace(run.data, decisions=known))


def request_changes(run: Session, sent: Sent, found: Found) -> Session:
    """Queue the correction; its words go into the briefing of every role that runs again."""
    after = resolve(run, sent, found)
    words = "\n".join(filter(None, (sent.value.partition(":")[2].strip(), sent.note)))
    research, ui = run.data.wants_research or sent.to == "research", run.data.wants_ui or sent.to == "design"
    data = replace(after.data, correction="queued", correction_note=words, wants_research=research, wants_ui=ui, keeps_plan=False)
    return replace(after, data=data, guidance="")


def approve(run: Session, sent: Sent, found: Found) -> Session:
    after = resolve(run, sent, found)
    return replace(after, data=replace(after.data, correction_note="", keeps_plan=False), guidance="")


def keep_prepared(run: Session, sent: Sent, found: Found) -> Session:
    """Keep the role's input, and mark a queued correction as dispatched, once."""
    after = keep_input(run, sent, found)
    return replace(after, data=replace(after.data, correction="dispatched")) if run.data.correction == "queued" else after


def ask_strategy(run: Session, sent: Sent, found: Found) -> Session:
    """Ask for the review strategy, with a recommendation, bound to the planned tasks."""
    which, why = recommended(run.data.tasks)
    count = len(run.data.tasks)
    words = (
        f"{count} task{' is' if count == 1 else 's are'} planned. How should the work be reviewed? Recommended: `{which}`, because {why}."
    )
    shown = {f"{run.data.session}/{TASKS}": content_hash(msgspec.json.encode(run.data.tasks).decode())}
    old = next((d for d in run.data.decisions if d.decision_id == STRATEGY), None)
    wanted = (
        " ".join((old.answer.partition(":")[2].strip(), old.note)).strip() if old and old.answer.startswith("changes-requested") else ""
    )
    takes = (*sorted(("per-batch", "single-final"), key=lambda name: name != which), "changes-requested: TEXT")
    made = PersonDecision(
        STRATEGY, "strategy", words, takes, "REVIEW_STRATEGY", 0, shown=shown, before=old.asked if old else 0, wanted=wanted
    )
    return ask(run, made)


def choose(run: Session, sent: Sent, found: Found) -> Session:
    """Keep the chosen review strategy."""
    chosen: Literal["per-batch", "single-final"] = "single-final" if meant(pending(run.data), sent.value) == "single-final" else "per-batch"
    after = resolve(run, sent, found)
    return replace(after, data=replace(after.data, strategy=chosen), guidance="")


def to_full(run: Session, sent: Sent, found: Found) -> Session:
    """End lean mode: everything is specified, designed and planned again."""
    data = replace(run.data, mode="full", tasks=(), criteria=(), strategy="", reviewed_tree="", checked_tree="", manual=())
    return replace(run, data=data, guidance=run.guidance or sent.facts.get("reason", ""))


def keep_reason(run: Session, sent: Sent, found: Found) -> Session:
    """Keep why a person reduced the scope, for the Planner."""
    return replace(run, guidance=sent.facts.get("reason", "") or run.guidance)


# Changes: integration


def keep_tree(run: Session, sent: Sent, found: Found) -> Session:
    """Keep the tree that the role left; earlier reviews and checks do not cover it."""
    return replace(run, data=replace(run.data, good_tree=found.tree or run.data.good_tree))


def part_done(run: Session, sent: Sent, found: Found) -> Session:
    """Keep that the Integrator has integrated, or has finished the release files."""
    data, at = run.data, run.state
    return replace(
        run, data=replace(data, integrated=data.integrated or at == "INTEGRATE", documented=data.documented or at == "RELEASE_FILES")
    )


def keep_docs(run: Session, sent: Sent, found: Found) -> Session:
    reply = reply_of(run, sent)
    return replace(run, data=replace(run.data, report_notes=(reply.summary, *reply.artifacts.notes) if reply else ()))


def keep_ci(run: Session, sent: Sent, found: Found) -> Session:
    """Keep the result of the checks and the tree they ran on."""
    tree, green = sent.facts.get("tree", ""), sent.outcome == "green"
    data = replace(
        run.data, last_ci_result=f"{sent.outcome} at {tree[:12]}", good_tree=tree if green else run.data.good_tree, proofs=_proofs(sent)
    )
    if green:
        default = "release: documentation and release files" if data.documented else "integrate: the tasks as one build"
        subject = f"fix: {' '.join(data.fixing.split())[:60]}" if data.fixing else default
        data = replace(data, checked_tree=tree, fixing="", commit_subject=subject)
    return replace(run, data=data, last_error="" if green else sent.output)


def _proofs(sent: Sent) -> tuple[CommandProof, ...]:
    try:
        return msgspec.json.decode(sent.facts.get("checks", "[]"), type=tuple[CommandProof, ...])
    except msgspec.DecodeError:
        return ()


def ask_manual(run: Session, sent: Sent, found: Found) -> Session:
    """Ask a person about the first open manual check."""
    return question(run, "manual", manual_open(run.data))


def keep_manual(run: Session, sent: Sent, found: Found) -> Session:
    """Keep a person's confirmation of a manual check for the current tree."""
    asked = pending(run.data)
    if asked is None:
        return run
    word = Manual(asked.question, run.data.good_tree, asked.decision_id)
    return replace(run, data=replace(run.data, manual=(*run.data.manual, word)))


def keep_failed_manual(run: Session, sent: Sent, found: Found) -> Session:
    """Keep what a person found wrong in a manual check, as what is to be fixed."""
    asked = pending(run.data)
    after, failed = resolve(run, sent, found), asked.question.removeprefix("manual:").strip() if asked else ""
    return replace(
        after,
        data=replace(after.data, fixing=failed),
        last_error=f"A person found that this does not hold: {asked.question if asked else ''} {sent.note}".strip(),
    )


def keep_open(run: Session, sent: Sent, found: Found) -> Session:
    return replace(run, last_error="\n".join(unproven(run)))
