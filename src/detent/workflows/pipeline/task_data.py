"""What a run of `task` stores about itself, the pure changes to it, and the documents each role of a session reads. Knows no git and no rows."""

from collections.abc import Mapping
from typing import Literal, TypeVar

import msgspec

from detent.evidence.look import SubmitLook
from detent.gates.documents import ACCEPTANCE, ARCHITECTURE, RECORDS, RESEARCH, SPEC, SPECS, TASKS, ChangedFile, KnownIssue, TaskEntry
from detent.gates.human import DecisionData, pending, waived
from detent.gates.reply import ReviewPoint, RoleReply, effective_status, left_open, points, read_reply
from detent.kernel.model import Found, Run, Sent, StepShown
from detent.workflows.pipeline.session import LONGEST_NOTE, MOST_NOTES, Aside, Grounded, answered_decisions

replace = msgspec.structs.replace

META = "meta"
DD = TypeVar("DD", bound=DecisionData)
GD = TypeVar("GD", bound=Grounded)
ROLES: Mapping[str, str] = {  # which role acts in which state, of a session and of its tasks
    "INTAKE": "SpecAgent",
    "INTAKE_LEAN": "SpecAgent",
    "FIX_ACCEPTANCE": "SpecAgent",
    "DESIGN_RESEARCH": "Researcher",
    "DESIGN": "Architect",
    "DESIGN_UI": "Designer",
    "PLAN": "Planner",
    "INTEGRATE": "Integrator",
    "FIX_BUILD": "Integrator",
    "FIX_BUILD_CODE": "Coder",
    "RELEASE": "Docs",
    "RELEASE_FILES": "Integrator",
    "CODE": "Coder",
    "REVIEW": "Reviewer",
    "QA": "QA",
    "SECURITY": "Security",
    "FIX_REVIEW": "Coder",
    "FIX_TESTS": "Coder",
    "FIX_SECURITY": "Coder",
}

CODING = (SPEC, TASKS, ARCHITECTURE, RECORDS, SPECS)
OWN: Mapping[str, tuple[str, ...]] = {  # what a role wrote itself, to read when it runs again
    "SpecAgent": (SPEC, ACCEPTANCE),
    "Researcher": (RESEARCH,),
    "Architect": (ARCHITECTURE, RECORDS),
    "Designer": (SPECS,),
    "Planner": (TASKS,),
}
READS: Mapping[str, tuple[str, ...]] = {  # what each role reads; a folder stands for the files that were named in it
    "SpecAgent": (),
    "Researcher": (SPEC, ACCEPTANCE),
    "Architect": (SPEC, ACCEPTANCE, RESEARCH),
    "Designer": (SPEC, ACCEPTANCE, ARCHITECTURE),
    "Planner": (SPEC, ACCEPTANCE, ARCHITECTURE, RECORDS, RESEARCH, SPECS),
    "Coder": CODING,
    "Reviewer": CODING,
    "QA": (SPEC, ACCEPTANCE, TASKS, SPECS),
    "Security": (TASKS, ARCHITECTURE, RECORDS, SPEC),
    "Integrator": (TASKS, ACCEPTANCE),
    "Docs": (SPEC, ACCEPTANCE, ARCHITECTURE, RECORDS, TASKS, RESEARCH, SPECS),
}
DIFFS = "diffs/"
JUDGING = ("Reviewer", "QA", "Security")  # they get the diff of what they judge
CALM_TYPES = ("docs", "documentation", "chore")  # task types that change no behaviour, so QA has nothing to test


class TaskData(Grounded, frozen=True):
    """What is stored about one task, or about the final review of all tasks (`meta`)."""

    task: TaskEntry | None = None
    goal: str = ""
    strategy: Literal["per-batch", "single-final"] = "per-batch"
    qa: bool = True  # QA must pass it
    security: bool = True  # Security must pass it
    points: tuple[ReviewPoint, ...] = ()  # what a reviewing role found last
    reviewed_tree: str = ""  # the tree that each verdict was given for
    tested_tree: str = ""
    secured_tree: str = ""
    roles: tuple[str, ...] = ()  # roles that have worked on it
    start_tree: str = ""  # the tree it started from, if it has a workspace of its own
    laid: str = ""  # earlier work that could not be merged, merged again into its workspace on top of the session's tree

    @property
    def only_code(self) -> bool:
        """Whether the task ends once it is coded and proved; `meta` reviews it later."""
        return self.strategy == "single-final" and self.task_id != META and self.mode == "full"


# Derived from the data


def needs_qa(task: TaskEntry) -> bool:
    """Whether QA must run by the task's type. What the task really changes can only add to it."""
    return task.type.lower() not in CALM_TYPES


def needs_security(task: TaskEntry) -> bool:
    """Whether Security must run by the flagged risks. What the task really changes can only add to it."""
    return bool(task.risk_flags)


def reply_of(run: Run[DD], sent: Sent) -> RoleReply | None:
    """The reply that an event rests on: the one just submitted, or the one that a person accepted."""
    return read_reply(sent.reply, ROLES.get(run.state, ""))[0] if sent.reply else run.data.accepted


