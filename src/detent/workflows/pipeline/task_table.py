"""The `task` workflow: one task of a session from code to completed, or the final review of all of them. A child of `pipeline`.

Each role is a separate dispatch, so none approves its own work. Any change of the tree goes through all gates again.
"""

from detent.blocks.common import (
    DRIVEN,
    ERRORS,
    PEOPLE,
    alive,
    because,
    caused_by,
    clear_error,
    count,
    keep_error,
    keep_guidance,
    park,
    people,
    zero,
)
from detent.effects.catalogue import publish, reset_to_good, undo_strays
from detent.gates.human import (
    accept,
    accepted_on_purpose,
    answers_the_question,
    cancel,
    cancelled_on_purpose,
    event_of,
    forget,
    keep_invalid,
    not_understood,
    pending,
    reopen,
    reopened,
    resolve,
    unanswered,
    waive,
)
from detent.gates.reply import RoleReply, points, read_reply, wrote_nothing, wrote_only_tests
from detent.gates.tests import at_least_one_ran, canary_held, none_is_lost, nothing_broke, preflight_passes, red_tests_pass
from detent.gates.tree import no_keys_added, reading_is_flagged, something_changed
from detent.kernel.model import Run, Sent
from detent.kernel.table import BACK, STAY, Because, Go, Move, Row, State, Table, by_human, by_system, each, go
from detent.workflows.pipeline.pipeline_owed import commit_task, prepare_dispatch
from detent.workflows.pipeline.task_data import (
    ROLES,
    TaskData,
    changed_of,
    keep_aside,
    keep_coded,
    keep_fault,
    keep_new_tests,
    keep_noted,
    keep_notes,
    keep_points,
    keep_review,
    keep_security,
    keep_size,
    keep_tests,
    keep_touched,
    result,
    role_is_known,
    step_shown,
    unproven,
    verdict_of,
)
from detent.workflows.pipeline.task_facts import facts
from detent.workflows.pipeline.task_questions import (
    ask_after_failure,
    ask_after_findings,
    ask_instructions,
    ask_notes,
    ask_question,
    instructions_open,
    keep_instructed,
    tried,
)

CODE_FILES = ("**",)
TEST_FILES = ("tests/**", "test/**", "**/tests/**", "**/test_*", "**/*_test.*", "**/*.test.*", "**/*.spec.*", "**/*Test.*")


def _role(state: str, writes: tuple[str, ...] = ()) -> State:
    return State("agent", ROLES[state], writes, job=prepare_dispatch)


STATES = {
    "CODE": _role("CODE", CODE_FILES),
    "REVIEW": _role("REVIEW"),
    "QA": _role("QA", TEST_FILES),
    "SECURITY": _role("SECURITY"),
    "FIX_REVIEW": _role("FIX_REVIEW", CODE_FILES),
    "FIX_TESTS": _role("FIX_TESTS", CODE_FILES),
    "FIX_SECURITY": _role("FIX_SECURITY", CODE_FILES),
    "ASK_USER": State("human"),
    "BLOCKED": State("human"),
    "COMPLETED": State("none", end="proved"),
    "IMPLEMENTED": State("none", end="proved"),
    "RESCOPED": State("none", end="stopped"),
    "ESCALATED_TO_FULL": State("none", end="stopped"),
    "ABORTED": State("none", end="stopped"),
}
ACTING = tuple(name for name, state in STATES.items() if state.actor == "agent")
CODER = tuple(name for name in ACTING if ROLES[name] == "Coder")
JUDGES = ("REVIEW", "SECURITY")  # they may never write
LOOPS = ("FIX_REVIEW", "FIX_TESTS", "FIX_SECURITY")

