"""The `execute` workflow: one work item in isolation, from the queue to a pushed branch. The table is the specification.

The agent works; the machine tests, commits, rebases, pushes and updates the tracker. A person's retry is a new execution, so end states are final.
"""

from detent.blocks.common import DRIVEN, ERRORS, PEOPLE, alive, because, caused_by, count, driven, keep_guidance, keep_steer, park, zero
from detent.blocks.open_flags import ACCEPT, ACCEPTED, BY_MACHINE, END, FIX, FIXED, answered, event_of, fixed_in, flagged_at
from detent.effects.catalogue import commit_judged_tree, publish_claims, snapshot, stop_children
from detent.gates.item import (
    blocked_reason,
    branch_review_is_readable,
    dependencies_closed,
    files_within_budget,
    final_report,
    not_failed_twice,
    says_blocked,
)
from detent.gates.tests import at_least_one_ran, canary_held, none_is_lost, nothing_broke, passes_when_clean, red_tests_pass
from detent.gates.tree import instructions_kept, no_keys_added, reading_is_flagged, something_changed
from detent.kernel.model import Run, Sent
from detent.kernel.table import BACK, STAY, Effect, Go, Job, Move, Row, State, Table, by_agent, by_human, by_system, each, go
from detent.workflows.execute.execute_data import (
    PLAIN,
    ExecuteData,
    children,
    facts,
    keep_blocked,
    keep_cause,
    keep_fix,
    keep_override,
    keep_proof,
    keep_pull,
    keep_pushed,
    keep_reason,
    keep_review,
    keep_stopped,
    keep_workspace,
    review_of,
    step_shown,
    unproven,
    wants_pull,
)

prepare = Job(
    "prepare",
    "Check the item and what it depends on; if it may run, claim it and create its branch (-retry2 and so on if taken) and its workspace.",
    ("started", "not-runnable"),
)
push = Job(
    "push",
    "Check the whole branch; then push it to the remote, if there is one. What was already pushed counts as pushed.",
    ("pushed", "rejected", "red-look", "flagged", "flags-accepted"),
)
rebase = Job("rebase", "Fetch, and rebase the branch once onto the remote's; on a conflict leave it unchanged.", ("rebased", "conflict"))
review_branch = Job(
    "review_branch", "Have a fresh reviewer read the diff of the branch: {issues, summary, pr_ready}.", ("ready", "not-ready", "limited")
)
watch_items = Job(
    "watch_items", "Check whether every item that the review filed is closed; do nothing while one is open.", ("items-closed",)
)
take_in = Job(
    "take_in",
    "Merge into the branch what was done for the items of its review, and what people pushed to it; leave it unchanged if there is nothing.",
    ("joined", "nothing-new"),
)
open_pull_request = Job(
    "open_pull_request",
    "Open the pull request, or update the open one; with [git] wait_for_ci, wait for CI to finish.",
    ("opened", "ci-red"),
)

update_item = Effect("update_item", "Set the item's status and labels as the end of the execution says.")
file_follow_up = Effect(
    "file_follow_up", "File one follow-up item for this cause, linked to the first; an existing one gets the details as a note."
)
file_issues = Effect(
    "file_issues",
    "File each issue of the review as an item, once, linked to this one, without queueing it. Close what an earlier review found and this one does not.",
)
note_on_item = Effect("note_on_item", "Record what a plan update would say, entry and commit, as a note on the item.")
sync_tracker = Effect("sync_tracker", "Have the tracker persist its data (`bd sync` where this bd has it); report it if that fails.")
end_processes = Effect("end_processes", "End the agent's whole process tree.")
clean_up = Effect("clean_up", "Remove the workspace and free the slot; branch, snapshots and logs stay.")


STATES = {
    "QUEUED": State("system", job=prepare, bare=True),
    "RUNNING": State("agent", "worker", ("**",)),
    "RUNNING_CHILD": State("system", children=True),
    "PUSHING": State("system", job=push),
    "REBASING": State("system", job=rebase),
    "REVIEWING": State("system", job=review_branch),
    "NOT_READY": State("human", job=watch_items),
    "JOINING": State("system", job=take_in),
    "OPENING": State("system", job=open_pull_request),
    "HALTED": State("human"),
    "COMPLETED": State("none", end="proved"),
    "FAILED": State("none", end="stopped"),
    "BLOCKED": State("none", end="stopped"),
    "TIMEOUT": State("none", end="stopped"),
    "CANCELLED": State("none", end="stopped"),
}

