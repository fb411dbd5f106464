"""The `pipeline` workflow: one session from a request to a release, with a separate dispatch for each role. The table is the specification.

Tasks and final reviews are child runs with a table of their own (`task`). DONE is computed from the record, never claimed.
"""

from detent.blocks.common import ERRORS, alive, because, clear_error, count, keep_error, keep_guidance, park, people, zero
from detent.blocks.open_flags import keep_accepted, keep_flagged
from detent.effects.catalogue import commit_judged_tree, leave_workspace, publish, publish_claims, stop_children, undo_strays
from detent.gates.documents import (
    acceptance_is_sound,
    architecture_is_sound,
    context_is_there,
    design_is_complete,
    one_task_only,
    short_spec_is_sound,
    spec_is_sound,
    tasks_are_sound,
)
from detent.gates.human import (
    MISSING,
    accept,
    accepted_on_purpose,
    answers_the_question,
    as_shown,
    ask_again,
    cancel,
    cancelled_on_purpose,
    design_as_approved,
    forget,
    keep_invalid,
    not_understood,
    reopen,
    resolve,
    unanswered,
)
from detent.gates.reply import (
    design_spec_is_there,
    readme_or_reason,
    records_are_there,
    research_is_there,
    says_how_to_run_and_test,
    wrote_nothing,
    wrote_only_build_files,
    wrote_only_docs,
)
from detent.gates.tests import none_is_lost
from detent.gates.tree import no_keys_added
from detent.kernel.table import BACK, STAY, Because, Change, Go, Row, Table, each, go
from detent.workflows.pipeline.clarify import ask_clarify, keep_asked_twice
from detent.workflows.pipeline.pipeline_children import children
from detent.workflows.pipeline.pipeline_data import (
    PipelineData,
    approve,
    ask_approval,
    ask_manual,
    ask_strategy,
    checks_are_of_this_tree,
    choose,
    keep_ci,
    keep_design,
    keep_docs,
    keep_failed_manual,
    keep_manual,
    keep_open,
    keep_prepared,
    keep_reason,
    keep_records,
    keep_research,
    keep_spec,
    keep_tasks,
    keep_tree,
    nothing_is_open,
    part_done,
    request_changes,
    role_ran,
    to_full,
    unproven,
)
from detent.workflows.pipeline.pipeline_facts import facts
from detent.workflows.pipeline.pipeline_flags import accept_flags, ask_flags, fix_flags
from detent.workflows.pipeline.pipeline_kind import kind
from detent.workflows.pipeline.pipeline_owed import append_design_history, commit_merged, drop_unproved, lay_documents, write_report
from detent.workflows.pipeline.pipeline_revise import (
    EARLY,
    ask_acceptance,
    ask_planner,
    ask_stage,
    edits_are_sound,
    keep_edits,
    keep_lean,
    release,
    send_back,
    stage_can_run,
    tell_role,
)
from detent.workflows.pipeline.pipeline_states import ACTING, DOCUMENTS, GATES, MOVES, PROJECT, STATES
from detent.workflows.pipeline.pipeline_tasks import (
    all_stopped,
    begin_merge,
    final_review_passed,
    merge_failed,
    task_completed,
    task_implemented,
    task_merged,
    task_stopped,
)
from detent.workflows.pipeline.task_data import keep_aside, keep_fault, keep_notes, role_is_known
from detent.workflows.pipeline.task_questions import ask_after_failure, ask_notes, ask_question, tried

SPEC = (wrote_nothing, spec_is_sound, acceptance_is_sound)  # no project file may change: the documents are outside the tree
LEAN = (wrote_nothing, short_spec_is_sound, acceptance_is_sound, tasks_are_sound, one_task_only, context_is_there)
RESEARCHED = (wrote_nothing, research_is_there)
DESIGNED_BY = (wrote_nothing, architecture_is_sound, records_are_there)
REVISED = (wrote_nothing, spec_is_sound, acceptance_is_sound, design_is_complete)
LEAN_REVISED = (wrote_nothing, short_spec_is_sound, acceptance_is_sound)
APPROVED = (
    as_shown,
    design_is_complete,
    spec_is_sound,
    acceptance_is_sound,
    architecture_is_sound,
)  # checked again as it is now
DRAWN = (wrote_nothing, design_spec_is_there, design_is_complete)
PLANNED = (wrote_nothing, tasks_are_sound, context_is_there)
BUILD = (no_keys_added, wrote_only_build_files, none_is_lost)
KEPT = (no_keys_added, none_is_lost)
DOCUMENTED = (no_keys_added, wrote_only_docs, readme_or_reason, says_how_to_run_and_test)
OURS = (answers_the_question,)
LOST = (*OURS, not_understood)
TAKEN = (*OURS, accepted_on_purpose)

