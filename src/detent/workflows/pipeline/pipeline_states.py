"""The states of `pipeline` and the events in them: which role acts, what it may write, and a description of every event. The rows are in the table's module."""

from detent.blocks.common import DRIVEN, PEOPLE
from detent.blocks.open_flags import BY_MACHINE
from detent.gates.reply import BUILD as BUILD_NAMES
from detent.kernel.table import Move, State, by_human, by_system
from detent.workflows.pipeline.pipeline_owed import land, merge_task, prepare_dispatch, run_checks
from detent.workflows.pipeline.task_data import ROLES

BUILD_FILES = tuple(f"{name}*" if name.endswith("/*") else f"**/{name}" for name in BUILD_NAMES)  # the gate takes these


def _role(state: str, *writes: str) -> State:
    return State("agent", ROLES[state], writes, job=prepare_dispatch)


STATES = {
    "INTAKE": _role("INTAKE", "$session/spec.md", "$session/acceptance.json"),
    "INTAKE_LEAN": _role("INTAKE_LEAN", "$session/spec.md", "$session/acceptance.json", "$session/tasks.yaml"),
    "FIX_ACCEPTANCE": _role("FIX_ACCEPTANCE", "$session/acceptance.json"),
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
DOCUMENTS = tuple(
    name for name in ACTING if all(w.startswith("$session/") for w in STATES[name].writes)
)  # states whose role writes no project file
PROJECT = tuple(name for name in ACTING if name not in DOCUMENTS)
GATES = ("APPROVE_DESIGN", "REVIEW_STRATEGY")

HAND_IN = "call submit_work with summary and reply, the one JSON object that the briefing describes"
ANSWER = "detent answer ID VALUE [--note TEXT], or detent answer ID --cancel REASON; `detent decisions` shows the values"
REPLY = Move(("agent",), "submit_work", HAND_IN)
WORK = Move(("agent", "system"), "submit_work", HAND_IN)  # the machine submits once a person has accepted the notes
ANSWERED = by_human("answer", ANSWER)
CHANGES = by_human("answer", "detent answer UD-APPROVE-DESIGN 'changes-requested: TEXT' [--to spec|research|architecture|design]")
STRATEGIES = by_human("answer", "detent answer UD-REVIEW-STRATEGY per-batch, single-final or 'changes-requested: TEXT'")

MOVES: dict[str, Move] = {
    **dict.fromkeys(
        (
            "specified",
            "specified-research",
            "specified-lean",
            "researched",
            "designed",
            "designed-ui",
            "drawn",
            "planned",
            "respecified",
            "respecified-lean",
        ),
        WORK,
    ),
    **dict.fromkeys(("integrated", "fixed", "released", "packed"), WORK),
    **dict.fromkeys(("asks", "clarify", "asked-twice", "notes", "failed", "no-reply"), REPLY),
    "approved": by_human(
        "answer", "detent answer UD-APPROVE-DESIGN approved, or detent answer UD-APPROVE-DESIGN 'changes-requested: TEXT' [--to STAGE]"
    ),
    **dict.fromkeys(("correct-spec", "correct-research", "correct-architecture", "correct-design"), CHANGES),
    **dict.fromkeys(("per-batch", "single-final"), STRATEGIES),
    "approved-again": by_human("answer", "detent answer UD-APPROVE-DESIGN approved"),
    "correct-plan": by_human("answer", "detent answer UD-REVIEW-STRATEGY 'changes-requested: TEXT'"),
    "correct-acceptance": ANSWERED,
    **dict.fromkeys(("edited-early", "edited-design", "edited-tasks", "edited-lean"), by_human("revise", "detent revise")),
    **dict.fromkeys(
        ("again-spec", "again-acceptance", "again-research", "again-architecture", "again-design", "again-plan", "again-lean"),
        by_human("revise", "detent revise --to STAGE TEXT"),
    ),
    **dict.fromkeys(
        ("answered", "accept", "fix", "again", "simplify", "simplify-lean", "manual-passed", "manual-failed", "invalid", "cancelled"),
        ANSWERED,
    ),
    **{
        f"task-{end}": by_system(f"a task is {end}")
        for end in ("completed", "implemented", "rescoped", "rescoped-lean", "escalated", "aborted")
    },
    "task-apart": by_system("a task that ran in parallel is done and is merged now"),
    "merged": by_system("the merged tree passes"),
    "merge-conflict": by_system("the work conflicts with what was merged before it"),
    "merge-red": by_system("the merged tree does not pass"),
    "task-unproved": by_system("a task ended without saying at which tree"),
    "final-review-passed": by_system("the review of all changes passed"),
    "old-child": by_system("a child run of an earlier round has ended"),
    "all-done": by_system("every task is complete and the tree is reviewed"),
    "all-done-again": by_system("every task is complete and the tree is reviewed; the Integrator has done its part, or has none"),
    "green": by_system("preflight, checks and acceptance commands pass"),
    "red": by_system("preflight, a check or an acceptance command fails"),
    "red-again": by_system("it still fails, or there is no Integrator to ask"),
    "unreviewed": by_system("the tree changed since it was reviewed"),
    "to-release": by_system("everything passes and is reviewed"),
    "manual-open": by_system("a manual check needs a person to confirm it"),
    "open-ends": by_system("something is not proved"),
    "finished": by_system("everything is proved"),
    "landed": by_system("the branch has landed"),
    "conflict": by_system("the branch conflicts with main"),
    "red-merge": by_system("the merged tree does not pass"),
    **BY_MACHINE,
    **dict.fromkeys(("accept-flags", "fix-flags"), ANSWERED),
    "prepared": by_system("the role's input is complete"),
    "context-missing": by_system("a document that the role must read is missing"),
    "resume": by_human("resume", "detent resume [--guidance TEXT]"),
    "steer-to": by_human("steer", "detent steer TEXT --to ROLE"),
    "ask-again": by_human("resume", "detent resume"),
    **DRIVEN,
    **PEOPLE,
}