SUBMIT = "submit_work"
MOVES: dict[str, Move] = {
    "started": by_system("workspace and branch are ready"),
    "started-child": by_system("workspace and branch are ready, and an inner run does the work"),
    "not-runnable": by_system("the item may not run"),
    "done": by_agent(SUBMIT, "call submit_work with summary; if you cannot continue, its last line is `BLOCKED: reason`"),
    "blocked": by_agent(SUBMIT, "call submit_work with a summary whose last line is `BLOCKED: reason`"),
    "child-proved": by_system("the inner run ended with proof"),
    "child-stopped": by_system("the inner run stopped"),
    "pushed": by_system("the branch is pushed"),
    "pushed-for-review": by_system("the branch is pushed, and a pull request is wanted"),
    "rejected": by_system("the remote rejects the push"),
    "rebased": by_system("the branch is rebased"),
    "conflict": by_system("the rebase conflicts"),
    "ready": by_system("the review says that a pull request may be opened"),
    "not-ready": by_system("the review says that no pull request may be opened yet"),
    "items-closed": by_system("every item of the review is closed"),
    "joined": by_system("the branch has the work that was done for its review"),
    "nothing-new": by_system("the branch is as it was reviewed"),
    "opened": by_system("the pull request is open"),
    "ci-red": by_system("CI fails on the branch"),
    "ci-red-child": by_system("CI fails on the branch, and the inner run that made it has ended"),
    "out-of-time": by_system("the wall-clock limit has passed"),
    "silent": by_system("there was no output for too long"),
    "override": by_human("answer", "detent answer REVIEW override --run ID"),
    "fix": by_human("answer", "detent answer REVIEW fix --run ID [--note TEXT]"),
    "review-again": by_human("review", "detent review BRANCH"),
    "resume": by_human("resume", "detent resume --run ID [--guidance TEXT]"),
    "cancel": by_human("cancel", "detent queue cancel ID"),
    "red-look": by_system("the branch as a whole fails"),
    **BY_MACHINE,
    **ACCEPTED,
    **FIXED,
    **DRIVEN,
    **PEOPLE,
}

RUNNABLE = (dependencies_closed, not_failed_twice)
CLEAN = (no_keys_added, instructions_kept)
TESTS = (at_least_one_ran, canary_held, nothing_broke, passes_when_clean)  # what is pushed also passed in a clean checkout
KEPT = (at_least_one_ran, canary_held, none_is_lost, nothing_broke, red_tests_pass)
WORK = (something_changed, files_within_budget, *KEPT, passes_when_clean, reading_is_flagged)

ENDS = (snapshot, update_item, sync_tracker, clean_up)  # owed at every end
BAD = (stop_children, end_processes, snapshot, update_item, file_follow_up, sync_tracker, clean_up)  # owed at every failure


def failed(cause: str) -> Go[ExecuteData]:
    return go("FAILED", because(cause), keep_reason, owes=BAD, says="FAILURE")


def timeout(cause: str) -> Go[ExecuteData]:
    return go("TIMEOUT", because(cause), keep_reason, owes=BAD, says="FAILURE")


NO_TESTS, NO_PUSH = failed("tests"), failed("push")
NO_WORK: Go[ExecuteData] = go("FAILED", because("tests"), keep_cause, keep_reason, owes=BAD, says="FAILURE")
CANCELLED: Go[ExecuteData] = go("CANCELLED", because("cancelled"), owes=(stop_children, end_processes, *ENDS))
SKIPPED: Go[ExecuteData] = go("CANCELLED", because("skipped"), keep_reason, owes=ENDS, says="FAILURE")
BLOCKED: Go[ExecuteData] = go("BLOCKED", because("blocked"), keep_blocked, owes=BAD, says="HALTED")
STOPPED: Go[ExecuteData] = go("FAILED", because("child"), keep_stopped, owes=BAD, says="FAILURE")
RETRY = go(STAY, count("tries"), count("attempts"), keep_reason, says="FAILURE", spent=NO_WORK)
NOT_READY: Go[ExecuteData] = go("NOT_READY", because("review"), keep_review, owes=(file_issues,), says="HALTED")
# continues on the reviewed branch, at its tip
ON_BRANCH = go("RUNNING", count("rounds"), keep_review, owes=(file_issues,), says="FAILURE", spent=NOT_READY)
RED_JOIN = go("RUNNING", count("joins"), keep_reason, says="FAILURE", spent=NO_TESTS)
AGAIN = go("PUSHING", keep_proof, owes=(publish_claims,))
COMPLETED: Go[ExecuteData] = go("COMPLETED", keep_pushed, owes=ENDS)
PROVED = go("PUSHING", keep_proof, zero("tries", "attempts"), owes=(commit_judged_tree, publish_claims))

AT_WORK = ("RUNNING", "RUNNING_CHILD")
TIMED = (*AT_WORK, "PUSHING", "REBASING")