HAND_IN = "call submit_work with summary and reply, the one JSON object that the briefing describes"
ANSWER = "detent answer ID VALUE [--note TEXT], or detent answer ID --cancel REASON; `detent decisions` shows the values"
REPLY = Move(("agent",), "submit_work", HAND_IN)
VERDICT = Move(("agent", "system"), "submit_work", HAND_IN)  # the machine submits once a person has accepted the notes
ANSWERED = by_human("answer", ANSWER)

MOVES: dict[str, Move] = {
    **dict.fromkeys(
        ("coded", "implemented", "reviewed", "reviewed-qa", "reviewed-security", "tested", "tested-security", "qa-added", "secured"),
        VERDICT,
    ),
    **dict.fromkeys(("review-blocked", "qa-blocked", "security-blocked", "complex", "asks", "notes", "failed", "no-reply"), REPLY),
    **dict.fromkeys(("answered", "accept", "fix", "fix-review", "fix-tests", "fix-security", "again", "waive-review"), ANSWERED),
    **dict.fromkeys(("waive-security", "waive-some", "simplify", "invalid", "cancelled"), ANSWERED),
    "prepared": by_system("the role's input is complete"),
    **dict.fromkeys(("accept-instructions", "fix-instructions"), ANSWERED),
    "too-big": by_system("a lean change became too big"),
    "instructions-changed": by_system("the change touches the project's instructions to agents"),
    "replan": by_human("answer", "detent answer CONTEXT replan"),
    "context-missing": by_system("a document that the role must read is missing"),
    "resume": by_human("resume", "detent resume [--guidance TEXT]"),
    "steer-to": by_human("steer", "detent steer TEXT --to ROLE"),
    "ask-again": by_human("resume", "detent resume"),
    **DRIVEN,
    **PEOPLE,
}

TESTED = (no_keys_added, at_least_one_ran, canary_held, none_is_lost, nothing_broke, red_tests_pass, preflight_passes, reading_is_flagged)
CODED = (something_changed, *TESTED)
QA_ADDED = (wrote_only_tests, *TESTED)
OURS = (answers_the_question,)
LOST = (*OURS, not_understood)
TAKEN = (*OURS, accepted_on_purpose)

NEXT = (keep_notes, zero("dispatch"), forget, clear_error)
FAILING: Go[TaskData] = go("ASK_USER", Because("retry_budget", "FIX_TESTS"), keep_fault, ask_after_failure, says="FAILURE")
STUCK_REVIEW = go("ASK_USER", Because("retry_budget", "FIX_REVIEW"), keep_points, ask_after_findings, says="FAILURE")
STUCK_TESTS = go("ASK_USER", Because("retry_budget", "FIX_TESTS"), keep_points, ask_after_failure, says="FAILURE")
STUCK_SECURITY = go("ASK_USER", Because("retry_budget", "FIX_SECURITY"), keep_points, ask_after_findings, says="FAILURE")
FOUND = (keep_points, zero("dispatch"), forget)
BLOCKED_REVIEW = go("FIX_REVIEW", *FOUND, tried("FIX_REVIEW"), count("FIX_REVIEW"), says="FAILURE", spent=STUCK_REVIEW)
BLOCKED_TESTS = go("FIX_TESTS", *FOUND, tried("FIX_TESTS"), count("FIX_TESTS"), says="FAILURE", spent=STUCK_TESTS)
BLOCKED_SECURITY = go("FIX_SECURITY", *FOUND, tried("FIX_SECURITY"), count("FIX_SECURITY"), says="FAILURE", spent=STUCK_SECURITY)
BROKE = go("FIX_TESTS", count("FIX_TESTS"), zero("dispatch"), keep_fault, tried("FIX_TESTS"), forget, says="FAILURE", spent=FAILING)
NO_AGENT: Go[TaskData] = go("BLOCKED", because("subagent_failure"), keep_fault, forget, says="HALTED")
RETRY: Go[TaskData] = go(STAY, count("dispatch"), keep_fault, forget, says="FAILURE", spent=NO_AGENT)
NO_AGENT_UNDONE: Go[TaskData] = go("BLOCKED", because("subagent_failure"), keep_fault, forget, says="HALTED", owes=(undo_strays,))
REDO: Go[TaskData] = go(STAY, count("dispatch"), keep_fault, forget, says="FAILURE", spent=NO_AGENT_UNDONE, owes=(undo_strays,))
ASKS: Go[TaskData] = go("ASK_USER", because("question"), ask_question, zero("dispatch"))
NOTES: Go[TaskData] = go("ASK_USER", because("notes"), ask_notes, zero("dispatch"))
TO_REVIEW = go("REVIEW", keep_coded, *NEXT)
IMPLEMENTED = go("IMPLEMENTED", keep_coded, *NEXT, owes=(commit_task,))
UNANSWERED: Go[TaskData] = go("BLOCKED", unanswered, says="HALTED")
AGAIN = (zero(*LOOPS, "qa_rounds", "answers"), resolve)
TO_FULL: Go[TaskData] = go("ESCALATED_TO_FULL", keep_size, owes=(reset_to_good,))


