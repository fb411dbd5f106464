"""The `pipeline` workflow: one session from a request to a release, each role a dispatch of its own. The table is the specification.

Tasks and final reviews are children with a table of their own (`task`). DONE is computed from what is recorded, never claimed.
"""

from detent.effects.apart import commit_merged, merge_task
from detent.effects.owed import commit_judged_tree, leave_workspace, publish, stop_children, undo_strays
from detent.effects.pipeline import append_design_history, land, prepare_dispatch, run_checks, write_report
from detent.gates.documents import (
    acceptance_is_sound,
    architecture_is_sound,
    design_is_complete,
    one_task_only,
    short_spec_is_sound,
    spec_is_sound,
    tasks_are_sound,
)
from detent.gates.human import (
    MISSING,
    accept,
    answers_the_question,
    as_shown,
    ask_anew,
    cancel,
    cancelled_on_purpose,
    design_as_approved,
    event_of,
    forget,
    keep_invalid,
    pending,
    reopen,
    reopened,
    resolve,
    unanswered,
)
from detent.gates.keys import no_keys_added
from detent.gates.reply import BUILD as BUILD_NAMES
from detent.gates.reply import (
    Reply,
    amounts_to,
    design_spec_is_there,
    read_reply,
    readme_or_reason,
    research_is_there,
    wrote_nothing,
    wrote_only_build_files,
    wrote_only_docs,
)
from detent.gates.tests import collected_not_shrunk, skips_not_risen
from detent.kernel.model import Run, Sent
from detent.kernel.rows import BACK, STAY, Because, Go, Move, Row, State, by_human, by_system, each, go
from detent.kernel.table import Table
from detent.workflows.common import DRIVEN, ERRORS, PEOPLE, because, clear_error, count, keep_error, keep_guidance, park, people, zero
from detent.workflows.pipeline_children import children
from detent.workflows.pipeline_data import (
    PipelineData,
    all_done,
    approve,
    ask_approval,
    ask_manual,
    ask_strategy,
    checks_are_of_this_tree,
    choose,
    facts,
    keep_ci,
    keep_design,
    keep_docs,
    keep_failed_manual,
    keep_manual,
    keep_open,
    keep_prepared,
    keep_reason,
    keep_research,
    keep_spec,
    keep_tasks,
    keep_tree,
    manual_open,
    nothing_is_open,
    part_done,
    request_changes,
    reviewed,
    role_ran,
    to_full,
    unproven,
)
from detent.workflows.pipeline_tasks import (
    all_stopped,
    begin_merge,
    final_review_passed,
    merge_failed,
    task_completed,
    task_implemented,
    task_merged,
    task_of,
    task_stopped,
)
from detent.workflows.task_data import META, ROLES, ask_after_failure, ask_notes, ask_question, keep_fault

BUILD_FILES = tuple(f"{name}*" if name.endswith("/*") else f"**/{name}" for name in BUILD_NAMES)  # what the gate takes, as patterns


def _role(state: str, *writes: str) -> State:
    return State("agent", ROLES[state], writes, job=prepare_dispatch)


STATES = {
    "INTAKE": _role("INTAKE", "$session/spec.md", "$session/acceptance.json"),
    "INTAKE_LEAN": _role("INTAKE_LEAN", "$session/spec.md", "$session/acceptance.json", "$session/tasks.yaml"),
    "DESIGN_RESEARCH": _role("DESIGN_RESEARCH", "$session/research/**"),
    "DESIGN": _role("DESIGN", "$session/architecture.md", "$session/adr/**"),
    "DESIGN_UI": _role("DESIGN_UI", "$session/design-specs/**"),
    "APPROVE_DESIGN": State("human"),
    "PLAN": _role("PLAN", "$session/tasks.yaml"),
    "REVIEW_STRATEGY": State("human"),
    "IMPLEMENT_LOOP": State("system", children=True),
    "MERGING": State("system", job=merge_task),
    "INTEGRATE": _role("INTEGRATE", *BUILD_FILES),
    "INTEGRATE_CHECKS": State("system", job=run_checks),
    "INTEGRATED": State("system"),
    "FIX_BUILD": _role("FIX_BUILD", *BUILD_FILES),
    "FIX_BUILD_CODE": _role("FIX_BUILD_CODE", "**"),
    "RELEASE": _role("RELEASE", "README*", "docs/**", "CHANGELOG*"),
    "RELEASE_FILES": _role("RELEASE_FILES", *BUILD_FILES),
    "LANDING": State("human", job=land),
    "ASK_USER": State("human"),
    "BLOCKED": State("human"),
    "DONE": State("none", end="proved"),
    "ABORTED": State("none", end="stopped"),
}
ACTING = tuple(name for name, state in STATES.items() if state.actor == "agent")
GATES = ("APPROVE_DESIGN", "REVIEW_STRATEGY")