ROWS: tuple[Row[ExecuteData], ...] = (
    #   at               on                   ask                           prove     to                                                     failed proof
    Row("QUEUED",        "started",           (),                           RUNNABLE, go("RUNNING", keep_workspace),                         SKIPPED),
    Row("QUEUED",        "started-child",     (),                           RUNNABLE, go("RUNNING_CHILD", keep_workspace),                   SKIPPED),
    Row("QUEUED",        "not-runnable",      (),                           (),       SKIPPED),
    Row("RUNNING",       "done",              CLEAN,                        WORK,     PROVED,                                                RETRY),
    Row("RUNNING",       "blocked",           (says_blocked,),              (),       BLOCKED),
    Row("RUNNING_CHILD", "child-proved",      (),                           TESTS,    go("PUSHING", keep_proof, owes=(note_on_item,)),       NO_TESTS),
    Row("RUNNING_CHILD", "child-stopped",     (),                           (),       STOPPED),
    Row("PUSHING",       "pushed",            (),                           (),       COMPLETED),
    Row("PUSHING",       "pushed-for-review", (),                           (),       go("REVIEWING", keep_pushed)),
    Row("PUSHING",       "rejected",          (),                           (),       go("REBASING", count("rebases"), spent=NO_PUSH)),
    Row("REBASING",      "rebased",           (),                           TESTS,    AGAIN,                                                 NO_TESTS),
    Row("REBASING",      "conflict",          (),                           (),       failed("conflict")),
    Row("REVIEWING",     "ready",             (branch_review_is_readable,), (),       go("OPENING", keep_review, owes=(file_issues,))),
    Row("REVIEWING",     "not-ready",         (branch_review_is_readable,), (),       ON_BRANCH),
    Row("REVIEWING",     "limited",           (),                           (),       go(STAY, park)),
    Row("NOT_READY",     "fix",               (),                           (),       go("RUNNING", keep_fix, zero("rounds", "joins"))),
    Row("NOT_READY",     "override",          (),                           (),       go("OPENING", keep_override)),
    Row("NOT_READY",     "review-again",      (),                           (),       go("REVIEWING", keep_guidance)),
    Row("NOT_READY",     "items-closed",      (),                           (),       go("JOINING")),
    Row("JOINING",       "joined",            (),                           TESTS,    AGAIN,                                                 RED_JOIN),
    Row("JOINING",       "nothing-new",       (),                           (),       go("REVIEWING")),
    Row("OPENING",       "opened",            (),                           (),       go("COMPLETED", keep_pull, owes=ENDS)),
    Row("OPENING",       "ci-red",            (),                           (),       go("RUNNING", count("ci"), keep_reason, says="FAILURE", spent=failed("ci"))),
    Row("OPENING",       "ci-red-child",      (),                           (),       failed("ci")),
    Row("HALTED",        "resume",            (caused_by("errors", "model"),), (),    go(BACK, keep_guidance, zero("agent", "attempts"))),
    Row("PUSHING",       "red-look",          (),                           (),       NO_TESTS),
    *flagged_at("PUSHING"),
    *answered(),
    *fixed_in("RUNNING"),
    *each(AT_WORK, "silent", timeout("silence")),
    *each(TIMED, "out-of-time", timeout("time")),
    *driven(
        STATES, halt=failed("agent"), unavailable=go("HALTED", because("model"), keep_reason, says="HALTED"), over=failed("budget"), counts=("attempts",)
    ),
    *each(alive(STATES), "cancel", CANCELLED),
    *each(alive(STATES), "abort", CANCELLED),
    *each(alive(STATES), "steer", go(STAY, keep_steer)),
)  # fmt: skip


def kind(run: Run[ExecuteData], sent: Sent) -> str:
    """The event that a call causes. A report whose last line says BLOCKED is `blocked`; the settings choose the event after start and push."""
    if sent.verb == "due":
        return ""
    if sent.verb == "submit":
        return "blocked" if run.state == "RUNNING" and blocked_reason(final_report(sent)) else "done"
    if sent.verb == "child":
        return "child-proved" if sent.outcome in ("COMPLETE", "DONE") else "child-stopped"
    if sent.verb == "outcome":
        return _outcome_event(run, sent)
    if sent.verb == "answer" and run.state == "HALTED":
        plain = run.data.setup.strategy == PLAIN  # an inner run has ended and cannot continue
        return event_of(run, sent, (ACCEPT, FIX, END) if plain else (ACCEPT, END)) or sent.verb
    return {"answer": sent.value, "review": "review-again"}.get(sent.verb, sent.verb)


def _outcome_event(run: Run[ExecuteData], sent: Sent) -> str:
    setup = run.data.setup
    if sent.outcome == "started":
        return "started" if setup.strategy == PLAIN else "started-child"
    if sent.outcome == "pushed":
        return "pushed-for-review" if wants_pull(run.data) else "pushed"
    if sent.outcome == "ci-red":
        return "ci-red" if setup.strategy == "plain" else "ci-red-child"
    if sent.outcome in ("ready", "not-ready"):
        review = review_of(sent)
        return "ready" if review is not None and review.pr_ready else "not-ready"
    return sent.outcome


EXECUTE: Table[ExecuteData] = Table(
    name="execute",
    title="one work item in isolation, from the queue to a pushed branch",
    data=ExecuteData,
    starts=("QUEUED",),
    states=STATES,
    moves=MOVES,
    rows=ROWS,
    kind=kind,
    limits={**ERRORS, "tries": 1, "attempts": 3, "rebases": 1, "ci": 1, "rounds": 4, "joins": 2, "item_failures": 2},
    broken=go("HALTED", because("errors"), keep_reason, says="HALTED"),
    unproven=unproven,
    children=children,
    facts=facts,
    step=step_shown,
)