OK = (role_ran, keep_notes, zero("dispatch"), forget, clear_error)
NO_AGENT: Go[PipelineData] = go("BLOCKED", because("subagent_failure"), keep_fault, forget, says="HALTED")
RETRY: Go[PipelineData] = go(STAY, count("dispatch"), keep_fault, forget, says="FAILURE", spent=NO_AGENT)
NO_AGENT_UNDONE: Go[PipelineData] = go("BLOCKED", because("subagent_failure"), keep_fault, forget, says="HALTED", owes=(undo_strays,))
REDO: Go[PipelineData] = go(STAY, count("dispatch"), keep_fault, forget, says="FAILURE", spent=NO_AGENT_UNDONE, owes=(undo_strays,))
ASKS: Go[PipelineData] = go("ASK_USER", because("question"), ask_question, zero("dispatch"))
NOTES: Go[PipelineData] = go("ASK_USER", because("question"), ask_notes, zero("dispatch"))
UNANSWERED: Go[PipelineData] = go("BLOCKED", because(MISSING), says="HALTED")  # at a gate: resumes at the gate
STILL_OPEN: Go[PipelineData] = go("BLOCKED", unanswered, says="HALTED")  # at ASK_USER: keeps the state to return to
LAPSED_OFTEN = go("BLOCKED", Because("design_changed", "APPROVE_DESIGN"), ask_approval, keep_error, says="HALTED")
LAPSED = go("APPROVE_DESIGN", ask_approval, keep_error, count("approvals"), says="FAILURE", spent=LAPSED_OFTEN)
DESIGNED = (*OK, ask_approval)
CHECKS = go("INTEGRATE_CHECKS", keep_tree, *OK)
STUCK: Go[PipelineData] = go("ASK_USER", Because("retry_budget", "FIX_BUILD_CODE"), keep_fault, ask_after_failure, says="FAILURE")
BROKE = go("FIX_BUILD_CODE", count("FIX_BUILD"), zero("dispatch"), keep_fault, tried("FIX_BUILD"), forget, says="FAILURE", spent=STUCK)
STUCK_CI = go("ASK_USER", Because("retry_budget", "FIX_BUILD_CODE"), keep_ci, ask_after_failure, says="FAILURE")
RED = go("FIX_BUILD", keep_ci, tried("FIX_BUILD"), count("FIX_BUILD"), says="FAILURE", spent=STUCK_CI)
RED_AGAIN = go("FIX_BUILD_CODE", keep_ci, tried("FIX_BUILD"), count("FIX_BUILD"), says="FAILURE", spent=STUCK_CI)
STUCK_MANUAL = go("ASK_USER", keep_failed_manual, Because("retry_budget", "FIX_BUILD_CODE"), ask_after_failure, says="FAILURE")
NOT_HELD = go("FIX_BUILD_CODE", keep_failed_manual, tried("FIX_BUILD"), count("FIX_BUILD"), zero("answers"), spent=STUCK_MANUAL)
UNSOUND: Go[PipelineData] = go("BLOCKED", because("design_unsound"), ask_again, keep_error, says="HALTED")
AGAIN: Go[PipelineData] = go(STAY, ask_again, keep_error, count("approvals"), says="FAILURE", spent=UNSOUND)
GREEN = go("INTEGRATED", keep_ci, zero("FIX_BUILD"), clear_error, owes=(commit_judged_tree,))
MOVED: Go[PipelineData] = go("BLOCKED", because("tree_moved"), keep_error, says="HALTED")
UNMERGED = go(
    "IMPLEMENT_LOOP", merge_failed, count("merge"), says="FAILURE", spent=go("BLOCKED", because("conflict"), keep_error, says="HALTED")
)
RELEASED = zero("dispatch", "answers", "merge", "approvals")
SETTLED = zero("answers", "approvals")
FROM_START = (zero("FIX_BUILD", "dispatch", "answers"), to_full)