HAND_IN = "call submit_work with summary and reply, where reply is the one JSON object that the briefing describes"
ANSWER = "detent answer ID VALUE [--note TEXT], or detent answer ID --cancel REASON; the briefing names the ID and the values"
REPLY = Move(("agent",), "submit_work", HAND_IN)
WORK = Move(("agent", "system"), "submit_work", HAND_IN)  # by the role, or by the machine once a person has accepted its notes
ANSWERED = by_human("answer", ANSWER)
CHANGES = by_human("answer", "detent answer UD-APPROVE-DESIGN 'changes-requested: TEXT' [--to spec|architecture|design]")
STRATEGIES = by_human("answer", "detent answer UD-REVIEW-STRATEGY per-batch, or detent answer UD-REVIEW-STRATEGY single-final")

MOVES: dict[str, Move] = {
    **dict.fromkeys(
        ("specified", "specified-research", "specified-lean", "researched", "designed", "designed-ui", "drawn", "planned"), WORK
    ),
    **dict.fromkeys(("integrated", "fixed", "released", "packed"), WORK),
    **dict.fromkeys(("asks", "notes", "failed", "no-reply"), REPLY),
    "approved": by_human(
        "answer", "detent answer UD-APPROVE-DESIGN approved, or detent answer UD-APPROVE-DESIGN 'changes-requested: TEXT' [--to ROLE]"
    ),
    **dict.fromkeys(("correct-spec", "correct-architecture", "correct-design"), CHANGES),
    **dict.fromkeys(("per-batch", "single-final"), STRATEGIES),
    **dict.fromkeys(
        ("answered", "accept", "fix", "again", "simplify", "simplify-lean", "manual-passed", "manual-failed", "invalid", "cancelled"),
        ANSWERED,
    ),
    **{
        f"task-{end}": by_system(f"a task is {end}")
        for end in ("completed", "implemented", "rescoped", "rescoped-lean", "escalated", "aborted")
    },
    "task-apart": by_system("a task that worked apart is done, and is merged now"),
    "merged": by_system("the merged tree passes"),
    "merge-conflict": by_system("the work conflicts with what was merged before it"),
    "merge-red": by_system("the merged tree does not pass"),
    "task-unproved": by_system("a task ended and does not say at which tree"),
    "final-review-passed": by_system("the review of all changes passed"),
    "old-child": by_system("a child of an earlier round has ended"),
    "all-done": by_system("every task is complete and the tree is reviewed"),
    "all-done-again": by_system("every task is complete and the tree is reviewed; the Integrator has done its part, or has none"),
    "green": by_system("preflight, checks and acceptance commands pass"),
    "red": by_system("preflight, a check or an acceptance command fails"),
    "red-again": by_system("it still fails, or there is no Integrator to ask"),
    "unreviewed": by_system("the tree changed since it was reviewed"),
    "to-release": by_system("everything passes and is reviewed"),
    "manual-open": by_system("a manual check needs a person's word"),
    "open-ends": by_system("something is not proved"),
    "finished": by_system("everything is proved"),
    "landed": by_system("the branch has landed"),
    "conflict": by_system("the branch conflicts with main"),
    "red-merge": by_system("the merged tree does not pass"),
    "prepared": by_system("the role's input is complete"),
    "context-missing": by_system("a document that the role must read is not there"),
    "resume": by_human("resume", "detent resume [--guidance TEXT]"),
    "ask-again": by_human("resume", "detent resume"),
    **DRIVEN,
    **PEOPLE,
}