ROWS: tuple[Row[TaskData], ...] = (
    #   at              on                   ask    prove             to                                                                       failed proof
    Row("CODE",         "coded",             (),    CODED,            TO_REVIEW,                                                               BROKE),
    Row("CODE",         "implemented",       (),    CODED,            IMPLEMENTED,                                                             BROKE),
    Row("FIX_TESTS",    "coded",             (),    CODED,            TO_REVIEW,                                                               BROKE),
    Row("FIX_TESTS",    "implemented",       (),    CODED,            IMPLEMENTED,                                                             BROKE),
    Row("FIX_REVIEW",   "coded",             (),    CODED,            TO_REVIEW,                                                               BROKE),
    Row("FIX_SECURITY", "coded",             (),    CODED,            TO_REVIEW,                                                               BROKE),
    Row("REVIEW",       "reviewed-qa",       (),    (wrote_nothing,), go("QA", keep_review, *NEXT, zero("FIX_REVIEW")),                        REDO),
    Row("REVIEW",       "reviewed-security", (),    (wrote_nothing,), go("SECURITY", keep_review, *NEXT, zero("FIX_REVIEW")),                  REDO),
    Row("REVIEW",       "reviewed",          (),    (wrote_nothing,), go("COMPLETED", keep_review, *NEXT, owes=(commit_task,)),                REDO),
    Row("REVIEW",       "review-blocked",    (),    (wrote_nothing,), BLOCKED_REVIEW,                                                          REDO),
    Row("REVIEW",       "too-big",           (),    (),               TO_FULL),
    Row("REVIEW",       "instructions-changed", (), (),               go("ASK_USER", because("instructions_changed"), ask_instructions)),
    Row("ASK_USER",     "accept-instructions", OURS, (),              go(BACK, keep_instructed, resolve, zero("answers"))),
    Row("ASK_USER",     "fix-instructions",  OURS,  (),               go("FIX_REVIEW", keep_noted, *AGAIN)),
    Row("QA",           "tested-security",   (),    (wrote_nothing,), go("SECURITY", keep_tests, *NEXT, zero("FIX_TESTS", "qa_rounds")),       REDO),
    Row("QA",           "tested",            (),    (wrote_nothing,), go("COMPLETED", keep_tests, *NEXT, owes=(commit_task,)),                 REDO),
    Row("QA",           "qa-added",          (),    QA_ADDED,         go("REVIEW", keep_new_tests, count("qa_rounds"), *NEXT, spent=STUCK_TESTS), BROKE),
    Row("QA",           "qa-blocked",        (),    (wrote_only_tests,), BLOCKED_TESTS,                                                        REDO),
    Row("SECURITY",     "secured",           (),    (wrote_nothing,), go("COMPLETED", keep_security, *NEXT, owes=(commit_task,)),              REDO),
    Row("SECURITY",     "security-blocked",  (),    (wrote_nothing,), BLOCKED_SECURITY,                                                        REDO),
    Row("ASK_USER",     "answered",          OURS,  (),               go(BACK, resolve, zero("answers"))),
    Row("ASK_USER",     "accept",            TAKEN,  (),               go(BACK, accept, zero("answers"))),
    Row("ASK_USER",     "fix",               OURS,  (),               go(BACK, resolve, zero("answers"))),
    Row("ASK_USER",     "fix-review",        OURS,  (),               go("FIX_REVIEW", keep_noted, *AGAIN)),
    Row("ASK_USER",     "fix-tests",         OURS,  (),               go("FIX_TESTS", keep_noted, *AGAIN)),
    Row("ASK_USER",     "fix-security",      OURS,  (),               go("FIX_SECURITY", keep_noted, *AGAIN)),
    Row("ASK_USER",     "again",             OURS,  (),               go(BACK, *AGAIN)),
    Row("ASK_USER",     "waive-review",      TAKEN,  (),               go("REVIEW", waive, zero("answers"))),
    Row("ASK_USER",     "waive-security",    TAKEN,  (),               go("SECURITY", waive, zero("answers"))),
    Row("ASK_USER",     "waive-some",        TAKEN,  (),               go(BACK, waive, forget, zero(*LOOPS, "answers"))),
    Row("ASK_USER",     "simplify",          OURS,  (),               go("RESCOPED", resolve, owes=(reset_to_good,))),
    Row("ASK_USER",     "invalid",           LOST,  (),               go(STAY, keep_invalid, count("answers"), says="FAILURE", spent=UNANSWERED)),
    Row("ASK_USER",     "cancelled",         (*OURS, cancelled_on_purpose), (), go("BLOCKED", cancel, says="HALTED")),
    Row("BLOCKED",      "resume",            (),    (),               go(BACK, keep_guidance, zero("dispatch", "answers"))),
    Row("BLOCKED",      "replan",            (caused_by("context_missing"),), (), go("RESCOPED", owes=(reset_to_good,))),
    Row("BLOCKED",      "ask-again",         (),    (),               go("ASK_USER", reopen, keep_guidance, zero("answers"))),
    *each(CODER,  "complex",         TO_FULL),
    *each(CODER,  "asks",            ASKS),
    *each(CODER,  "notes",           NOTES),
    *each(JUDGES, "asks",            ASKS, (), (wrote_nothing,), REDO),
    *each(JUDGES, "notes",           NOTES, (), (wrote_nothing,), REDO),
    *each(("QA",), "asks",           ASKS, (), (wrote_only_tests,), REDO),
    *each(("QA",), "notes",          NOTES, (), (wrote_only_tests,), REDO),
    *each(CODER,  "failed",          RETRY),
    *each(CODER,  "no-reply",        RETRY),
    *each(CODER,  "agent-failed",    RETRY),
    *each((*JUDGES, "QA"), "failed",       REDO),
    *each((*JUDGES, "QA"), "no-reply",     REDO),
    *each((*JUDGES, "QA"), "agent-failed", REDO),
    *each(ACTING, "limited",         go(STAY, park)),
    *each(ACTING, "no-model",        go("BLOCKED", because("model"), keep_error, says="HALTED")),
    *each(ACTING, "over-budget",     go("BLOCKED", because("budget"), keep_error, says="HALTED")),
    *each(ACTING, "prepared",        go(STAY, keep_touched)),
    *each(ACTING, "context-missing", go("BLOCKED", because("context_missing"), keep_error, says="HALTED")),
    *each(alive(STATES), "steer-to", go(STAY, keep_aside), (role_is_known,)),
    *people(STATES),
)  # fmt: skip