CLARIFY: Go[PipelineData] = go("ASK_USER", because("question"), ask_clarify, zero("dispatch"))
TWICE: Go[PipelineData] = go(STAY, count("dispatch"), keep_asked_twice, forget, says="FAILURE", spent=NO_AGENT)
SPECIFIED = ("INTAKE", "INTAKE_LEAN")
STOPPED = (stop_children, drop_unproved)
EDITED = (edits_are_sound,)
ZERO = zero("FIX_BUILD", "dispatch", "answers", "approvals")
EDITED_EARLY: Go[PipelineData] = go(STAY, keep_edits, tell_role, owes=(lay_documents,))
EDITED_DESIGN = go("APPROVE_DESIGN", release, keep_edits, ask_approval, ZERO, owes=(lay_documents, append_design_history, *STOPPED))
EDITED_TASKS = go("REVIEW_STRATEGY", release, keep_edits, keep_tasks, ask_strategy, ZERO, owes=(lay_documents, *STOPPED))
EDITED_LEAN = go("IMPLEMENT_LOOP", release, keep_edits, keep_lean, ZERO, owes=(lay_documents, *STOPPED))
ASKED = (*EARLY, "ASK_USER", "BLOCKED")
LATER = tuple(name for name in alive(STATES) if name not in EARLY)
LATER_LEAN = tuple(name for name in LATER if name not in ("APPROVE_DESIGN", "PLAN", "REVIEW_STRATEGY"))


def _again(to: str, *changes: Change[PipelineData]) -> Go[PipelineData]:
    return go(to, release, *(changes or (ask_stage,)), ZERO, owes=(append_design_history, *STOPPED))


def _correct(to: str) -> Go[PipelineData]:
    return go(to, request_changes, zero("answers"), owes=(append_design_history,))