SPEC = (wrote_nothing, spec_is_sound, acceptance_is_sound)  # nothing of the project: the documents lie outside the tree
LEAN = (wrote_nothing, short_spec_is_sound, acceptance_is_sound, tasks_are_sound, one_task_only)
RESEARCHED = (wrote_nothing, research_is_there)
DESIGNED_BY = (wrote_nothing, architecture_is_sound)
DRAWN = (wrote_nothing, design_spec_is_there, design_is_complete)
PLANNED = (wrote_nothing, tasks_are_sound)
BUILD = (no_keys_added, wrote_only_build_files, collected_not_shrunk, skips_not_risen)
KEPT = (no_keys_added, collected_not_shrunk, skips_not_risen)
OURS = (answers_the_question,)

OK = (role_ran, zero("dispatch"), forget, clear_error)
NO_AGENT: Go[PipelineData] = go("BLOCKED", because("subagent_failure"), keep_fault, forget, says="HALTED")
RETRY: Go[PipelineData] = go(STAY, count("dispatch"), keep_fault, forget, says="FAILURE", spent=NO_AGENT)
NO_AGENT_UNDONE: Go[PipelineData] = go("BLOCKED", because("subagent_failure"), keep_fault, forget, says="HALTED", owes=(undo_strays,))
REDO: Go[PipelineData] = go(STAY, count("dispatch"), keep_fault, forget, says="FAILURE", spent=NO_AGENT_UNDONE, owes=(undo_strays,))
UNANSWERED: Go[PipelineData] = go("BLOCKED", because(MISSING), says="HALTED")  # at a gate: back to the gate
STILL_OPEN: Go[PipelineData] = go("BLOCKED", unanswered, says="HALTED")  # at ASK_USER: the state it returns to is kept
LAPSED = go("APPROVE_DESIGN", ask_approval, keep_error, says="FAILURE")
DESIGNED = (*OK, ask_approval)
CHECKS = go("INTEGRATE_CHECKS", keep_tree, *OK)
STUCK: Go[PipelineData] = go("ASK_USER", Because("retry_budget", "FIX_BUILD_CODE"), keep_fault, ask_after_failure, says="FAILURE")
BROKE = go("FIX_BUILD_CODE", count("FIX_BUILD"), zero("dispatch"), keep_fault, forget, says="FAILURE", spent=STUCK)
STUCK_CI = go("ASK_USER", Because("retry_budget", "FIX_BUILD_CODE"), keep_ci, ask_after_failure, says="FAILURE")
RED = go("FIX_BUILD", keep_ci, count("FIX_BUILD"), says="FAILURE", spent=STUCK_CI)
RED_AGAIN = go("FIX_BUILD_CODE", keep_ci, count("FIX_BUILD"), says="FAILURE", spent=STUCK_CI)
STUCK_MANUAL = go("ASK_USER", keep_failed_manual, Because("retry_budget", "FIX_BUILD_CODE"), ask_after_failure, says="FAILURE")
NOT_HELD = go("FIX_BUILD_CODE", keep_failed_manual, count("FIX_BUILD"), zero("answers"), spent=STUCK_MANUAL)
ANEW: Go[PipelineData] = go(STAY, ask_anew, keep_error, says="FAILURE")
GREEN = go("INTEGRATED", keep_ci, zero("FIX_BUILD"), clear_error, owes=(commit_judged_tree,))
MOVED: Go[PipelineData] = go("BLOCKED", because("tree_moved"), keep_error, says="HALTED")
UNMERGED = go(
    "IMPLEMENT_LOOP", merge_failed, count("merge"), says="FAILURE", spent=go("BLOCKED", because("conflict"), keep_error, says="HALTED")
)
FROM_START = (zero("FIX_BUILD", "dispatch", "answers"), to_full)


def _correct(to: str) -> Go[PipelineData]:
    return go(to, request_changes, zero("answers"), owes=(append_design_history,))