def verdict_of(run: Run[TaskData], reply: RoleReply) -> str:
    return effective_status(reply, waived(run.data))


def changed_of(sent: Sent, name: str = "changed_files") -> tuple[ChangedFile, ...] | None:
    """The files that the session changed, as a job or a task listed them."""
    try:
        return msgspec.json.decode(sent.facts.get(name, ""), type=tuple[ChangedFile, ...])
    except msgspec.DecodeError:
        return None


def is_prepared(run: Run[DD]) -> bool:
    """Whether the dispatch of the acting role is prepared; any later event makes it lapse."""
    return run.data.prepared == run.seq


def unproven(run: Run[TaskData]) -> tuple[str, ...]:
    """What the task still lacks: verdicts on the current tree, and answers."""
    data = run.data
    asked = pending(data)
    wanted = {
        "review": data.reviewed_tree,
        "QA": data.tested_tree if data.qa else None,
        "security": data.secured_tree if data.security else None,
    }
    lacking = (
        ()
        if data.only_code
        else tuple(f"{data.task_id}: no {name} of the tree" for name, tree in wanted.items() if tree not in (None, data.good_tree))
    )
    return (
        *((f"{data.task_id}: nothing is proved",) if not data.good_tree else ()),
        *lacking,
        *((f"{asked.decision_id} is open",) if asked else ()),
    )


# Changes


def keep_prepared(run: Run[GD], sent: Sent, found: Found) -> Run[GD]:
    """Keep the input of the dispatch: the files changed so far, the project's own instructions, and people's messages to this role."""
    changed = changed_of(sent)
    files = tuple(name for name in sent.facts.get("instructions", "").split("\n") if name)
    data = replace(run.data, prepared=run.seq + 1, instructions=files, changed_files=run.data.changed_files if changed is None else changed)
    mine = tuple(aside for aside in data.asides if aside.role == ROLES.get(run.state))
    data = replace(data, good_tree=data.good_tree or sent.facts.get("tree", ""), asides=tuple(a for a in data.asides if a not in mine))
    return replace(run, data=data, steers=(*run.steers, *(aside.text for aside in mine)))


def role_of(name: str) -> str:
    """The role of this name in any case; empty if there is none."""
    return next((role for role in ROLES.values() if role.lower() == name.strip().lower()), "")


def role_is_known(look: SubmitLook[Grounded]) -> str | None:
    """Words for a role name a role of the session."""
    known = ", ".join(dict.fromkeys(ROLES.values()))
    return None if role_of(look.sent.to) else f"there is no role '{look.sent.to}'; the roles of a session are {known}"


def keep_aside(run: Run[GD], sent: Sent, found: Found) -> Run[GD]:
    return replace(run, data=replace(run.data, asides=(*run.data.asides, Aside(role_of(sent.to), sent.note))))


def keep_touched(run: Run[TaskData], sent: Sent, found: Found) -> Run[TaskData]:
    """Keep who must judge, by what was really changed: QA for anything but documents, Security for anything but documents and tests."""
    sorts = set(sent.facts.get("touched", "").split())
    data = replace(run.data, qa=run.data.qa or bool(sorts - {"docs"}), security=run.data.security or bool(sorts - {"docs", "tests"}))
    return keep_prepared(replace(run, data=data), sent, found)


def keep_fault(run: Run[DD], sent: Sent, found: Found) -> Run[DD]:
    """Keep why the dispatch failed: a failed proof with its output, an unreadable reply, or the role's own FAIL."""
    reply, fault = read_reply(sent.reply, ROLES.get(run.state, ""))
    failures = "\n".join((*found.failed, found.output)).strip() if found.failed else ""
    reason = sent.output or (f"{reply.status}: {reply.summary} {reply.next.reason}".strip() if reply else fault)
    return replace(run, last_error=failures or reason)


def keep_size(run: Run[TaskData], sent: Sent, found: Found) -> Run[TaskData]:
    """Keep why a lean task becomes a full one."""
    count = len(changed_of(sent) or ())
    return (
        replace(run, last_error=f"The change touches {count} files, too many for the lean way.") if count else keep_fault(run, sent, found)
    )


def keep_coded(run: Run[TaskData], sent: Sent, found: Found) -> Run[TaskData]:
    """Keep the proved tree; every verdict on an older one lapses. A Coder can ask for more scrutiny, never for less."""
    reply = reply_of(run, sent)
    more = replace(
        run.data,
        good_tree=found.tree,
        reviewed_tree="",
        tested_tree="",
        secured_tree="",
        points=(),
        qa=run.data.qa or bool(reply and reply.gates.needs_tests),
        security=run.data.security or bool(reply and reply.gates.security_concerns),
    )
    return _ran(replace(run, data=more), "Coder")


def keep_review(run: Run[TaskData], sent: Sent, found: Found) -> Run[TaskData]:
    """Keep that the Reviewer passed the tree. If the Reviewer has a security concern, Security must look."""
    reply = reply_of(run, sent)
    worried = bool(reply and reply.gates.security_concerns)
    data = replace(run.data, reviewed_tree=found.tree, points=(), security=run.data.security or worried)
    return _ran(replace(run, data=data), "Reviewer")