def kind(run: Run[TaskData], sent: Sent) -> str:
    """The event that a call causes. A reply is read in the format of the acting role; one that cannot be read is `no-reply`."""
    if sent.verb == "due":
        return _forward(run, run.data.accepted) if run.data.accepted and run.state in ACTING else ""
    if sent.verb == "submit":
        return _submitted(run, sent) if run.state in ACTING else "submit"
    if sent.verb == "answer":
        return _answered(run, sent)
    if sent.verb == "resume":
        return "ask-again" if run.state == "BLOCKED" and reopened(run.data) else "resume"
    if sent.verb == "outcome":
        return _prepared(run, sent)
    if sent.verb == "steer" and sent.to:
        return "steer-to"
    return sent.verb


def _prepared(run: Run[TaskData], sent: Sent) -> str:
    """Stop before the review: a lean task that grew too big, or a change of agent instructions that no person has accepted."""
    most = run.limits.get("lean_files", 3)
    if sent.outcome != "prepared" or run.state != "REVIEW":
        return sent.outcome
    if run.data.mode == "lean" and len(changed_of(sent) or ()) > most:
        return "too-big"
    return "instructions-changed" if instructions_open(run, sent) else sent.outcome


def _submitted(run: Run[TaskData], sent: Sent) -> str:
    role = ROLES[run.state]
    reply, _ = read_reply(sent.reply, role)
    if reply is None:
        return "no-reply"
    if role == "Coder" and run.data.mode == "lean" and reply.next.complexity == "high":
        return "complex"
    verdict = verdict_of(run, reply)
    if verdict == "FAIL":
        return "failed"
    if verdict == "OK":
        return _forward(run, reply)
    if verdict == "PASS_WITH_NOTES" or (verdict == "NEEDS_DECISION" and points(reply)):
        return "notes"
    blocked = {"Reviewer": "review-blocked", "QA": "qa-blocked", "Security": "security-blocked"}
    return blocked.get(role, "asks") if verdict == "BLOCKED" else "asks"