ROWS: tuple[Row[PipelineData], ...] = (
    #   at                  on                      ask    prove                                        to                                                     failed proof
    Row("INTAKE",           "specified",            (),    SPEC,                                        go("DESIGN", keep_spec, *OK),                          REDO),
    Row("INTAKE",           "specified-research",   (),    SPEC,                                        go("DESIGN_RESEARCH", keep_spec, *OK),                 REDO),
    Row("INTAKE_LEAN",      "specified-lean",       (),    LEAN,                                        go("IMPLEMENT_LOOP", keep_spec, keep_tasks, *OK),      REDO),
    Row("DESIGN_RESEARCH",  "researched",           (),    RESEARCHED,                                  go("DESIGN", keep_research, *OK),                      REDO),
    Row("DESIGN",           "designed",             (),    (*DESIGNED_BY, design_is_complete),          go("APPROVE_DESIGN", keep_records, *DESIGNED),         REDO),
    Row("DESIGN",           "designed-ui",          (),    DESIGNED_BY,                                 go("DESIGN_UI", keep_records, *OK),                    REDO),
    Row("DESIGN_UI",        "drawn",                (),    DRAWN,                                       go("APPROVE_DESIGN", keep_design, *DESIGNED),          REDO),
    Row("APPROVE_DESIGN",   "approved",             OURS,  APPROVED,                                    go("PLAN", keep_spec, approve, zero("answers")),       AGAIN),
    Row("APPROVE_DESIGN",   "correct-spec",         OURS,  (),                                          _correct("INTAKE")),
    Row("APPROVE_DESIGN",   "correct-research",     OURS,  (),                                          _correct("DESIGN_RESEARCH")),
    Row("APPROVE_DESIGN",   "correct-architecture", OURS,  (),                                          _correct("DESIGN")),
    Row("APPROVE_DESIGN",   "correct-design",       OURS,  (),                                          _correct("DESIGN_UI")),
    Row("APPROVE_DESIGN",   "approved-again",       OURS,  APPROVED,                                    go("IMPLEMENT_LOOP", keep_spec, approve, SETTLED),     AGAIN),
    Row("FIX_ACCEPTANCE",   "respecified",          (),    REVISED,                                     go("APPROVE_DESIGN", keep_spec, *DESIGNED), REDO),
    Row("FIX_ACCEPTANCE",   "respecified-lean",     (),    LEAN_REVISED,                                go("IMPLEMENT_LOOP", keep_spec, *OK),                 REDO),
    Row("PLAN",             "planned",              (),    PLANNED,                                     go("REVIEW_STRATEGY", keep_tasks, *OK, ask_strategy),  REDO),
    Row("REVIEW_STRATEGY",  "per-batch",            OURS,  (design_as_approved,),                       go("IMPLEMENT_LOOP", choose, SETTLED),                 LAPSED),
    Row("REVIEW_STRATEGY",  "single-final",         OURS,  (design_as_approved,),                       go("IMPLEMENT_LOOP", choose, SETTLED),                 LAPSED),
    Row("REVIEW_STRATEGY",  "correct-plan",         OURS,  (),                                          go("PLAN", send_back, zero("answers"))),
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
    Row("INTEGRATED",       "finished",             (nothing_is_open,), (design_as_approved,),          go("LANDING", owes=(write_report, publish_claims)),    LAPSED),
    Row("RELEASE",          "released",             (),    DOCUMENTED,                                  go("RELEASE_FILES", keep_docs, keep_tree, *OK),        REDO),
    Row("RELEASE_FILES",    "packed",               (),    BUILD,                                       go("INTEGRATE_CHECKS", part_done, keep_tree, *OK),     REDO),
    Row("LANDING",          "landed",               (nothing_is_open,), (),                             go("DONE", owes=(write_report, publish, leave_workspace))),
    Row("LANDING",          "conflict",             (),    (),                                          go("BLOCKED", because("conflict"), keep_error, says="HALTED")),
    Row("LANDING",          "red-merge",            (),    (),                                          go("BLOCKED", because("conflict"), keep_error, says="HALTED")),
    Row("LANDING",          "resume",               (),    (),                                          go(STAY)),
    Row("ASK_USER",         "answered",             OURS,  (),                                          go(BACK, resolve, zero("answers"))),
    Row("ASK_USER",         "accept",               TAKEN, (),                                          go(BACK, accept, zero("answers"))),
    Row("ASK_USER",         "fix",                  OURS,  (),                                          go(BACK, resolve, zero("answers"))),
    Row("ASK_USER",         "again",                OURS,  (),                                          go(BACK, resolve, zero("FIX_BUILD", "answers"))),
    Row("ASK_USER",         "correct-acceptance",   OURS,  (),                                          go("FIX_ACCEPTANCE", ask_acceptance, zero("FIX_BUILD", "answers"))),
    Row("ASK_USER",         "simplify",             OURS,  (),                                          go("PLAN", resolve, zero("FIX_BUILD", "answers"), owes=(undo_strays,))),
    Row("ASK_USER",         "simplify-lean",        OURS,  (),                                          go("INTAKE", resolve, *FROM_START, owes=(undo_strays,))),
    Row("ASK_USER",         "manual-passed",        OURS,  (),                                          go(BACK, keep_manual, resolve, clear_error, zero("answers"))),
    Row("ASK_USER",         "manual-failed",        OURS,  (),                                          NOT_HELD),
    Row("ASK_USER",         "invalid",              LOST,  (),                                          go(STAY, keep_invalid, count("answers"), says="FAILURE", spent=STILL_OPEN)),
    Row("ASK_USER",         "cancelled",            (*OURS, cancelled_on_purpose), (),                  go("BLOCKED", cancel, says="HALTED")),
    Row("LANDING",          "flagged",              (),    (),                                          go("ASK_USER", because("flags"), keep_flagged, ask_flags)),
    Row("LANDING",          "flags-accepted",       (),    (),                                          go(STAY, keep_accepted)),
    Row("ASK_USER",         "accept-flags",         OURS,  (),                                          go(BACK, accept_flags, zero("answers"))),
    Row("ASK_USER",         "fix-flags",            OURS,  (),                                          go("FIX_BUILD_CODE", fix_flags, zero("FIX_BUILD", "answers"))),
    *each(GATES,  "invalid",         go(STAY, keep_invalid, count("answers"), says="FAILURE", spent=UNANSWERED), LOST),
    *each(GATES,  "cancelled",       go("BLOCKED", because(MISSING), cancel, says="HALTED"), (*OURS, cancelled_on_purpose)),
    Row("BLOCKED",          "resume",               (),    (),                                          go(BACK, reopen, keep_guidance, RELEASED)),
    Row("BLOCKED",          "ask-again",            (),    (),                                          go("ASK_USER", reopen, keep_guidance, zero("answers"))),
    *each(PROJECT,   "asks",         ASKS),
    *each(PROJECT,   "notes",        NOTES),
    *each(PROJECT,   "failed",       RETRY),
    *each(PROJECT,   "no-reply",     RETRY),
    *each(PROJECT,   "agent-failed", RETRY),
    *each(DOCUMENTS, "asks",         ASKS, (), (wrote_nothing,), REDO),
    *each(SPECIFIED, "clarify",      CLARIFY, (), (wrote_nothing,), REDO),
    *each(SPECIFIED, "asked-twice",  TWICE, (), (wrote_nothing,), REDO),
    *each(DOCUMENTS, "notes",        NOTES, (), (wrote_nothing,), REDO),
    *each(DOCUMENTS, "failed",       REDO),
    *each(DOCUMENTS, "no-reply",     REDO),
    *each(DOCUMENTS, "agent-failed", REDO),
    *each(ACTING, "limited",         go(STAY, park)),
    *each(ACTING, "no-model",        go("BLOCKED", because("model"), keep_error, says="HALTED")),
    *each(ACTING, "over-budget",     go("BLOCKED", because("budget"), keep_error, says="HALTED")),
    *each(ACTING, "prepared",        go(STAY, keep_prepared)),
    *each(ACTING, "context-missing", go("BLOCKED", because("context_missing"), keep_error, says="HALTED")),
    *each(alive(STATES), "steer-to", go(STAY, keep_aside), (role_is_known,)),
    *each(ASKED, "edited-early",     EDITED_EARLY, EDITED),
    *each(LATER, "edited-design",    EDITED_DESIGN, EDITED),
    *each(LATER, "edited-tasks",     EDITED_TASKS, EDITED),
    *each(LATER_LEAN, "edited-lean", EDITED_LEAN, EDITED),
    *each(alive(STATES), "again-spec",         _again("INTAKE"), (stage_can_run,)),
    *each(alive(STATES), "again-acceptance",   _again("FIX_ACCEPTANCE"), (stage_can_run,)),
    *each(alive(STATES), "again-research",     _again("DESIGN_RESEARCH"), (stage_can_run,)),
    *each(alive(STATES), "again-architecture", _again("DESIGN"), (stage_can_run,)),
    *each(alive(STATES), "again-design",       _again("DESIGN_UI"), (stage_can_run,)),
    *each(alive(STATES), "again-plan",         _again("PLAN", ask_planner), (stage_can_run,)),
    *each(alive(STATES), "again-lean",         _again("INTAKE_LEAN"), (stage_can_run,)),
    *people(STATES, also=(leave_workspace,)),
)  # fmt: skip

PIPELINE: Table[PipelineData] = Table(
    name="pipeline",
    title="one session from request to release, role by role",
    data=PipelineData,
    starts=("INTAKE", "INTAKE_LEAN"),
    states=STATES,
    moves=MOVES,
    rows=ROWS,
    kind=kind,
    limits={**ERRORS, "dispatch": 2, "answers": 2, "FIX_BUILD": 3, "merge": 3, "approvals": 5},
    broken=go("BLOCKED", because("errors"), keep_error, says="HALTED"),
    unproven=unproven,
    always=(publish,),
    children=children,
    facts=facts,
)