ROWS: tuple[Row[PipelineData], ...] = (
    #   at                  on                      ask    prove                                        to                                                     failed proof
    Row("INTAKE",           "specified",            (),    SPEC,                                        go("DESIGN", keep_spec, *OK),                          REDO),
    Row("INTAKE",           "specified-research",   (),    SPEC,                                        go("DESIGN_RESEARCH", keep_spec, *OK),                 REDO),
    Row("INTAKE_LEAN",      "specified-lean",       (),    LEAN,                                        go("IMPLEMENT_LOOP", keep_spec, keep_tasks, *OK),      REDO),
    Row("DESIGN_RESEARCH",  "researched",           (),    RESEARCHED,                                  go("DESIGN", keep_research, *OK),                      REDO),
    Row("DESIGN",           "designed",             (),    (*DESIGNED_BY, design_is_complete),          go("APPROVE_DESIGN", *DESIGNED),                       REDO),
    Row("DESIGN",           "designed-ui",          (),    DESIGNED_BY,                                 go("DESIGN_UI", *OK),                                  REDO),
    Row("DESIGN_UI",        "drawn",                (),    DRAWN,                                       go("APPROVE_DESIGN", keep_design, *DESIGNED),          REDO),
    Row("APPROVE_DESIGN",   "approved",             OURS,  (as_shown,),                                 go("PLAN", approve, zero("answers")),                  ANEW),
    Row("APPROVE_DESIGN",   "correct-spec",         OURS,  (),                                          _correct("INTAKE")),
    Row("APPROVE_DESIGN",   "correct-architecture", OURS,  (),                                          _correct("DESIGN")),
    Row("APPROVE_DESIGN",   "correct-design",       OURS,  (),                                          _correct("DESIGN_UI")),
    Row("PLAN",             "planned",              (),    PLANNED,                                     go("REVIEW_STRATEGY", keep_tasks, *OK, ask_strategy),  REDO),
    Row("REVIEW_STRATEGY",  "per-batch",            OURS,  (design_as_approved,),                       go("IMPLEMENT_LOOP", choose, zero("answers")),         LAPSED),
    Row("REVIEW_STRATEGY",  "single-final",         OURS,  (design_as_approved,),                       go("IMPLEMENT_LOOP", choose, zero("answers")),         LAPSED),
    Row("IMPLEMENT_LOOP",   "task-completed",       (),    (),                                          go(STAY, task_completed)),
    Row("IMPLEMENT_LOOP",   "task-implemented",     (),    (),                                          go(STAY, task_implemented)),
    Row("IMPLEMENT_LOOP",   "task-rescoped",        (),    (),                                          go("PLAN", all_stopped, keep_reason, owes=(stop_children,))),
    Row("IMPLEMENT_LOOP",   "task-rescoped-lean",   (),    (),                                          go("INTAKE", all_stopped, *FROM_START, owes=(stop_children,))),
    Row("IMPLEMENT_LOOP",   "task-escalated",       (),    (),                                          go("INTAKE", all_stopped, *FROM_START, owes=(stop_children,))),
    Row("IMPLEMENT_LOOP",   "task-aborted",         (),    (),                                          go("BLOCKED", because("task_aborted"), task_stopped, says="HALTED")),
    Row("IMPLEMENT_LOOP",   "task-apart",           (),    (),                                          go("MERGING", begin_merge)),
    Row("MERGING",          "merged",               (),    (),                                          go("IMPLEMENT_LOOP", task_merged, zero("merge"), owes=(commit_merged,))),
    Row("MERGING",          "merge-conflict",       (),    (),                                          UNMERGED),
    Row("MERGING",          "merge-red",            (),    (),                                          UNMERGED),
    Row("IMPLEMENT_LOOP",   "task-unproved",        (),    (),                                          go("BLOCKED", because("task_unproved"), task_stopped, says="HALTED")),
    Row("IMPLEMENT_LOOP",   "final-review-passed",  (),    (),                                          go(STAY, final_review_passed)),
    Row("IMPLEMENT_LOOP",   "old-child",            (),    (),                                          go(STAY)),
    Row("IMPLEMENT_LOOP",   "all-done",             (),    (),                                          go("INTEGRATE")),
    Row("IMPLEMENT_LOOP",   "all-done-again",       (),    (),                                          go("INTEGRATE_CHECKS")),
    Row("INTEGRATE",        "integrated",           (),    BUILD,                                       go("INTEGRATE_CHECKS", part_done, keep_tree, *OK),     REDO),
    Row("INTEGRATE_CHECKS", "green",                (),    (checks_are_of_this_tree,),                  GREEN,                                                 MOVED),
    Row("INTEGRATE_CHECKS", "red",                  (),    (),                                          RED),
    Row("INTEGRATE_CHECKS", "red-again",            (),    (),                                          RED_AGAIN),
    Row("FIX_BUILD",        "fixed",                (),    BUILD,                                       CHECKS,                                                BROKE),
    Row("FIX_BUILD_CODE",   "fixed",                (),    KEPT,                                        CHECKS,                                                BROKE),
    Row("INTEGRATED",       "unreviewed",           (),    (),                                          go("IMPLEMENT_LOOP")),
    Row("INTEGRATED",       "to-release",           (),    (),                                          go("RELEASE")),
    Row("INTEGRATED",       "manual-open",          (),    (),                                          go("ASK_USER", because("manual_check"), ask_manual)),
    Row("INTEGRATED",       "open-ends",            (),    (),                                          go("BLOCKED", because("open_ends"), keep_open, says="HALTED")),
    Row("INTEGRATED",       "finished",             (nothing_is_open,), (design_as_approved,),          go("LANDING", owes=(write_report,)),                   LAPSED),
    Row("RELEASE",          "released",             (),    (no_keys_added, wrote_only_docs, readme_or_reason), go("RELEASE_FILES", keep_docs, keep_tree, *OK),        REDO),
    Row("RELEASE_FILES",    "packed",               (),    BUILD,                                       go("INTEGRATE_CHECKS", part_done, keep_tree, *OK),     REDO),
    Row("LANDING",          "landed",               (nothing_is_open,), (),                             go("DONE", owes=(write_report, publish, leave_workspace))),
    Row("LANDING",          "conflict",             (),    (),                                          go("BLOCKED", because("conflict"), keep_error, says="HALTED")),
    Row("LANDING",          "red-merge",            (),    (),                                          go("BLOCKED", because("conflict"), keep_error, says="HALTED")),
    Row("LANDING",          "resume",               (),    (),                                          go(STAY)),
    Row("ASK_USER",         "answered",             OURS,  (),                                          go(BACK, resolve, zero("answers"))),
    Row("ASK_USER",         "accept",               OURS,  (),                                          go(BACK, accept, zero("answers"))),
    Row("ASK_USER",         "fix",                  OURS,  (),                                          go(BACK, resolve, zero("answers"))),
    Row("ASK_USER",         "again",                OURS,  (),                                          go(BACK, resolve, zero("FIX_BUILD", "answers"))),
    Row("ASK_USER",         "simplify",             OURS,  (),                                          go("PLAN", resolve, zero("FIX_BUILD", "answers"), owes=(undo_strays,))),
    Row("ASK_USER",         "simplify-lean",        OURS,  (),                                          go("INTAKE", resolve, *FROM_START, owes=(undo_strays,))),
    Row("ASK_USER",         "manual-passed",        OURS,  (),                                          go(BACK, keep_manual, resolve, clear_error, zero("answers"))),
    Row("ASK_USER",         "manual-failed",        OURS,  (),                                          NOT_HELD),
    Row("ASK_USER",         "invalid",              OURS,  (),                                          go(STAY, keep_invalid, count("answers"), says="FAILURE", spent=STILL_OPEN)),
    Row("ASK_USER",         "cancelled",            (*OURS, cancelled_on_purpose), (),                  go("BLOCKED", cancel, says="HALTED")),
    *each(GATES,  "invalid",         go(STAY, keep_invalid, count("answers"), says="FAILURE", spent=UNANSWERED), OURS),
    *each(GATES,  "cancelled",       go("BLOCKED", because(MISSING), cancel, says="HALTED"), (*OURS, cancelled_on_purpose)),
    Row("BLOCKED",          "resume",               (),    (),                                          go(BACK, reopen, keep_guidance, zero("dispatch", "answers", "merge"))),
    Row("BLOCKED",          "ask-again",            (),    (),                                          go("ASK_USER", reopen, keep_guidance, zero("answers"))),
    *each(ACTING, "asks",            go("ASK_USER", because("question"), ask_question, zero("dispatch"))),
    *each(ACTING, "notes",           go("ASK_USER", because("question"), ask_notes, zero("dispatch"))),
    *each(ACTING, "failed",          RETRY),
    *each(ACTING, "no-reply",        RETRY),
    *each(ACTING, "agent-failed",    RETRY),
    *each(ACTING, "limited",         go(STAY, park)),
    *each(ACTING, "no-model",        go("BLOCKED", because("model"), keep_error, says="HALTED")),
    *each(ACTING, "over-budget",     go("BLOCKED", because("budget"), keep_error, says="HALTED")),
    *each(ACTING, "prepared",        go(STAY, keep_prepared)),
    *each(ACTING, "context-missing", go("BLOCKED", because("context_missing"), keep_error, says="HALTED")),
    *people(STATES, also=(leave_workspace,)),
)  # fmt: skip