def keep_tests(run: Run[TaskData], sent: Sent, found: Found) -> Run[TaskData]:
    return _ran(replace(run, data=replace(run.data, tested_tree=found.tree, points=())), "QA")


def keep_new_tests(run: Run[TaskData], sent: Sent, found: Found) -> Run[TaskData]:
    """Keep the tree with QA's new, passing tests; it must be reviewed again."""
    return _ran(replace(run, data=replace(run.data, good_tree=found.tree, reviewed_tree="", points=())), "QA")


def keep_security(run: Run[TaskData], sent: Sent, found: Found) -> Run[TaskData]:
    return _ran(replace(run, data=replace(run.data, secured_tree=found.tree, points=())), "Security")


def _ran(run: Run[TaskData], role: str) -> Run[TaskData]:
    return replace(run, data=replace(run.data, roles=tuple(dict.fromkeys((*run.data.roles, role)))))


def keep_notes(run: Run[GD], sent: Sent, found: Found) -> Run[GD]:
    """Keep the notes of the role's reply in place of its earlier ones, without those that a person accepted as known issues."""
    reply, role = reply_of(run, sent), ROLES.get(run.state, "")
    known = {issue.text for issue in run.data.known_issues}
    new = tuple(note[:LONGEST_NOTE] for note in left_open(reply) if note not in known)[:MOST_NOTES] if reply else ()
    return replace(run, data=replace(run.data, notes={**run.data.notes, f"{run.data.task_id} {role}".strip(): new}))


def keep_points(run: Run[TaskData], sent: Sent, found: Found) -> Run[TaskData]:
    """Keep the findings of a reviewing role for the Coder, without those that a person waived."""
    reply = reply_of(run, sent)
    left = tuple(p for p in points(reply) if p.id not in waived(run.data)) if reply else ()
    return _ran(replace(run, data=replace(run.data, points=left), last_error=findings_lines(left)), ROLES.get(run.state, ""))


def findings_lines(found: tuple[ReviewPoint, ...]) -> str:
    """The findings of a reviewing role, one line each."""
    return "\n".join(f"- [{p.id}] {p.text}" for p in found)


def keep_noted(run: Run[TaskData], sent: Sent, found: Found) -> Run[TaskData]:
    """Keep the notes that a person wants fixed: those named in the answer, else all. The others become known issues."""
    asked = pending(run.data)
    every = asked.points if asked else ()
    named = tuple(p for p in every if p.id in sent.note) or every
    known = {issue.finding for issue in run.data.known_issues}
    left = tuple(KnownIssue(p.id, p.text, run.data.task_id) for p in every if p not in named and p.id not in known)
    return replace(run, data=replace(run.data, points=named, known_issues=(*run.data.known_issues, *left)))


# For the briefings


def context_files(data: DecisionData, role: str) -> tuple[str, ...]:
    """The documents that a role must have; a missing one blocks the run. A lean session has no architecture."""
    named = {RESEARCH: data.research, RECORDS: data.records, SPECS: data.design_specs}
    lacking = (ARCHITECTURE,) if data.mode == "lean" else ()
    task = data.task if isinstance(data, TaskData) else None
    diff = (diff_file(data.session, data.task_id),) if isinstance(data, TaskData) and role in JUDGING else ()
    ran = getattr(data, "roles", ())
    also = (*(OWN.get(role, ()) if role in ran else ()), *((ARCHITECTURE,) if role == "Researcher" and "Architect" in ran else ()))
    own = tuple(
        path for name in (*READS.get(role, ()), *also) if name not in lacking for path in named.get(name, (f"{data.session}/{name}",))
    )
    return tuple(dict.fromkeys((*diff, *own, *(task.context_files if task else ()))))


def diff_file(session: str, task: str) -> str:
    """The path of the diff that the machine writes for those who judge a task."""
    return f"{session}/{DIFFS}{task}.diff"


def list_points(lines: tuple[str, ...]) -> str:
    return "\n".join(f"- {line}" for line in lines) or "- none"


def result(run: Run[TaskData]) -> dict[str, str]:
    """What an ended task reports to its session."""
    return {
        "tree": run.data.good_tree,
        "roles": ",".join(run.data.roles),
        "issues": msgspec.json.encode(run.data.known_issues).decode(),
        "session_files": msgspec.json.encode(run.data.changed_files).decode(),
        "reason": run.guidance or run.last_error,
        "notes": msgspec.json.encode({name: note for name, note in run.data.notes.items() if note}).decode(),
        "start": run.data.start_tree,
        "asides": msgspec.json.encode(run.data.asides).decode(),
        "instructed": "\n".join(run.data.instructed),
        "decisions": msgspec.json.encode(answered_decisions(run.data)).decode(),
    }


def step_shown(run: Run[TaskData]) -> StepShown | None:
    return StepShown(run.data.task_id, 0, run.state, run.data.task.goal if run.data.task else run.data.goal)