def _forward(run: Run[TaskData], reply: RoleReply) -> str:
    """The event that moves the task on when a role's reply is OK: to the next gate it needs."""
    data, role = run.data, ROLES[run.state]
    if role == "Coder":
        return "implemented" if data.only_code else "coded"
    if role == "Security":
        return "secured"
    worried = data.security or bool(reply.gates.security_concerns)
    if role == "QA":
        return "qa-added" if reply.artifacts.files else "tested-security" if worried else "tested"
    return "reviewed-qa" if data.qa else "reviewed-security" if worried else "reviewed"


def _answered(run: Run[TaskData], sent: Sent) -> str:
    if run.state == "BLOCKED":
        return "replan" if sent.value.strip() == "replan" else "silence"
    asked = pending(run.data)
    on = event_of(asked, sent)
    if on == "fix":
        return {"REVIEW": "fix-review", "QA": "fix-tests", "SECURITY": "fix-security"}.get(run.back, "fix")
    if on != "waive" or asked is None:
        return on
    named = {p.id for p in asked.points if p.id in sent.note}
    left = [p for p in asked.points if p.blocks and p.id not in named]
    return "waive-some" if named and left else {"FIX_REVIEW": "waive-review", "FIX_SECURITY": "waive-security"}.get(run.back, "invalid")


TASK: Table[TaskData] = Table(
    name="task",
    title="one task of a session: coded, reviewed, tested, secured",
    data=TaskData,
    starts=("CODE", "REVIEW", "FIX_TESTS"),
    states=STATES,
    moves=MOVES,
    rows=ROWS,
    kind=kind,
    limits={**ERRORS, "dispatch": 2, "answers": 2, "FIX_REVIEW": 3, "FIX_TESTS": 3, "FIX_SECURITY": 3, "qa_rounds": 3, "lean_files": 3},
    broken=go("BLOCKED", because("errors"), keep_error, says="HALTED"),
    unproven=unproven,
    always=(publish,),
    facts=facts,
    step=step_shown,
    result=result,
)