ENDS = {"COMPLETED": "task-completed", "IMPLEMENTED": "task-implemented", "RESCOPED": "task-rescoped"}
STOPS = {"ESCALATED_TO_FULL": "task-escalated", "ABORTED": "task-aborted"}


def kind(run: Run[PipelineData], sent: Sent) -> str:
    """The event that a call causes. Replies are read for the role that acts; what cannot be read is no reply."""
    if sent.verb == "due":
        return _due(run)
    if sent.verb == "submit":
        return _submitted(run, sent) if run.state in ACTING else "submit"
    if sent.verb == "answer":
        on = event_of(pending(run.data), sent)
        return "simplify-lean" if on == "simplify" and run.data.mode == "lean" else on
    if sent.verb == "resume":
        return "ask-again" if run.state == "BLOCKED" and reopened(run.data) else "resume"
    if sent.verb == "child":
        return _child_ended(run, sent)
    if sent.verb == "outcome":
        without = run.data.mode == "lean" or bool(run.counts.get("FIX_BUILD"))
        return "red-again" if sent.outcome == "red" and without else sent.outcome
    return sent.verb


def _due(run: Run[PipelineData]) -> str:
    """The system move that is due, if one is."""
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
    said = amounts_to(reply)
    if said == "OK":
        return _forward(run, reply)
    return {"FAIL": "failed", "PASS_WITH_NOTES": "notes"}.get(said, "asks")


def _forward(run: Run[PipelineData], reply: Reply) -> str:
    """The event by which a role's OK moves the session on."""
    data = run.data
    if run.state == "INTAKE":
        return "specified-research" if data.wants_research or reply.next.research else "specified"
    if run.state == "DESIGN":
        return "designed-ui" if data.wants_ui else "designed"
    fixed = {"INTAKE_LEAN": "specified-lean", "DESIGN_RESEARCH": "researched", "DESIGN_UI": "drawn", "PLAN": "planned"}
    later = {"INTEGRATE": "integrated", "RELEASE": "released", "RELEASE_FILES": "packed"}
    return fixed.get(run.state) or later.get(run.state, "fixed")


def _child_ended(run: Run[PipelineData], sent: Sent) -> str:
    """What a child's end means. One of an earlier round means nothing any more."""
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


PIPELINE: Table[PipelineData] = Table(
    name="pipeline",
    title="one session from request to release, role by role",
    data=PipelineData,
    starts=("INTAKE", "INTAKE_LEAN"),
    states=STATES,
    moves=MOVES,
    rows=ROWS,
    kind=kind,
    limits={**ERRORS, "dispatch": 2, "answers": 2, "FIX_BUILD": 3, "merge": 3},
    broken=go("BLOCKED", because("errors"), keep_error, says="HALTED"),
    unproven=unproven,
    always=(publish,),
    children=children,
    facts=facts,
)
